"""A vigil: whoever is logged out, or may not see any more what they hear, follows no longer."""

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import timedelta

from threadline.core.account import AccountKey, LoginKey, TokenKey
from threadline.core.errors import StorageError
from threadline.sessions.store import Store
from threadline.web.feed.follower import Follower
from threadline.web.feed.sight import Sight

log = logging.getLogger("threadline.web")

EVERY = timedelta(seconds=2)
"""How often it is looked."""
LOGGED_OUT = "logged out"


class Vigil:
    """Looks who may still follow: one question for each account, however many follow with it."""

    def __init__(
        self,
        store: Store,
        sight: Sight,
        followers: Callable[[], Collection[Follower]],
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
        following = list(self._followers())
        await self._look_at_accounts(following)
        for one in following:
            interest = one.interest
            if interest.live and not interest.asker.sees_all:
                await self._sight.learn(interest.asker, interest.live)

    async def _look_at_accounts(self, following: Collection[Follower]) -> None:
        for account in {one.interest.visitor.account.key for one in following}:
            logins, tokens = await self._valid(account)
            for one in following:
                visitor = one.interest.visitor
                has_login = visitor.login is None or visitor.login.key in logins
                has_token = visitor.token is None or visitor.token.key in tokens
                if visitor.account.key == account and not (has_login and has_token):
                    one.end(LOGGED_OUT)

    async def _valid(self, account: AccountKey) -> tuple[set[LoginKey], set[TokenKey]]:
        logins = {one.key for one in await self._store.logins(account)}
        return logins, {one.key for one in await self._store.tokens(account)}
