"""Command jobs: the part of a command from a platform that takes longer than a moment."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from threadline.core.errors import StorageError, ThreadlineError, sentence_of
from threadline.core.export_format.file_records import ExportFormat, ExportScope, Selection
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.database.port import Database
from threadline.gateway.compaction import NO_SCRIBE
from threadline.store.blobs import BLOB_LIMIT, store_blob
from threadline.store.commands.context import Compress, Errand, Export, Forget
from threadline.store.commands.dispatch import owe_answer
from threadline.store.commands.execute import end_errand
from threadline.store.deletion.forget import finish_deletion
from threadline.store.transfer.document import write_visible_page
from threadline.store.transfer.exporter import write_history

_TYPES = {
    ExportFormat.MARKDOWN: "text/markdown",
    ExportFormat.HTML: "text/html",
    ExportFormat.JSONL: "application/jsonl",
}

MakeRoom: TypeAlias = Callable[[SessionId, str], Awaitable[str]]
"""Compacts a session, with an eye on something; answers what is said of it."""

NO_FILES = "Files cannot be sent here."
_TOO_LARGE = "The file is too large to be sent."


async def finish_command_job(
    database: Database,
    errand: Errand,
    inbound: Inbound,
    *,
    largest: int = BLOB_LIMIT,
    compress: MakeRoom | None = None,
) -> str | None:
    """Do what is left to do: a file or a word is owed to the chat, a forgetting comes to its end.

    `largest` is how many bytes a file may have that the platform takes; 0: it takes none. Answers
    what is to be said directly, because it must not be kept.
    """
    if isinstance(errand, Compress):
        id = errand.session_id
        words = NO_SCRIBE if compress is None else await compress(id, errand.focus)
        await database.write(owe_answer, inbound, words, about=id)
        await end_errand(database, errand)
        return None
    if isinstance(errand, Forget):
        return (await finish_deletion(database, errand.id)).sentence()
    try:
        await _export(database, errand, inbound, min(largest, BLOB_LIMIT))
    except StorageError:
        raise
    except ThreadlineError as error:
        await database.write(owe_answer, inbound, sentence_of(error), about=errand.session_id)
    return None


async def _export(database: Database, errand: Export, inbound: Inbound, largest: int) -> None:
    data = None if largest < 1 else await _collect(_written(database, errand, inbound), largest)
    if data is None:
        words = tell_how(errand, NO_FILES if largest < 1 else _TOO_LARGE)
        await database.write(owe_answer, inbound, words, about=errand.session_id)
        return
    name = f"{errand.session_id}.{errand.format}"
    attachment = await store_blob(database, data, _TYPES[errand.format], MediaKind.FILE, name)
    words = "This is the conversation so far."
    await database.write(
        owe_answer, inbound, words, attachments=(attachment,), about=errand.session_id
    )


def tell_how(errand: Export, why: str) -> str:
    """Tell how a conversation can be had that cannot be sent."""
    how = f"threadline sessions export {errand.session_id} --format {errand.format}"
    return f"{why} Whoever runs this installation gets it with: {how}"


async def _written(database: Database, errand: Export, inbound: Inbound) -> AsyncIterator[bytes]:
    """Write a session as whoever asked may see it."""
    asker = Viewer(address=inbound.address, sender=inbound.sender, profile=inbound.profile)
    if errand.format is ExportFormat.JSONL:
        selection = Selection(extent=ExportScope.SESSION, session=errand.session_id)
        async for block in write_history(database, selection, asker=asker):
            yield block
    else:
        pages = write_visible_page(database, errand.session_id, errand.format, asker=asker)
        async for piece in pages:
            yield piece.encode()


async def _collect(blocks: AsyncIterator[bytes], largest: int) -> bytes | None:
    """Put a file together; None as soon as it is too large."""
    data = bytearray()
    async for block in blocks:
        data += block
        if len(data) > largest:
            return None
    return bytes(data)
