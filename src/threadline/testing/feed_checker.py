"""Feed checker: proves that old snapshot + events == new snapshot."""

from collections.abc import Sequence

from msgspec.structs import replace

from threadline.core.event import Cursor, Event, fold
from threadline.core.session import SessionId
from threadline.store import Store, feed, queries
from threadline.store.feed import read_feed
from threadline.store.queries import list_queue
from threadline.store.sessions.session_list import Snapshot, snapshot

_MOST = 1000


class FeedWitness:
    """Looks at sessions before and after something happened, and at the events in between.

    It asserts that whoever follows the feed ends in the same state as whoever loads anew, that
    no event is missing, and that nothing a person can read changed without an event.
    """

    def __init__(self, store: Store) -> None:
        """Begin to watch a store."""
        self._store = store
        self._before: Snapshot | None = None
        self._contents: dict[SessionId, object] = {}

    async def verify(self, ids: Sequence[SessionId]) -> list[Event]:
        """Check everything since the last call; answer the events in between."""
        after = await self._store.database.read(snapshot, ids)
        contents = {id: await self._content(id) for id in ids}
        events: list[Event] = []
        if self._before is not None:
            events = await self._events(self._before.as_of, frozenset(ids))
            self._check_fold(self._before, events, after)
            self._check_revisions(self._before, events, after)
            self._check_contents(self._before, after, contents)
        self._before, self._contents = after, contents
        return events

    async def _events(self, since: Cursor, ids: frozenset[SessionId]) -> list[Event]:
        """Read what happened to these sessions; the store is at rest meanwhile."""
        events: list[Event] = []
        while True:
            page = await self._store.database.read(read_feed, since, feed.PAGE)
            events += [event for event in page.events if event.session_id in ids]
            since = page.cursor
            if not page.events and not page.is_behind:
                return events

    @staticmethod
    def _check_fold(before: Snapshot, events: list[Event], after: Snapshot) -> None:
        folded = fold(before.glimpses, events)
        for id, glimpse in after.glimpses.items():
            seen = folded[id]
            assert seen.shown() == glimpse.shown(), (id, seen.shown(), glimpse.shown())
            assert seen.last_seq == glimpse.last_seq, (id, seen.last_seq, glimpse.last_seq)
            assert seen.revision == glimpse.revision, (id, seen.revision, glimpse.revision)

    @staticmethod
    def _check_revisions(before: Snapshot, events: list[Event], after: Snapshot) -> None:
        for id, glimpse in after.glimpses.items():
            old = before.glimpses[id].revision if id in before.glimpses else 0
            told = sorted(
                event.revision
                for event in events
                if event.session_id == id and event.revision > old
            )
            assert told == list(range(old + 1, glimpse.revision + 1)), (id, old, told)

    def _check_contents(
        self, before: Snapshot, after: Snapshot, contents: dict[SessionId, object]
    ) -> None:
        for id, content in contents.items():
            if id in before.glimpses and content != self._contents[id]:
                old, new = before.glimpses[id].revision, after.glimpses[id].revision
                assert new > old, f"{id} changed without an event"

    async def _content(self, id: SessionId) -> object:
        """Answer everything that a person can read of a session. Leases are nobody's reading."""
        session = await self._store.database.read(queries.read_session, id)
        turns = [
            replace(turn, owner=None, lease_until=None)
            for turn in await self._store.database.read(queries.turns, id, _MOST)
        ]
        transcript = await self._store.database.read(queries.transcript, id, most=_MOST)
        return session, turns, transcript, await self._store.database.read(list_queue, id)
