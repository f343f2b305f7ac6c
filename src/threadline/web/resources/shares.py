"""Shares: a conversation as a redacted page that never changes, until it is revoked."""

import secrets
from typing import Annotated

from fastapi import Path, Query, Response
from msgspec import Meta

from threadline.core.account import Share, ShareId
from threadline.core.errors import NotFound, TooLarge
from threadline.core.export_format.file_records import ExportFormat
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.facade.shares import PAGE_LIMIT
from threadline.web.bodies import Body, Time, View
from threadline.web.request_limits import SHARED
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import PAGE, After, Most, Page, moment_after, place_at
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class ShareView(View, frozen=True, kw_only=True):
    """A page that is shared, or was."""

    id: str
    path: Annotated[str, Meta(examples=["/s/…"])]
    """Where it is read, without a login."""
    session: str
    title: str
    size: int
    made_at: Time
    revoked_at: Time | None

    @classmethod
    def from_share(cls, share: Share) -> "ShareView":
        """Return the view of a shared page."""
        return cls(
            id=share.id,
            path=f"{SHARED}{share.id}",
            session=share.session_id,
            title=share.title,
            size=share.size,
            made_at=share.made_at,
            revoked_at=share.revoked_at,
        )


class ShareRequest(Body, frozen=True, kw_only=True):
    """A conversation to be shared."""

    session: Annotated[
        str, Meta(min_length=1, max_length=100, examples=["20260131_184500_0a1b2c3d"])
    ]


router = Router(prefix="/shares", tags=["shares"])

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
) -> Page[ShareView]:
    """List the pages that are or were shared, newest first; a member sees their own."""
    asked = None if session is None else (await visible(store, visitor, session)).id
    found = await store.shares(
        asked, viewer=visitor.account, before=moment_after(after), most=most + 1
    )
    return Page.cut(found, most, ShareView.from_share, lambda one: place_at(one.made_at, one.id))


@router.post("", status_code=201, response_model=ShareView, responses=problem_responses(409))
async def make_share(
    wish: ShareRequest, visitor: Exchanging, store: StoreDep, once: OnceDep
) -> Response:
    """Share a conversation as it is now, as a page that anyone with the link can read.

    Attachments are left out; people, numbers and keys are replaced by placeholders. What is said
    later is not in it.
    """
    session = await visible(store, visitor, wish.session)

    async def make(store: Store) -> Share:
        page = await _write_page(store, session.id, visitor.asker(session.profile))
        id = ShareId(secrets.token_urlsafe(_ID_BYTES))
        return await store.make_share(session.id, id, page, by=visitor.actor)

    return await once.answer(visitor.account, make, ShareView.from_share)


@router.delete("/{id}", status_code=204)
async def revoke_share(id: Id, visitor: Writing, store: StoreDep) -> None:
    """Revoke a shared page: nobody can read it any longer."""
    share = await store.share(ShareId(id))
    unknown = NotFound("There is no such share", id=id)
    await visible(store, visitor, share.session_id, refusal=unknown)
    await store.revoke_share(share.id, by=visitor.actor)


async def _write_page(store: Store, id: SessionId, asker: Viewer) -> str:
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
