"""Expiry: whoever is logged out, or may not see any more what they hear, follows no longer."""

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import timedelta

from threadline.core.account import AccountKey, LoginKey, TokenKey
from threadline.core.errors import StorageError
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.web.feed.follower import FeedFollower
from threadline.web.feed.visibility_cache import VisibilityCache

log = logging.getLogger("threadline.web")

EVERY = timedelta(seconds=2)
"""How often it is looked."""
LOGGED_OUT = "logged out"


class FollowerExpiry:
    """Looks who may still follow: one question for each account, however many follow with it."""

    def __init__(
        self,
        store: Store,
        sight: VisibilityCache,
        followers: Callable[[], Collection[FeedFollower]],
        every: timedelta = EVERY,
    ) -> None:
        """Look after followers."""
        self._store = store
        self._sight = sight
        self._followers = followers
        self._every = every.total_seconds()

    async def run(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(self._every)
            try:
                await self.look()
            except StorageError as error:
                log.warning("Who may follow cannot be read: %s", error)

    async def look(self) -> None:
        """Look once, and end the streams of those who may follow no longer."""
        await self._look_at_accounts()
        heard: dict[Viewer, set[SessionId]] = {}
        for one in self._followers():
            interest = one.interest
            if interest.live and not interest.asker.sees_all:
                heard.setdefault(interest.asker, set()).update(interest.live)
        for asker, ids in heard.items():
            await self._sight.learn([asker], ids)
        self._sight.keep({one.interest.asker for one in self._followers()})

    async def _look_at_accounts(self) -> None:
        accounts: dict[AccountKey, list[FeedFollower]] = {}
        for one in self._followers():
            accounts.setdefault(one.interest.visitor.account.key, []).append(one)
        for account, following in accounts.items():
            logins, tokens = await self._valid(account)
            for one in following:
                visitor = one.interest.visitor
                has_login = visitor.login is None or visitor.login.key in logins
                has_token = visitor.token is None or visitor.token.key in tokens
                if not (has_login and has_token):
                    one.end(LOGGED_OUT)

    async def _valid(self, account: AccountKey) -> tuple[set[LoginKey], set[TokenKey]]:
        logins = {one.key for one in await self._store.logins(account)}
        tokens, now = await self._store.tokens(account), self._store.now()
        # Tokens whose time is over are listed, too.
        valid = {one.key for one in tokens if one.expires_at is None or one.expires_at > now}
        return logins, valid
