"""Exports: conversations as files, for people or to be imported elsewhere; and back again."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from threadline.core.errors import Refused
from threadline.core.portable.files import ExportFormat, Extent, Selection
from threadline.sessions.exports.taking import Manner
from threadline.web.api.asking import Administering, Reading, visible
from threadline.web.api.deps import SessionIdPath, StoreDep
from threadline.web.api.looking import profile_of
from threadline.web.api.problems import told
from threadline.web.api.profiles import OfProfile
from threadline.web.api.shapes.exports import HistoryExtent, ImportShape
from threadline.web.api.shapes.places import read_identity
from threadline.web.filing import SANDBOX, begin, body_of, disposition, send_on

router = APIRouter(tags=["exports"])

JSONL_TYPE = "application/x-ndjson"
"""The media type of portable lines."""
_TYPES = {
    ExportFormat.MARKDOWN: "text/markdown",
    ExportFormat.HTML: "text/html",
    ExportFormat.JSONL: JSONL_TYPE,
}
_LINES = {JSONL_TYPE: {"schema": {"type": "string", "format": "binary"}}}
_ANY_FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_FILES = {kind: {"schema": {"type": "string"}} for kind in _TYPES.values()}

_OF_PROFILE = frozenset({HistoryExtent.PROFILE, HistoryExtent.PROJECT})

Redact = Annotated[
    bool,
    Query(description="Leave out attachments; placeholders for people, numbers and keys."),
]


@router.get(
    "/exports/sessions/{session_id}",
    response_class=Response,
    responses={200: {"description": "The file.", "content": _FILES}},
)
async def export_session(
    session_id: SessionIdPath,
    request: Request,
    visitor: Reading,
    store: StoreDep,
    *,
    format: ExportFormat = ExportFormat.MARKDOWN,
    redact: Redact = False,
    hidden: Annotated[bool, Query(description="Include what was undone or retried.")] = False,
) -> Response:
    """Write one session as a page for people, or as portable lines (`jsonl`)."""
    session = await visible(store, visitor, session_id)
    asker = visitor.asker(session.profile)
    if format is ExportFormat.JSONL:
        lines = store.export_session(session.id, redact=redact, asker=asker)
        return await _file(request, _blocks(lines), f"{session.id}.jsonl", JSONL_TYPE)
    page = store.export_page(session.id, format, hidden=hidden, redact=redact, asker=asker)
    return await _file(request, _encoded(page), f"{session.id}.{format}", _TYPES[format])


@router.get(
    "/exports/history",
    response_class=Response,
    responses={200: {"description": "Portable lines.", "content": _LINES}},
)
async def export_history(
    request: Request,
    visitor: Reading,
    store: StoreDep,
    *,
    extent: HistoryExtent = HistoryExtent.PROFILE,
    profile: OfProfile = None,
    project: Annotated[str | None, Query(max_length=200)] = None,
    person: Annotated[str | None, Query(max_length=600, examples=["telegram:42"])] = None,
    redact: Redact = False,
) -> Response:
    """Write all sessions of a profile, a project or a person, or all, as portable lines.

    A member gets what is theirs in a profile.
    """
    if not visitor.is_owner and extent is not HistoryExtent.PROFILE:
        raise Refused("Only an owner may export that", hint="Set extent to profile")
    named = profile_of(visitor, profile)
    wanted = Selection(
        extent=Extent(extent),
        profile=named if extent in _OF_PROFILE else None,
        project=project,
        person=None if person is None else read_identity(person),
    )
    asker = None if visitor.is_owner else visitor.asker(named)
    lines = store.export_history(wanted, redact=redact, asker=asker)
    return await _file(request, _blocks(lines), f"threadline-{extent}.jsonl", JSONL_TYPE)


@router.post(
    "/imports",
    responses=told(409),
    openapi_extra={"requestBody": {"required": True, "content": _ANY_FILE}},
)
async def import_history(
    request: Request,
    visitor: Administering,
    store: StoreDep,
    *,
    dry_run: Annotated[bool, Query(description="Look at all of it, and change nothing.")] = False,
    skip_bad: Annotated[bool, Query(description="Go on after what cannot be read.")] = False,
    as_copies: Annotated[bool, Query(description="Give new ids where ids are taken.")] = False,
) -> ImportShape:
    """Import portable lines from the body; what is already there is skipped.

    Each session is stored completely or not at all. A file that is too large for a request can be
    imported with `threadline import`.
    """
    manner = Manner(dry_run=dry_run, skip_bad=skip_bad, as_copies=as_copies)
    report = await store.import_history(body_of(request), manner, by=visitor.account.actor)
    return ImportShape.from_report(report)


async def _file(
    request: Request, blocks: AsyncGenerator[bytes, None], name: str, media_type: str
) -> Response:
    headers = {
        "Content-Disposition": disposition(name),
        "Content-Security-Policy": SANDBOX,
        "X-Content-Type-Options": "nosniff",
    }
    sent = send_on(request.scope, await begin(blocks))  # a long history takes its time
    return StreamingResponse(sent, headers=headers, media_type=media_type)


async def _blocks(lines: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    async for block in lines:
        yield block


async def _encoded(page: AsyncIterator[str]) -> AsyncGenerator[bytes, None]:
    async for piece in page:
        yield piece.encode()
