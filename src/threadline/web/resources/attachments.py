"""Attachments: files that come in, typed by their content, and go out where they do no harm."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from threadline.core.errors import Invalid, NotFound, TooLarge
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.store import Store
from threadline.store.blobs import BLOB_LIMIT, CHUNK_BYTES
from threadline.web.authentication import Caller
from threadline.web.bodies import View
from threadline.web.content_disposition import SANDBOX, body_of, clean_name, disposition, send_on
from threadline.web.mime import INLINE, SNIFFED, media_kind_of, sniff
from threadline.web.problems import TooOften
from threadline.web.ranges import ByteRange, read_range
from threadline.web.rate_limit import Rate, RequestBudget
from threadline.web.resources.auth_deps import Reading, Writing, visible
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router
from threadline.web.upload_tokens import TICKET_LIMIT, read_ticket, write_ticket


class UploadView(View, frozen=True, kw_only=True):
    """A file that is kept for a day, and for as long as a message uses it."""

    blob: str
    """The SHA-256 of its content, by which it is found."""
    kind: MediaKind
    media_type: str
    """By its content, whatever the request said."""
    size: int
    name: str | None
    ticket: str
    """Give this with a message; it is yours, for a day."""

    @classmethod
    def from_file(cls, file: Attachment, ticket: str) -> "UploadView":
        """Return the view of an upload."""
        return cls(
            blob=file.blob,
            kind=file.kind,
            media_type=file.media_type,
            size=file.size,
            name=file.name,
            ticket=ticket,
        )


router = Router(prefix="/attachments", tags=["attachments"])

UPLOAD_RATE = Rate(burst=100, per_second=0.5)
"""How many files somebody may upload."""

Hash = Annotated[
    str, Path(pattern="^[0-9a-f]{64}$", description="The SHA-256 of the file's content.")
]
_FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


@router.post(
    "",
    status_code=201,
    openapi_extra={"requestBody": {"required": True, "content": _FILE}},
)
async def upload_attachment(
    request: Request,
    visitor: Writing,
    store: StoreDep,
    name: Annotated[
        str | None, Query(max_length=1000, description="What the file is called.")
    ] = None,
) -> UploadView:
    """Keep a file, so that a message can use it within a day. The body is the file itself.

    Its type is determined by its content; nothing is unpacked. The same content is kept once, so
    it is safe to repeat this.
    """
    _count(request, visitor)
    data = await _read(request)
    if not data:
        raise Invalid("This file is empty")
    called = clean_name(name)
    media_type = sniff(data[:SNIFFED], called)
    file = await store.put_blob(data, media_type, media_kind_of(media_type), called)
    ticket = write_ticket(await store.seal(), file, visitor.account.key, store.now())
    return UploadView.from_file(file, ticket)


@router.get(
    "/{hash}",
    response_class=Response,
    responses={
        200: {"description": "The file.", "content": _FILE},
        206: {"description": "A piece of it.", "content": _FILE},
        304: {"description": "It is as it was."},
        **problem_responses(416),
    },
)
async def download_attachment(
    hash: Hash,
    request: Request,
    visitor: Reading,
    store: StoreDep,
    *,
    session: Annotated[
        str | None, Query(max_length=100, description="A session that shows it.")
    ] = None,
    ticket: Annotated[
        str | None, Query(max_length=TICKET_LIMIT, description="What its upload answered.")
    ] = None,
    wanted: Annotated[str | None, Header(alias="Range", max_length=200)] = None,
    known: Annotated[str | None, Header(alias="If-None-Match", max_length=2000)] = None,
) -> Response:
    """Give a file to whoever may see a message that shows it, or has just uploaded it.

    Browsers may show images and sounds; everything else is saved. It is served so that it cannot
    run anything.
    """
    file = await _find(store, visitor, BlobHash(hash), session, ticket)
    tag = f'"{file.blob}"'
    if known is not None and tag in known:
        return Response(status_code=304, headers={"ETag": tag})
    # What a message says of its size may be wrong; what it is and how long, its bytes tell.
    size, head = await store.blob_size(file.blob), await store.blob_piece(file.blob, 0)
    if size is None or head is None:
        raise NotFound("There is no such attachment", id=hash)
    media_type = sniff(head, file.name)
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": disposition(file.name, inline=media_type in INLINE),
        "Content-Security-Policy": SANDBOX,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    span = read_range(wanted, size)
    headers["Content-Length"] = str(span.length)
    if span.is_part:
        headers["Content-Range"] = f"bytes {span.first}-{span.last}/{size}"
    return StreamingResponse(
        send_on(request.scope, _cut(store, file.blob, span)),
        status_code=206 if span.is_part else 200,
        headers=headers,
        media_type=media_type,
    )


async def _find(
    store: Store, visitor: Caller, hash: BlobHash, session: str | None, ticket: str | None
) -> Attachment:
    found: Attachment | None = None
    if session is not None:
        seen = await visible(store, visitor, session)
        found = await store.attachment_in(seen.id, hash)
    elif ticket is not None:
        found = read_ticket(await store.seal(), ticket, visitor.account.key, store.now())
    else:
        raise Invalid("Which session shows this file?", hint="Give session, or ticket")
    if found is None or found.blob != hash:
        raise NotFound("There is no such attachment", id=hash)
    return found


def _count(request: Request, visitor: Caller) -> None:
    """Refuse more files than somebody may upload in a while."""
    state = request.app.state
    if not hasattr(state, "uploads"):
        state.uploads = RequestBudget(UPLOAD_RATE)
    after = state.uploads.take(str(visitor.account.key))
    if after is not None:
        raise TooOften("Too many files were uploaded", after=after)


async def _read(request: Request) -> bytes:
    """Read a file whole; one that ends in the middle raises, and nothing of it is kept."""
    data = bytearray()
    async for block in body_of(request):
        data += block
        if len(data) > BLOB_LIMIT:
            raise TooLarge("This file is too large", hint=f"At most {BLOB_LIMIT:,} bytes")
    return bytes(data)


async def _cut(store: Store, hash: BlobHash, span: ByteRange) -> AsyncIterator[bytes]:
    for n in range(span.first // CHUNK_BYTES, span.last // CHUNK_BYTES + 1):
        begins = n * CHUNK_BYTES
        piece = await store.blob_piece(hash, n)
        if piece is None:  # it was forgotten meanwhile
            return
        yield piece[max(span.first - begins, 0) : span.last + 1 - begins]
