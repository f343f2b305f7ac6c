"""Exports: conversations as files, for people or to be imported elsewhere; and back again."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from enum import StrEnum
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse

from threadline.core.errors import Refused
from threadline.core.export_format.file_records import ExportFormat, ExportScope, Selection
from threadline.store.transfer.importer import ImportOptions, ImportReport
from threadline.web.bodies import View
from threadline.web.content_disposition import (
    SANDBOX,
    body_of,
    disposition,
    read_first_block,
    send_on,
)
from threadline.web.resources.addresses import parse_identity
from threadline.web.resources.auth_deps import Administering, Reading, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of


class HistoryExtent(StrEnum):
    """How much an export takes."""

    ALL = "all"
    PROFILE = "profile"
    PROJECT = "project"
    PERSON = "person"


class ImportIssueView(View, frozen=True, kw_only=True):
    """Something that was not imported, and why."""

    line: int
    what: str
    session: str | None


class ImportView(View, frozen=True, kw_only=True):
    """What came of an import."""

    added: int
    copied: int
    """Of those added, how many have a new id."""
    skipped: int
    """They were there already."""
    forgotten: int
    """They were forgotten here, and stay so."""
    conflicts: int
    """There are others with the same id."""
    bad: int
    messages: int
    attachments: int
    without_settings: int
    """Of those added, how many are without the folder, tools or model address."""
    problems: Sequence[ImportIssueView]

    @classmethod
    def from_report(cls, report: ImportReport) -> "ImportView":
        """Return the view of a report."""
        problems = [
            ImportIssueView(line=one.line, what=one.what, session=one.session_id)
            for one in report.problems or ()
        ]
        same = {name: getattr(report, name) for name in cls.__struct_fields__}
        return cls(**{**same, "problems": problems})


router = Router(tags=["exports"])

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
        blocks = _blocks(store.export_session(session.id, redact=redact, asker=asker))
    else:
        page = store.export_page(session.id, format, hidden=hidden, redact=redact, asker=asker)
        blocks = _encoded(page)
    begun = await read_first_block(blocks)
    await store.note_audit(visitor.actor, "session.exported", session.id, format)
    return _file(request, begun, f"{session.id}.{format}", _TYPES[format])


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
        extent=ExportScope(extent),
        profile=named if extent in _OF_PROFILE else None,
        project=project,
        person=None if person is None else parse_identity(person),
    )
    asker = None if visitor.is_owner else visitor.asker(named)
    lines = store.export_history(wanted, redact=redact, asker=asker)
    begun = await read_first_block(_blocks(lines))
    await store.note_audit(visitor.actor, "history.exported", wanted.subject, extent)
    return _file(request, begun, f"threadline-{extent}.jsonl", JSONL_TYPE)


@router.post(
    "/imports",
    responses=problem_responses(409),
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
    keep_settings: Annotated[
        bool, Query(description="Keep the folders, tools and model addresses of the file.")
    ] = False,
) -> ImportView:
    """Import portable lines from the body; what is already there is skipped.

    Each session is stored completely or not at all. A file that is too large for a request can be
    imported with `threadline import`.
    """
    manner = ImportOptions(
        dry_run=dry_run, skip_bad=skip_bad, as_copies=as_copies, keep_settings=keep_settings
    )
    report = await store.import_history(body_of(request), manner, by=visitor.actor)
    return ImportView.from_report(report)


def _file(request: Request, blocks: AsyncIterator[bytes], name: str, media_type: str) -> Response:
    headers = {
        "Content-Disposition": disposition(name),
        "Content-Security-Policy": SANDBOX,
        "X-Content-Type-Options": "nosniff",
    }
    sent = send_on(request.scope, blocks)  # a long history takes its time
    return StreamingResponse(sent, headers=headers, media_type=media_type)


async def _blocks(lines: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    async for block in lines:
        yield block


async def _encoded(page: AsyncIterator[str]) -> AsyncGenerator[bytes, None]:
    async for piece in page:
        yield piece.encode()
