"""Session files: sessions as files, in the formats that there are."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from threadline.core.export_format.files import ExportFormat
from threadline.core.person import Viewer
from threadline.core.session import SessionId

if TYPE_CHECKING:
    from threadline.store import Store


async def written_session(
    store: "Store",
    id: SessionId,
    format: ExportFormat,
    *,
    hidden: bool = False,
    redact: bool = False,
    asker: Viewer | None = None,
) -> AsyncIterator[bytes]:
    """Write a session in a format, block by block."""
    if format is ExportFormat.JSONL:
        async for block in store.export_session(id, redact=redact, asker=asker):
            yield block
    else:
        page = store.export_page(id, format, hidden=hidden, redact=redact, asker=asker)
        async for piece in page:
            yield piece.encode()
