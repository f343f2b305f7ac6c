"""Import history: a file of portable lines, without what was deleted here before."""

from collections.abc import AsyncIterable, AsyncIterator, Callable

from threadline.core.account import Actor
from threadline.core.deletion import Seal
from threadline.core.export_format.file_records import PortableSender
from threadline.core.export_format.session_records import PortableSession
from threadline.core.session import SessionId
from threadline.database.port import Database, Transaction
from threadline.store.audit import note_audit
from threadline.store.authorisation import unchecked
from threadline.store.deletion.preview import find_forgotten, find_forgotten_native
from threadline.store.transfer.importer import Importer, ImportOptions, ImportReport, WasForgotten


async def import_history(
    db: Database,
    chunks: AsyncIterable[bytes],
    options: ImportOptions | None = None,
    *,
    by: Actor | None = None,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import a file of portable lines; what the store has already is skipped.

    Each session is stored wholly or not at all, and is bound to no route. A bad line is an error
    that names it, unless the options skip what is bad. What was deleted here stays deleted.
    `progress` is called with the number of bytes that were read.
    """
    seal = Seal(key=await db.secret())
    options = options or ImportOptions()
    importer = Importer(db, options, was_forgotten=_memory(seal))
    try:
        return await importer.take(_counted(chunks, progress or (lambda _: None)))
    finally:
        # Afterwards, and also if it broke off: each session comes in a transaction of its own.
        if importer.report.added and not options.dry_run:
            told = f"{importer.report.added} sessions"
            await unchecked(db).write(note_audit, by, "history.imported", told)


def _memory(seal: Seal) -> WasForgotten:
    def was_forgotten(
        tx: Transaction, record: PortableSession | PortableSender | SessionId
    ) -> bool:
        if isinstance(record, str):
            return bool(find_forgotten(tx, [record], seal=seal))
        if isinstance(record, PortableSender):
            mark = seal.mark("sender", record.platform, record.id)
            return tx.exists("find_tombstone", hash=mark)
        if find_forgotten(tx, [record.id], seal=seal):
            return True
        source, id = record.native_source, record.native_id
        if source is None or id is None:
            return False
        return find_forgotten_native(tx, source, id, seal=seal)

    return was_forgotten


async def _counted(
    chunks: AsyncIterable[bytes], progress: Callable[[int], None]
) -> AsyncIterator[bytes]:
    done = 0
    async for chunk in chunks:
        yield chunk
        done += len(chunk)
        progress(done)
