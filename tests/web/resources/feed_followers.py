"""Watching: what the owner and a member of a household are told live, without a server."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from tests.web.resources.sample_store import Household
from threadline.core.account import Account, AccountKey, TokenScope
from threadline.core.event import Cursor
from threadline.core.session import SessionId
from threadline.testing.stream_checker import Frame, Told, read_frames
from threadline.web.authentication import Caller
from threadline.web.feed.follower import FeedFollower, FollowerFilter
from threadline.web.feed.snapshot import SnapshotView, read_snapshot
from threadline.web.feed.sse_stream import write_stream

TALKS = ("talk", "undone", "compacted", "asking", "allowed", "waiting")
"""The conversations of the member, as the household calls them."""


class Watch:
    """Somebody who looks at conversations, and follows what becomes of them."""

    def __init__(self, household: Household, account: Account) -> None:
        """Look as somebody does who uses an account."""
        self._household = household
        self._account = account

    @classmethod
    async def of(cls, household: Household, name: str) -> "Watch":
        """Look as the owner or a member of the household."""
        key = AccountKey(int(household.inventory.things[name]))
        return cls(household, await household.store.account(key))

    async def snapshot(self) -> Told:
        """Read the conversations of the household, those that may be seen."""
        things = self._household.inventory.things
        ids = [SessionId(str(things[name])) for name in TALKS]
        seen = await read_snapshot(self._household.store, self._account.asker(), ids)
        told: Told = msgspec.to_builtins(SnapshotView.from_snapshot(seen))
        return told

    @asynccontextmanager
    async def follow(self, after: str) -> AsyncIterator[AsyncIterator[Frame]]:
        """Follow the feed from a place on."""
        visitor = Caller(account=self._account, scopes=frozenset(TokenScope))
        follower = FeedFollower(FollowerFilter(visitor=visitor, asker=self._account.asker()))
        pieces = write_stream(self._household.feed, follower, Cursor(after))
        try:
            yield read_frames(_lines(pieces))
        finally:
            self._household.feed.leave(follower)
            await pieces.aclose()


async def _lines(pieces: AsyncGenerator[bytes, None]) -> AsyncIterator[str]:
    async for piece in pieces:
        for line in piece.decode().split("\n")[:-1]:
            yield line
