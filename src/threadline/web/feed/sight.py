"""Sight: who may see which session, asked of the store once for all who follow as the same."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple

from threadline.core.event import Event, EventKind
from threadline.core.person import Asker
from threadline.core.session import SessionId
from threadline.sessions.store import Store

REMEMBERED = timedelta(seconds=5)
"""How long it is believed what somebody may see who does not see everything."""
SESSIONS_LIMIT = 20_000
"""Sessions that are remembered of each asker."""


class _Known(NamedTuple):
    """What the store said of one session."""

    is_seen: bool
    at: float
    doubts: int
    """How often everything had been doubted when it was asked."""


class Sight:
    """Remembers what askers may see; people are joined and parted, so not for long."""

    def __init__(
        self,
        store: Store,
        on_lost: Callable[[Asker], None],
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing known; `on_lost` hears who may not see any more what they saw."""
        self._store = store
        self._on_lost = on_lost
        self._ticks = ticks
        self._doubts = 0
        self._known: dict[Asker, dict[SessionId, _Known]] = {}

    def missing(self, asker: Asker, ids: Iterable[SessionId]) -> set[SessionId]:
        """Name those sessions of which it has to be asked whether they may be seen."""
        known, since = self._known.get(asker, {}), self._since()
        if asker.sees_all:
            # What an owner sees follows from the profile, which never changes.
            return {id for id in ids if id not in known}
        return {id for id in ids if not self._is_fresh(known.get(id), since)}

    async def learn(self, askers: Collection[Asker], ids: Collection[SessionId]) -> None:
        """Ask the store what some askers may see of some sessions, all at once."""
        if not ids:
            return
        doubts = self._doubts
        for asker, seen in (await self._store.seen_by(askers, ids)).items():
            self._remember(asker, ids, seen, doubts)

    def select(self, asker: Asker, events: Iterable[Event]) -> Iterator[bool]:
        """Tell of each event whether somebody is told; its session has been learned of before."""
        known = self._known.get(asker, {})
        for event in events:
            if event.session_id is None:
                yield asker.sees_all
            elif event.kind is EventKind.SESSION_FORGOTTEN and asker.sees_all:
                yield True
            else:
                found = known.get(event.session_id)
                yield found is not None and found.is_seen

    def is_blind(self, asker: Asker, events: Collection[Event]) -> bool:
        """Tell whether a session is gone of which nobody can say any more whose it was."""
        gone = [event for event in events if event.kind is EventKind.SESSION_FORGOTTEN]
        return not all(self.select(asker, gone))

    def keep(self, askers: Collection[Asker]) -> None:
        """Remember nothing more of anybody else, and of these nothing that counts no longer."""
        for asker in self._known.keys() - askers:
            del self._known[asker]
        since = self._since()
        for asker, known in self._known.items():
            if not asker.sees_all:
                # What was seen is kept: that it goes out of sight has to be told.
                self._known[asker] = {
                    id: found
                    for id, found in known.items()
                    if found.is_seen or self._is_fresh(found, since)
                }

    def forget(self, asker: Asker) -> None:
        """Remember nothing more of somebody who follows no longer."""
        self._known.pop(asker, None)

    def doubt(self) -> None:
        """Ask everything again of those who do not see everything."""
        self._doubts += 1

    def _remember(
        self, asker: Asker, ids: Collection[SessionId], seen: Collection[SessionId], doubts: int
    ) -> None:
        known, now = self._known.setdefault(asker, {}), self._ticks()
        yes, no = _Known(True, now, doubts), _Known(False, now, doubts)
        is_lost = False
        for id in ids:
            before = known.pop(id, no)  # so that those go first that were not asked for long
            known[id] = yes if id in seen else no
            is_lost |= before.is_seen and id not in seen
        for id in list(known)[: max(len(known) - SESSIONS_LIMIT, 0)]:
            del known[id]
        if is_lost:
            self._on_lost(asker)

    def _since(self) -> float:
        return self._ticks() - REMEMBERED.total_seconds()

    def _is_fresh(self, found: _Known | None, since: float) -> bool:
        return found is not None and found.doubts == self._doubts and found.at > since


def sessions_of(events: Iterable[Event]) -> set[SessionId]:
    """Name the sessions of events; of one that is gone nothing can be asked."""
    told = (event for event in events if event.kind is not EventKind.SESSION_FORGOTTEN)
    return {event.session_id for event in told if event.session_id is not None}
