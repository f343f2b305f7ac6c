"""Kills of a whole gateway: it serves and dies, and everything that people saw is looked at."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.crash.acknowledged import Problem
from tests.crash.dying_database import Step
from tests.crash.gateway.chat_platform import Exchange
from tests.crash.gateway.invariants import Casualties, broken_at_once, broken_in_the_end, is_at_rest
from tests.crash.gateway.process_starter import Nursery, nursery
from tests.crash.verify import broken_laws, looking

_LONGEST = 0.7
"""Seconds that a gateway may serve before it is killed."""
_REST_WITHIN = 600.0


@dataclass(slots=True)
class ServingVictim:
    """One store and one exchange over the lives of many gateways."""

    where: str
    seed: int
    url: str
    exchange: Exchange
    nursery: Nursery
    longest: float = _LONGEST
    door: str = ""
    """Where gateways reach the store, if that is not `where`: through a proxy."""
    options: dict[str, object] = field(default_factory=dict)
    """What a child is told beside the rest."""
    kills: int = 0
    casualties: Casualties = field(default_factory=Casualties)

    async def kill(self, step: Step | None = None) -> list[Problem]:
        """Let a gateway serve and die, at a random moment or at a step; answer what is wrong."""
        self.kills += 1
        dice = random.Random(f"{self.seed} {self.kills}")
        await self.start(self.nursery, step)
        if step is not None:
            await self.nursery.death()
            return self.look()
        # Some die while they start; the first has to make the store.
        if dice.random() < 0.9 or self.kills == 1:
            await self.nursery.ready()
        await asyncio.sleep(dice.random() * self.longest)
        await self.nursery.kill()
        return self.look()

    async def rest(self) -> list[Problem]:
        """Let a last gateway serve until everything is at rest; answer what is wrong then."""
        await self.start(self.nursery)
        await self.nursery.ready()
        await self.calm_down()
        await self.nursery.kill()
        self.exchange.refresh()
        with looking(self.where) as look:
            self.casualties.count(look)
            ended = broken_in_the_end(look, self.exchange, self.casualties)
            return [*broken_laws(look), *ended]

    async def start(self, nursery: Nursery, step: Step | None = None) -> None:
        """Let a gateway begin to serve, and people ask on."""
        self.exchange.is_calm = False
        self.exchange.round += 1
        seed = self.seed + self.exchange.round
        await nursery.bear(self.door or self.where, self.url, seed, step, self.options)

    async def calm_down(self) -> None:
        """Let nobody ask more until the next gateway starts, and wait until everything is at rest.

        What is not at rest is found later.
        """
        self.exchange.is_calm = True
        over = time.monotonic() + _REST_WITHIN
        while not self._is_at_rest() and time.monotonic() < over:
            await asyncio.sleep(0.1)

    def look(self, *, count: bool = True) -> list[Problem]:
        """Return what is wrong now; `count` what was in hand if no gateway serves any more."""
        self.exchange.refresh()
        with looking(self.where) as look:
            if count:
                self.casualties.count(look)
            return [*broken_laws(look), *broken_at_once(look, self.exchange)]

    def _is_at_rest(self) -> bool:
        with looking(self.where) as look:
            return is_at_rest(look, self.exchange)


@asynccontextmanager
async def serving_victim(where: str, seed: int) -> AsyncIterator[ServingVictim]:
    """Have an exchange, and a nursery for the gateways that serve it."""
    exchange = Exchange()
    async with exchange.open() as url, nursery() as born:
        yield ServingVictim(where, seed, url, exchange, born)
