"""Document: a session as a page for people, line by line, its shared beginnings included."""

import asyncio
from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace

from threadline.core.document import (
    EMBED_LIMIT,
    EMBEDDED_TYPES,
    DocumentWriter,
    PageLine,
    speaker_of,
)
from threadline.core.errors import Invalid, NotFound
from threadline.core.export_format.file_records import (
    ExportFormat,
    ExportScope,
    PortableSender,
    Selection,
)
from threadline.core.hidden_range import HiddenRange, HiddenRangeKind
from threadline.core.html_export import WebPage
from threadline.core.markdown_export import MarkdownPage
from threadline.core.message import Attachment, Message
from threadline.core.person import Viewer
from threadline.core.redaction import Redactor
from threadline.core.session import Session, SessionId
from threadline.database.port import Database
from threadline.store import blobs, queries
from threadline.store.people.visibility import may_see
from threadline.store.transcripts.segments import layout_of
from threadline.store.transfer import records
from threadline.store.transfer.exporter import make_plan
from threadline.store.transfer.redaction import collect_names, redact_parts

LINES_PAGE = 200


_PAGES: dict[ExportFormat, Callable[[], DocumentWriter]] = {
    ExportFormat.MARKDOWN: MarkdownPage,
    ExportFormat.HTML: WebPage,
}


async def write_page(
    db: Database,
    id: SessionId,
    format: ExportFormat,
    *,
    hidden: bool = False,
    redactor: Redactor | None = None,
    asker: Viewer | None = None,
) -> AsyncIterator[str]:
    """Write a session as a page; what was undone or retried only if it is asked for.

    An asker is not told with which session it shares its beginning if they may not see that one.
    """
    if format not in _PAGES:
        raise Invalid(f"A page for people is never {format}", hint=f"One of: {', '.join(_PAGES)}")
    page = _PAGES[format]()
    session = await db.read(queries.read_session, id)
    if asker is not None and session.base_id is not None:
        is_seen = await db.read(may_see, asker, session.base_id)
        session = session if is_seen else replace(session, base_id=None)
    cuts = list((await db.read(layout_of, id)).cuts)
    people: dict[str, str] = {}
    if redactor is not None:
        senders = await _list_senders(db, id)
        collect_names(senders, redactor)
        people = {each.id: redactor.stand_in("person", each.platform, each.id) for each in senders}
        session = _redacted_session(session, redactor)
    yield page.begin(session)
    dividers = sorted(
        (cut for cut in cuts if cut.kind is HiddenRangeKind.COMPACTED), key=lambda cut: cut.to_seq
    )
    after: int | None = 0
    while after is not None:
        messages = await db.read(
            queries.transcript, id, after=after, most=LINES_PAGE, hidden=hidden
        )
        shown = [_line(message, cuts if hidden else []) for message in messages]
        if redactor is not None:
            # On a thread, as everybody else would wait while long texts are looked through.
            shown = await asyncio.to_thread(_redacted_lines, shown, people, redactor)
        for line in shown:
            while dividers and dividers[0].to_seq < (line.message.seq or 0):
                yield page.divide(_redacted_cut(dividers.pop(0), redactor))
            images = await _read_images(db, line.message) if format is ExportFormat.HTML else ()
            yield page.line(replace(line, images=images))
        after = messages[-1].seq if len(messages) == LINES_PAGE else None
    for cut in dividers:
        yield page.divide(_redacted_cut(cut, redactor))
    yield page.end()


async def _list_senders(db: Database, id: SessionId) -> list[PortableSender]:
    """List everybody who speaks in a session, or in the beginnings it shares."""
    plan = await make_plan(db, Selection(extent=ExportScope.SESSION, session=id), None)
    found: list[PortableSender] = []
    for key, _ in plan.steps():
        found += await db.read(records.list_senders, key)
    return found


def _redacted_session(session: Session, redactor: Redactor) -> Session:
    return replace(session, title=None if session.title is None else redactor.text(session.title))


def _redacted_cut(cut: HiddenRange, redactor: Redactor | None) -> HiddenRange:
    if redactor is None or cut.summary is None:
        return cut
    return replace(cut, summary=redactor.text(cut.summary))


def _line(message: Message, cuts: list[HiddenRange]) -> PageLine:
    seq = message.seq or 0
    why = next(
        (
            cut.kind.value
            for cut in cuts
            if cut.kind is not HiddenRangeKind.COMPACTED and cut.from_seq <= seq <= cut.to_seq
        ),
        None,
    )
    return PageLine(message=message, speaker=speaker_of(message), hidden=why)


def _redacted_lines(
    lines: list[PageLine], people: dict[str, str], redactor: Redactor
) -> list[PageLine]:
    return [_redacted_line(line, people, redactor) for line in lines]


def _redacted_line(line: PageLine, people: dict[str, str], redactor: Redactor) -> PageLine:
    message = line.message
    speaker = line.speaker
    if message.sender_id is not None:
        speaker = people.get(message.sender_id, "somebody")
    parts = redact_parts(message.parts, redactor)
    return replace(line, speaker=speaker, message=replace(message, parts=parts))


async def _read_images(db: Database, message: Message) -> tuple[tuple[str, bytes], ...]:
    """Read the images of a line that are small enough to stand in the page."""
    found = []
    for part in message.parts:
        if not isinstance(part, Attachment) or part.media_type not in EMBEDDED_TYPES:
            continue
        size = await db.read(blobs.has_blob, part.blob)
        if size is not None and size <= EMBED_LIMIT:
            pieces = [
                await db.read(blobs.read_piece, part.blob, n)
                for n in range(-(-size // blobs.CHUNK_BYTES))
            ]
            found.append((part.blob, b"".join(piece or b"" for piece in pieces)))
    return tuple(found)


async def write_visible_page(
    db: Database,
    id: SessionId,
    format: ExportFormat,
    *,
    asker: Viewer,
    hidden: bool = False,
    redactor: Redactor | None = None,
) -> AsyncIterator[str]:
    """Write a session as a page for an asker; raise `NotFound` if they may not see it."""
    if not await db.read(may_see, asker, id):
        raise NotFound("There is no such session", id=id)
    pages = write_page(db, id, format, hidden=hidden, redactor=redactor, asker=asker)
    async for piece in pages:
        yield piece
