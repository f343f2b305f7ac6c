"""Visibility cache: who may see which session or job, read once for equal viewers."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from threadline.core.account import AccountKey, member_of
from threadline.core.event import Event, EventKind
from threadline.core.job import JobId
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store

REMEMBERED = timedelta(seconds=5)
"""How long it is believed what somebody may see who does not see everything."""
THINGS_LIMIT = 20_000
"""Sessions and jobs that are remembered of each asker."""

Thing: TypeAlias = SessionId | JobId
"""What is somebody's, or not."""


class _Known(NamedTuple):
    """What the store said of one session or job."""

    is_seen: bool
    at: float
    doubts: int
    """How often everything had been doubted when it was asked."""
    is_lost: bool = False
    """Whether it was gone before anybody asked whose it is."""


class VisibilityCache:
    """Remembers what askers may see; people are joined and parted, so not for long."""

    def __init__(
        self,
        store: Store,
        on_lost: Callable[[Viewer], None],
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing known; `on_lost` hears who may not see any more what they saw."""
        self._store = store
        self._on_lost = on_lost
        self._ticks = ticks
        self._doubts = 0
        self._known: dict[Viewer, dict[Thing, _Known]] = {}

    def missing(self, asker: Viewer, ids: Iterable[Thing]) -> set[Thing]:
        """Name those sessions and jobs of which it has to be asked whether they may be seen."""
        known, since = self._known.get(asker, {}), self._since()
        if asker.sees_all:
            # What an owner sees of sessions follows from the profile, which never changes; of
            # what belongs to none they see everything.
            return {id for id in ids if id not in known and isinstance(id, str)}
        return {id for id in ids if not self._is_fresh(known.get(id), since)}

    async def learn(self, askers: Collection[Viewer], ids: Collection[Thing]) -> None:
        """Ask the store what some askers may see of some sessions and jobs, all at once."""
        doubts = self._doubts
        sessions = [id for id in ids if isinstance(id, str)]
        jobs = {id for id in ids if isinstance(id, int)}
        if sessions:
            for asker, seen in (await self._store.seen_by(askers, sessions)).items():
                self._remember(asker, sessions, seen, doubts)
        if jobs:
            known = await self._store.jobs_seen_by(askers, jobs)
            for asker, own in known.seen.items():
                self._remember(asker, known.there, own, doubts)
                if not asker.sees_all:
                    self._remember_gone(asker, jobs - known.there, doubts)

    def select(self, asker: Viewer, events: Iterable[Event]) -> Iterator[bool]:
        """Tell of each event whether somebody is told; its thing has been learned of before."""
        known, account = self._known.get(asker, {}), _account_of(asker)
        for event in events:
            thing = _thing_of(event)
            if asker.sees_all and (event.session_id is None or _is_end(event)):
                yield True
            elif thing is None:
                is_own = account is not None and event.subject == account
                yield is_own and event.kind is EventKind.ACCOUNT_CHANGED
            else:
                found = known.get(thing)
                yield found is not None and found.is_seen

    def is_blind(self, asker: Viewer, events: Collection[Event]) -> bool:
        """Tell whether something is gone of which nobody can say any more whose it was."""
        known = self._known.get(asker, {})
        asked = [known.get(thing) for thing in things_of(events)]
        is_lost = any(found is not None and found.is_lost for found in asked)
        return is_lost or not all(self.select(asker, filter(_is_end, events)))

    def keep(self, askers: Collection[Viewer]) -> None:
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

    def forget(self, asker: Viewer) -> None:
        """Remember nothing more of somebody who follows no longer."""
        self._known.pop(asker, None)

    def doubt(self) -> None:
        """Ask everything again of those who do not see everything."""
        self._doubts += 1

    def _remember(
        self, asker: Viewer, ids: Collection[Thing], seen: Collection[Thing], doubts: int
    ) -> None:
        known, now = self._known.setdefault(asker, {}), self._ticks()
        yes, no = _Known(True, now, doubts), _Known(False, now, doubts)
        is_lost = False
        for id in ids:
            before = known.pop(id, no)  # so that those go first that were not asked for long
            known[id] = yes if id in seen else no
            is_lost |= before.is_seen and id not in seen
        for id in list(known)[: max(len(known) - THINGS_LIMIT, 0)]:
            del known[id]
        if is_lost:
            self._on_lost(asker)

    def _remember_gone(self, asker: Viewer, ids: Collection[JobId], doubts: int) -> None:
        """Believe of jobs that are gone what was known of them while they were there."""
        known, now = self._known.setdefault(asker, {}), self._ticks()
        for id in ids:
            before = known.get(id, _Known(False, now, doubts, is_lost=True))
            known[id] = before._replace(at=now, doubts=doubts)

    def _since(self) -> float:
        return self._ticks() - REMEMBERED.total_seconds()

    def _is_fresh(self, found: _Known | None, since: float) -> bool:
        return found is not None and found.doubts == self._doubts and found.at > since


def things_of(events: Iterable[Event]) -> set[Thing]:
    """Name the sessions and jobs of events; of a session that is gone nothing can be asked."""
    things = (_thing_of(event) for event in events if not _is_end(event))
    return {thing for thing in things if thing is not None}


def _thing_of(event: Event) -> Thing | None:
    if event.kind is EventKind.JOB_CHANGED and event.subject is not None:
        return JobId(event.subject)
    return event.session_id


def _is_end(event: Event) -> bool:
    return event.kind is EventKind.SESSION_FORGOTTEN


def _account_of(asker: Viewer) -> AccountKey | None:
    """Tell which member asks; None: it is nobody of the web app, or its owner."""
    address, id = asker.address, asker.sender.id
    return None if address is None or id is None else member_of(address.platform, id)
