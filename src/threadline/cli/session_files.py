"""Session files: sessions as files, in the formats that there are."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from threadline.core.export_format.file_records import ExportFormat
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
    from threadline.core.export_format.file_records import ExportScope, Selection
    from threadline.core.redaction import Redactor
    from threadline.store.transfer.document import write_page, write_visible_page
    from threadline.store.transfer.exporter import write_history

    database, redactor = store.database, Redactor() if redact else None
    if format is ExportFormat.JSONL:
        selection = Selection(extent=ExportScope.SESSION, session=id)
        async for block in write_history(database, selection, asker=asker, redactor=redactor):
            yield block
    else:
        page = (
            write_page(database, id, format, hidden=hidden, redactor=redactor)
            if asker is None
            else write_visible_page(
                database, id, format, asker=asker, hidden=hidden, redactor=redactor
            )
        )
        async for piece in page:
            yield piece.encode()
