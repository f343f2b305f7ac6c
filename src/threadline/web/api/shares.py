"""Shares: a conversation as a redacted page that never changes, until it is revoked."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from threadline.core.account import Share, ShareId
from threadline.core.errors import NotFound, TooLarge
from threadline.core.person import Asker
from threadline.core.portable.files import ExportFormat
from threadline.core.session import SessionId
from threadline.sessions.store import Store
from threadline.web.api.asking import Reading, Writing, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.shapes.shares import ShareShape, ShareWish
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/shares", tags=["shares"])

PAGE_LIMIT = 8 * 1024 * 1024
"""Characters of a page that is shared."""
_ID_BYTES = 24

Id = Annotated[
    str, Path(pattern="^[A-Za-z0-9_-]{1,64}$", description="The id of a page that is shared.")
]


@router.get("")
async def list_shares(
    visitor: Reading,
    store: StoreDep,
    session: Annotated[str | None, Query(max_length=100, description="Only of this one.")] = None,
) -> Page[ShareShape]:
    """List the pages that are shared or were, the newest first; a member's are their own."""
    asked = None if session is None else (await visible(store, visitor, session)).id
    found = await store.shares(asked)
    if asked is None and not visitor.is_owner:
        found = [one for one in found if await _is_seen(store, visitor, one)]
    return Page(items=[ShareShape.from_share(one) for one in found])


@router.post("", status_code=201, response_model=ShareShape, responses=told(409))
async def make_share(wish: ShareWish, visitor: Writing, store: StoreDep, once: OnceDep) -> Response:
    """Share a conversation as it is now, as a page that anybody can read who knows its address.

    It has no attachments, and placeholders stand for people, numbers and keys. What is said
    later is not in it.
    """
    session = await visible(store, visitor, wish.session)

    async def make() -> ShareShape:
        page = await _write_page(store, session.id, visitor.asker(session.profile))
        id = ShareId(secrets.token_urlsafe(_ID_BYTES))
        share = await store.make_share(session.id, id, page, visitor.account.key)
        await store.note_audit(visitor.account.key, "share.made", session.id)
        return ShareShape.from_share(share)

    return await once.answer(visitor.account, make)


@router.delete("/{id}", status_code=204)
async def revoke_share(id: Id, visitor: Writing, store: StoreDep) -> None:
    """Let nobody read a page any more."""
    share = await store.share(ShareId(id))
    if not await _is_seen(store, visitor, share):
        raise NotFound("There is no such share", id=id)
    if await store.revoke_share(share.id):
        await store.note_audit(visitor.account.key, "share.revoked", share.session_id)


async def _is_seen(store: Store, visitor: Visitor, share: Share) -> bool:
    try:
        await visible(store, visitor, share.session_id)
    except NotFound:
        return False
    return True


async def _write_page(store: Store, id: SessionId, asker: Asker) -> str:
    pieces, size = [], 0
    async for piece in store.export_page(id, ExportFormat.HTML, redact=True, asker=asker):
        pieces.append(piece)
        size += len(piece)
        if size > PAGE_LIMIT:
            raise TooLarge(
                "This conversation is too long to be shared as a page",
                id=id,
                hint="Branch it where the part begins, or export it as a file",
            )
    return "".join(pieces)
