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
from threadline.sessions.store.sharing import PAGE_LIMIT
from threadline.web.api.asking import Exchanging, Reading, Writing, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.paging import PAGE, After, Most, Page, moment_after, place_at
from threadline.web.api.problems import told
from threadline.web.api.shapes.shares import ShareShape, ShareWish

router = APIRouter(prefix="/shares", tags=["shares"])

_ID_BYTES = 24

Id = Annotated[
    str, Path(pattern="^[A-Za-z0-9_-]{1,64}$", description="The id of a page that is shared.")
]


@router.get("")
async def list_shares(
    visitor: Reading,
    store: StoreDep,
    *,
    session: Annotated[str | None, Query(max_length=100, description="Only of this one.")] = None,
    after: After = None,
    most: Most = PAGE,
) -> Page[ShareShape]:
    """List the pages that are or were shared, newest first; a member sees their own."""
    asked = None if session is None else (await visible(store, visitor, session)).id
    found = await store.shares(
        asked, viewer=visitor.account, before=moment_after(after), most=most + 1
    )
    return Page.cut(found, most, ShareShape.from_share, lambda one: place_at(one.made_at, one.id))


@router.post("", status_code=201, response_model=ShareShape, responses=told(409))
async def make_share(
    wish: ShareWish, visitor: Exchanging, store: StoreDep, once: OnceDep
) -> Response:
    """Share a conversation as it is now, as a page that anyone with the link can read.

    Attachments are left out; people, numbers and keys are replaced by placeholders. What is said
    later is not in it.
    """
    session = await visible(store, visitor, wish.session)

    async def make(store: Store) -> Share:
        page = await _write_page(store, session.id, visitor.asker(session.profile))
        id = ShareId(secrets.token_urlsafe(_ID_BYTES))
        return await store.make_share(session.id, id, page, by=visitor.account.actor)

    return await once.answer(visitor.account, make, ShareShape.from_share)


@router.delete("/{id}", status_code=204)
async def revoke_share(id: Id, visitor: Writing, store: StoreDep) -> None:
    """Revoke a shared page: nobody can read it any longer."""
    share = await store.share(ShareId(id))
    if not await store.visible([SessionId(share.session_id)], viewer=visitor.account):
        raise NotFound("There is no such share", id=id)
    await store.revoke_share(share.id, by=visitor.account.actor)


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
