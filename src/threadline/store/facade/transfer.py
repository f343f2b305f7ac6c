"""Transfer: out of it, and into it again."""

from collections.abc import AsyncIterable, AsyncIterator, Callable

from threadline.core.account import Actor
from threadline.core.export_format.file_records import ExportFormat, ExportScope, Selection
from threadline.core.person import Viewer
from threadline.core.redaction import Redactor
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import checked_choice, checked_flag, checked_type
from threadline.store.deletion.import_history import import_history
from threadline.store.facade.connection import StoreConnection
from threadline.store.transfer.document import write_page, write_visible_page
from threadline.store.transfer.exporter import write_history
from threadline.store.transfer.importer import ImportOptions, ImportReport


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
        wanted_format = checked_choice(format, "format", ExportFormat)
        redactor = Redactor() if checked_flag(redact, "redact") else None
        checked_flag(hidden, "hidden")
        if asker is None:
            page = write_page(self._db, wanted, wanted_format, hidden=hidden, redactor=redactor)
        else:
            viewer = checked_type(asker, "asker", Viewer)
            page = write_visible_page(
                self._db, wanted, wanted_format, asker=viewer, hidden=hidden, redactor=redactor
            )
        async for piece in page:
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
        options = checked_type(manner or ImportOptions(), "manner", ImportOptions)
        return await import_history(self._db, chunks, options, by=by, progress=progress)
