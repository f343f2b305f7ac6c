"""Shares: pages of conversations that anybody can read."""

from datetime import datetime

from threadline.core.account import Account, Actor, Share, ShareId
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import (
    checked_count,
    checked_id,
    checked_moment,
    checked_text,
    checked_type,
)
from threadline.store import shares
from threadline.store.facade.connection import StoreConnection
from threadline.store.queries import LARGEST_PAGE

PAGE_LIMIT = 8 * 1024 * 1024
"""Characters of a page that is shared."""


class ShareMethods(StoreConnection):
    """Shares: made once, never changed, revoked for good."""

    async def make_share(
        self,
        session_id: SessionId,
        share_id: ShareId,
        page: str,
        *,
        by: Actor | None = None,
    ) -> Share:
        """Keep a page of a conversation; its id is drawn so that nobody can guess it."""
        return await self._db.write(
            shares.make_share,
            checked_session_id(session_id),
            ShareId(checked_id(share_id, "share")),
            checked_text(page, "page", PAGE_LIMIT),
            by=by,
        )

    async def read_share(self, id: ShareId) -> str | None:
        """Read a page; None: nobody ever shared it, or it was revoked."""
        return await self._db.read(shares.read_page, ShareId(checked_id(id, "share")))

    async def share(self, id: ShareId) -> Share:
        """Read what is known of a page, also of one that was revoked."""
        return await self._db.read(shares.read_share, ShareId(checked_id(id, "share")))

    async def shares(
        self,
        session_id: SessionId | None = None,
        *,
        viewer: Account | None = None,
        before: tuple[datetime, str] | None = None,
        most: int = LARGEST_PAGE,
    ) -> list[Share]:
        """List the pages of a conversation, or all that a viewer may see, the newest first.

        `before` is the moment and the id behind which the list goes on.
        """
        place = None
        if before is not None:
            place = checked_moment(before[0], "before"), checked_id(before[1], "share")
        return await self._db.read(
            shares.list_shares,
            None if session_id is None else checked_session_id(session_id),
            viewer=None if viewer is None else checked_type(viewer, "viewer", Account),
            before=place,
            most=min(checked_count(most, "number of shares", 1), LARGEST_PAGE),
        )

    async def revoke_share(self, id: ShareId, *, by: Actor | None = None) -> bool:
        """Let nobody read a page any more; False: it was revoked before."""
        return await self._db.write(shares.revoke_share, ShareId(checked_id(id, "share")), by=by)
