"""Kills: a child at work dies, the store is opened again, and everything is looked at."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import threadline
from tests.crash.acknowledged import Ledger, Problem, Trouble
from tests.crash.dying_database import ENVIRONMENT, Step
from tests.crash.load_child import rules_of
from tests.crash.verify import broken_feed, broken_laws, broken_promises, looking
from threadline.core.event import Cursor, Event
from threadline.core.turn import TurnId
from threadline.store import Store
from threadline.store.feed import read_feed

START = Cursor("0.0")
_LONGEST = 0.200
_LONGEST_AWAY = 0.800
"""Seconds that a child may work; with a server there are more hops, and each takes its time."""
_NOTICE_WITHIN = 5.0
"""Seconds: PostgreSQL sees a killed client when it next looks at its socket. A lease is 60."""


@dataclass(slots=True)
class Victim:
    """One store over many kills, so that its history grows."""

    where: str
    seed: int
    kills: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    cursor: Cursor = START
    revisions: dict[str, int] = field(default_factory=dict)

    async def kill(self, step: Step | None = None, *, whole: bool = False) -> list[Problem]:
        """Let a child work and die, at a random moment or at a step; answer what is wrong then.

        In every second round this process has the store open meanwhile, and outlives the other.
        """
        self.kills += 1
        heard = Ledger()
        dice = random.Random(f"{self.seed} {self.kills}")
        if self.kills % 2:
            heard.hear(self._run(dice, step))
            async with self._opened() as store:
                return await self._examine(store, heard, whole=whole)
        async with self._opened() as store:
            heard.hear(self._run(dice, step))
            return await self._examine(store, heard, whole=whole)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Store]:
        """Open the store as any start does: there is no step that repairs anything."""
        async with threadline.open(self.where, rules=rules_of(self.seed)) as store:
            yield store

    def _run(self, dice: random.Random, step: Step | None) -> Sequence[bytes]:
        seed = dice.randrange(2**31)
        longest = _LONGEST_AWAY if self.where.startswith("postgresql:") else _LONGEST
        arguments = (self.where, str(seed), str(self.kills), self.cursor)
        wish = {} if step is None else {ENVIRONMENT: str(step)}
        with subprocess.Popen(
            (sys.executable, "-m", "tests.crash.load_child", *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | wish,
            bufsize=0,
        ) as child:
            try:
                if step is not None:
                    return _said(child, 30.0)
                if dice.random() < 0.1:
                    # Also while it starts and opens the store.
                    return _killed(child, 0.1 + dice.random() * longest)
                assert child.stdout is not None
                ready = child.stdout.readline()
                return [ready, *_killed(child, 0.001 + dice.random() * longest)]
            finally:
                child.kill()

    async def _examine(self, store: Store, heard: Ledger, *, whole: bool) -> list[Problem]:
        problems = [*heard.problems, *await self._restart(store)]
        events = await _events_since(store, self.cursor)
        problems += _broken_follower(events, heard.saw)
        problems += broken_feed(events, self.revisions)
        self.ledger.add(heard)
        with looking(self.where) as look:
            problems += broken_laws(look)
            problems += broken_promises(look, self.ledger if whole else heard)
            for id, revision in look("SELECT id, revision FROM sessions"):
                if self.revisions.get(str(id)) != revision:
                    problems.append(Problem(trouble=Trouble.LOST, what=f"feed's end for {id!r}"))
        problems += [
            Problem(trouble=Trouble.DISORDER, what=f"check: {finding.what}")
            for finding in await store.check(deep=True)
            if finding.grave
        ]
        if events:
            self.cursor = events[-1].cursor
        return problems

    async def _restart(self, store: Store) -> list[Problem]:
        """Do what every start does, and see that no dead owner is taken for a living one."""
        over = time.monotonic() + _NOTICE_WITHIN
        await store.turns.interrupt_dead()
        await store.deliveries.recover()
        while (held := self._held(store)) and time.monotonic() < over:
            time.sleep(0.01)
            await store.turns.interrupt_dead()
            await store.deliveries.recover()
        while (recovery := await store.turns.recover()).resumed or recovery.failed:
            pass
        # Nobody is left who remembers these questions.
        with looking(self.where) as look:
            waiting = look("SELECT id FROM turns WHERE state = 'waiting'")
        for (id,) in waiting:
            assert isinstance(id, int)
            await store.turns.answer(TurnId(id), "yes")
        return [Problem(trouble=Trouble.DISORDER, what=f"{id} held by the dead") for id in held]

    def _held(self, store: Store) -> list[str]:
        with looking(self.where) as look:
            rows = look(
                "SELECT id, owner FROM turns WHERE owner IS NOT NULL UNION ALL "
                "SELECT id, owner FROM deliveries WHERE owner IS NOT NULL"
            )
        return [f"{id!r} ({owner!r})" for id, owner in rows if owner != store.owner]


def _killed(child: "subprocess.Popen[bytes]", after: float) -> list[bytes]:
    """Kill a child after a while; answer all it had said."""
    try:
        child.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        child.kill()
    return _said(child)


def _said(child: "subprocess.Popen[bytes]", timeout: float | None = None) -> list[bytes]:
    """Wait for the death of a child; answer what it said, unless it died another way."""
    said, complaint = child.communicate(timeout=timeout)
    assert child.returncode == -signal.SIGKILL, f"The child ended by itself: {complaint.decode()}"
    return said.splitlines(keepends=True)


def _broken_follower(events: Sequence[Event], saw: tuple[str, int] | None) -> list[Problem]:
    """Compare the feed, read as a whole, with what the child's follower saw of it while it grew."""
    if saw is None:
        return []
    cursor, count = saw
    places = [event.cursor for event in events]
    if cursor in places and places.index(Cursor(cursor)) + 1 == count:
        return []
    what = f"a follower saw {count} events up to {cursor}, and there are others"
    return [Problem(trouble=Trouble.LOST, what=what)]


async def _events_since(store: Store, cursor: Cursor) -> list[Event]:
    """Read the feed to its end, also where older transactions hold it back for a moment."""
    events: list[Event] = []
    for _ in range(500):
        page = await store.database.read(read_feed, cursor)
        events += page.events
        cursor = page.cursor
        if not page.events and not page.is_behind:
            break
        if not page.events:
            await asyncio.sleep(0.01)
    return events
