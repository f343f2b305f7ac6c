"""Outputs: sessions as files, and the folder into which the chat writes them, by profile."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from threadline.config import OUTPUT
from threadline.core.errors import StorageError
from threadline.core.person import Asker
from threadline.core.portable.files import ExportFormat
from threadline.core.session import SessionId

if TYPE_CHECKING:
    from threadline.sessions.store import Store


async def written_session(
    store: "Store",
    id: SessionId,
    format: ExportFormat,
    *,
    hidden: bool = False,
    redact: bool = False,
    asker: Asker | None = None,
) -> AsyncIterator[bytes]:
    """Write a session in a format, block by block."""
    if format is ExportFormat.JSONL:
        async for block in store.export_session(id, redact=redact, asker=asker):
            yield block
    else:
        page = store.export_page(id, format, hidden=hidden, redact=redact, asker=asker)
        async for piece in page:
            yield piece.encode()


def output_folder(profile: str) -> Path:
    """Answer where the files of a profile go."""
    return OUTPUT.expanduser() / profile


def drop_outputs(ids: Iterable[SessionId]) -> int:
    """Delete what was written of these sessions; answer how many files that were."""
    folder, gone = OUTPUT.expanduser(), 0
    try:
        for id in ids:
            for file in folder.glob(f"*/{id}.*"):
                file.unlink(missing_ok=True)
                gone += 1
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = f"Delete the files in {folder} yourself"
        raise StorageError(f"A file could not be deleted: {why}", hint=hint) from error
    return gone
