"""Sight: who may see which session, asked of the store once for all who follow as the same."""

import time
from collections.abc import Callable, Collection, Iterable
from datetime import timedelta

from threadline.core.event import Event, EventKind
from threadline.core.person import Asker
from threadline.core.session import SessionId
from threadline.sessions.store import Store

REMEMBERED = timedelta(seconds=5)
"""How long it is believed what somebody may see who does not see everything."""
SESSIONS_LIMIT = 20_000
"""Sessions that are remembered of each asker."""


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
        self._known: dict[Asker, dict[SessionId, tuple[bool, float]]] = {}

    def missing(self, asker: Asker, events: Iterable[Event]) -> set[SessionId]:
        """Name the sessions of events of which it has to be asked whether they may be seen."""
        # Of a session that is gone nothing can be asked.
        ids = {e.session_id for e in events if e.kind is not EventKind.SESSION_FORGOTTEN}
        return {id for id in ids if id is not None and not self._is_fresh(asker, id)}

    async def learn(self, asker: Asker, ids: Collection[SessionId]) -> None:
        """Ask the store about sessions, all at once."""
        if not ids:
            return
        seen = await self._store.seen(asker, ids)
        known = self._known.setdefault(asker, {})
        before = {id for id in ids if known.pop(id, (False, 0.0))[0]}
        known.update({id: (id in seen, self._ticks()) for id in ids})
        for id in list(known)[: max(len(known) - SESSIONS_LIMIT, 0)]:
            del known[id]
        if before - seen:
            self._on_lost(asker)

    def sees(self, asker: Asker, event: Event) -> bool:
        """Tell whether somebody is told of an event; its session has been learned of before."""
        if event.session_id is None:
            return asker.sees_all
        if event.kind is EventKind.SESSION_FORGOTTEN and asker.sees_all:
            return True
        return self._known.get(asker, {}).get(event.session_id, (False, 0.0))[0]

    def is_blind(self, asker: Asker, event: Event) -> bool:
        """Tell whether a session is gone of which nobody can say any more whose it was."""
        return event.kind is EventKind.SESSION_FORGOTTEN and not self.sees(asker, event)

    def forget(self, asker: Asker) -> None:
        """Remember nothing more of somebody who follows no longer."""
        self._known.pop(asker, None)

    def doubt(self) -> None:
        """Ask everything again of those who do not see everything."""
        for asker, known in self._known.items():
            if not asker.sees_all:
                self._known[asker] = {id: (seen, float("-inf")) for id, (seen, _) in known.items()}

    def _is_fresh(self, asker: Asker, id: SessionId) -> bool:
        found = self._known.get(asker, {}).get(id)
        if found is None:
            return False
        # What an owner sees follows from the profile, which never changes.
        return asker.sees_all or self._ticks() - found[1] < REMEMBERED.total_seconds()
