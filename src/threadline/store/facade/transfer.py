"""Transfer: out of it, and into it again."""

from collections.abc import AsyncIterable, AsyncIterator, Callable

from threadline.core.account import Actor
from threadline.core.deletion import Seal
from threadline.core.errors import NotFound
from threadline.core.export_format.files import ExportFormat, ExportScope, PortableSender, Selection
from threadline.core.export_format.sessions import PortableSession
from threadline.core.person import Viewer
from threadline.core.redaction import Redactor
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import checked_choice, checked_flag, checked_type
from threadline.database.port import Transaction
from threadline.store.audit import note_audit
from threadline.store.deletion.preview import find_forgotten, find_forgotten_native
from threadline.store.facade.connection import StoreConnection
from threadline.store.people.visibility import may_see
from threadline.store.transfer.document import write_page
from threadline.store.transfer.exporter import write_history
from threadline.store.transfer.importer import Importer, ImportOptions, ImportReport, WasForgotten


class TransferMethods(StoreConnection):
    """Exports and imports, in slices, so that everybody else goes on meanwhile."""

    async def export_history(
        self, selection: Selection, *, redact: bool = False, asker: Viewer | None = None
    ) -> AsyncIterator[bytes]:
        """Write sessions as portable lines, block by block; see docs/export-format.md.

        For an asker, only what they may see. Redacted, it holds no attachments, and placeholders
        stand for people, chats and secrets.
        """
        if asker is not None:
            checked_type(asker, "asker", Viewer)
        redactor = Redactor() if checked_flag(redact, "redact") else None
        wanted = checked_type(selection, "selection", Selection)
        async for block in write_history(self._db, wanted, asker=asker, redactor=redactor):
            yield block

    def export_session(
        self, id: SessionId, *, redact: bool = False, asker: Viewer | None = None
    ) -> AsyncIterator[bytes]:
        """Write one session, and the shared beginnings it stands on, as portable lines."""
        wanted = Selection(extent=ExportScope.SESSION, session=checked_session_id(id))
        return self.export_history(wanted, redact=redact, asker=asker)

    async def export_page(
        self,
        id: SessionId,
        format: ExportFormat = ExportFormat.MARKDOWN,
        *,
        hidden: bool = False,
        redact: bool = False,
        asker: Viewer | None = None,
    ) -> AsyncIterator[str]:
        """Write a session as a page for people, piece by piece.

        What was undone or retried is in it only if hidden lines are asked for.
        """
        wanted = checked_session_id(id)
        if asker is not None:
            checked_type(asker, "asker", Viewer)
            if not await self._db.read(may_see, asker, wanted):
                raise NotFound("There is no such session", id=wanted)
        redactor = Redactor() if checked_flag(redact, "redact") else None
        async for piece in write_page(
            self._db,
            wanted,
            checked_choice(format, "format", ExportFormat),
            hidden=checked_flag(hidden, "hidden"),
            redactor=redactor,
            asker=asker,
        ):
            yield piece

    async def import_history(
        self,
        chunks: AsyncIterable[bytes],
        manner: ImportOptions | None = None,
        *,
        by: Actor | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ImportReport:
        """Take in a file of portable lines; what the store has already is skipped.

        Each session is stored wholly or not at all, and is bound to no route. A bad line is an
        error that names it, unless the manner is to skip what is bad. What was forgotten here
        stays forgotten. `progress` is told how many bytes were read.
        """
        seal = Seal(key=await self._db.secret())
        manner = checked_type(manner or ImportOptions(), "manner", ImportOptions)
        taker = Importer(self._db, manner, was_forgotten=_memory(seal))
        try:
            return await taker.take(_counted(chunks, progress or (lambda _: None)))
        finally:
            # Afterwards, and also if it broke off: each session comes in a transaction of its own.
            if taker.report.added and not manner.dry_run:
                told = f"{taker.report.added} sessions"
                await self._unchecked.write(note_audit, by, "history.imported", told)


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
