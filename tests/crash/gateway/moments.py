"""Moments: the ways in which gateways are killed, and what goes wrong around it each time."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import TypeAlias

from tests.crash.acknowledged import Problem, Trouble
from tests.crash.gateway.chat_platform import PLATFORMS, STAYS, Exchange, Hold
from tests.crash.gateway.conditions import UNLIMITED, Conditions, made_conditions
from tests.crash.gateway.invariants import asked_again
from tests.crash.gateway.kill_runs import ServingVictim
from tests.crash.gateway.process_starter import Nursery, nursery
from tests.crash.gateway.server import (
    Proxy,
    folder_of,
    has_clients,
    make_clock_adjustable,
    shift_clock,
    through,
)
from tests.crash.gateway.takeover import Held, held_by, leased_to, still_held, takeovers
from tests.crash.verify import looking
from threadline.core.database_url import is_server
from threadline.gateway.intervals import Intervals
from threadline.testing.deadline import HANG_SECONDS

LEASE = 2.0
"""Seconds of a lease where it is to expire."""
DISK_LEASE = 20.0
"""Seconds of a lease where it is not to expire; after it an answer that was dropped shows."""
RECOVER = Intervals().recover.total_seconds()
"""Takeover is measured at the pace that users have."""
QUEUE_CAP = 3
JUMPS = (timedelta(days=1), timedelta(days=8))
_MAX_CRASHES = 4
"""So many crashes may fall into one send; a reply is sent again up to five times."""
_WITHIN = HANG_SECONDS
"""Seconds after which a wait goes on without what it waited for; the laws find out."""


@dataclass(slots=True)
class Scene:
    """One store with its gateways, its users, and what can be done to them."""

    victim: ServingVictim
    conditions: Conditions
    other: Nursery
    proxy: Proxy | None
    """In front of PostgreSQL, where a moment cuts connections."""
    strikes: int = 0
    problems: list[Problem] = field(default_factory=list)
    """What went wrong during a strike."""
    takeovers: list[float] = field(default_factory=list)
    """Seconds from the death of a gateway to the next claim of what it ran."""
    _owners: dict[Nursery, str] = field(default_factory=dict)

    @property
    def is_on_server(self) -> bool:
        """Whether the store is on PostgreSQL, and not a file."""
        return is_server(self.victim.where)

    @property
    def exchange(self) -> Exchange:
        return self.victim.exchange

    async def serve(self, who: Nursery | None = None) -> str:
        """Start a gateway; return the name under which it holds leases."""
        who = who or self.victim.nursery
        await self.victim.start(who)
        self._owners[who] = await who.ready()
        return self._owners[who]

    async def serve_both(self) -> None:
        """Start whichever of the two gateways does not run."""
        for who in (self.victim.nursery, self.other):
            if not who.is_serving:
                await self.serve(who)

    async def kill(self, who: Nursery | None = None) -> None:
        """Kill a gateway with kill -9, and note what it had in hand."""
        who = who or self.victim.nursery
        await who.kill()
        self.victim.kills += 1
        if self.is_on_server and self.other is self.victim.nursery:
            # The server may still be carrying out what it was told last.
            await self.eventually(lambda: not has_clients(self.victim.where))
        with looking(self.victim.where) as look:
            self.victim.casualties.count(look, self._owners[who])

    def owner_of(self, who: Nursery) -> str:
        """Return the name under which a gateway holds leases."""
        return self._owners[who]

    def fill_disk(self, room: int) -> None:
        """Leave so many bytes on the disk; cut and refuse all connections to PostgreSQL."""
        if self.proxy is None:
            self.conditions.room = room
        else:
            self.proxy.cut()

    def free_disk(self) -> None:
        """Undo `fill_disk`."""
        self.conditions.room = UNLIMITED
        if self.proxy is not None:
            self.proxy.mend()

    async def set_clock(self, ahead: timedelta) -> None:
        """Set how far the clock is ahead: the gateway's own, or the server's."""
        self.conditions.clock_shift = ahead
        if self.is_on_server:
            await asyncio.to_thread(shift_clock, self.victim.where, ahead)

    def running(self) -> set[int]:
        """Return the turns that are running."""
        with looking(self.victim.where) as look:
            return {int(str(id)) for (id,) in look("SELECT id FROM turns WHERE state = 'running'")}

    async def until_shown(self, more: int) -> None:
        """Wait until people have seen so many more messages, for a while."""
        wanted = len(self.exchange.shown) + more
        await self.eventually(lambda: len(self.exchange.shown) >= wanted)

    async def eventually(self, condition: Callable[[], bool], within: float = _WITHIN) -> bool:
        """Wait for a condition; return whether it came true in time."""
        try:
            await self.exchange.until(condition, within)
        except TimeoutError:
            return False
        return True


Strike: TypeAlias = Callable[[Scene, random.Random], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One way in which gateways are killed."""

    text: str
    """What happens, for the help text."""
    strike: Strike
    options: Mapping[str, object] = field(default_factory=dict)
    conversations: int = 50
    ahead: int = 3
    gateways: int = 1
    cuts: bool = False
    """Connections to PostgreSQL are cut, so a proxy stands before it. It costs time."""


async def kill_at_random(scene: Scene, dice: random.Random) -> None:
    """Kill a gateway at any time."""
    await scene.serve()
    await asyncio.sleep(dice.random() * scene.victim.longest)
    await scene.kill()


async def fill_disk(scene: Scene, dice: random.Random) -> None:
    """Fill the disk for a while, free it, and kill the gateway then or before."""
    await scene.serve()
    await scene.until_shown(dice.randrange(30))
    scene.fill_disk(dice.choice([0, 5_000, 50_000]))
    await asyncio.sleep(dice.random() * 2.5)
    if dice.random() < 0.7:
        running = scene.running()
        scene.free_disk()
        # What an agent said in the meantime is stored, and nobody has to ask it again.
        await scene.eventually(lambda: not running & scene.running(), DISK_LEASE * 2)
        await scene.until_shown(dice.randrange(30))
    await scene.kill()
    scene.free_disk()


async def jump_clock(scene: Scene, dice: random.Random) -> None:
    """Set the clock ahead by a day or eight and back while serving, with a kill in between."""
    await scene.serve()
    await scene.until_shown(dice.randrange(30))
    await scene.set_clock(dice.choice(JUMPS))
    await scene.until_shown(dice.randrange(30))
    if dice.random() < 0.5:
        # The machine starts again with the right time.
        await scene.kill()
        await scene.set_clock(timedelta(0))
        await scene.serve()
    await scene.set_clock(timedelta(0))
    await scene.until_shown(dice.randrange(30))
    await scene.kill()


async def refuse(scene: Scene, dice: random.Random) -> None:
    """Kill a gateway while people write more than may wait, and send again what was refused."""
    refused = len(scene.exchange.refused)
    await scene.serve()
    is_refused = await scene.eventually(lambda: len(scene.exchange.refused) > refused)
    assert is_refused, "No message was refused, although more are sent than may wait"
    await asyncio.sleep(dice.random() * scene.victim.longest)
    await scene.kill()


async def crash_while_sending(scene: Scene, dice: random.Random) -> None:
    """Kill a gateway while the platform keeps it waiting, then the next one over the same reply."""
    platform = STAYS if dice.random() < 0.7 else dice.choice(PLATFORMS)
    delivery: int | None = None
    for _ in range(dice.randint(2, _MAX_CRASHES)):
        hold = Hold(platform=platform, is_seen=dice.random() < 0.7, delivery=delivery)
        scene.exchange.hold = hold
        await scene.serve()
        await scene.eventually(lambda: hold.is_holding or _is_over(scene, hold.delivery))  # noqa: B023
        await scene.kill()
        scene.exchange.hold = None
        hold.released.set()
        delivery = hold.delivery


def _is_over(scene: Scene, delivery: int | None) -> bool:
    """Return whether a delivery is not going to be tried any more."""
    if delivery is None:
        return False
    with looking(scene.victim.where) as look:
        rows = look(f"SELECT state FROM deliveries WHERE id = {delivery}")
    return rows != [] and rows[0][0] not in {"pending", "sending"}


async def kill_one_of_two(scene: Scene, dice: random.Random) -> None:
    """Kill one of two gateways, and wait until the other has taken over what it ran."""
    await scene.serve_both()
    who = dice.choice([scene.victim.nursery, scene.other])
    await asyncio.sleep(dice.random() * scene.victim.longest)
    await _until_busy(scene, who)
    await scene.kill(who)
    died_at = time.time()
    with looking(scene.victim.where) as look:
        held = held_by(look, scene.owner_of(who), died_at)
    if not await _taken_over(scene, held):
        what = f"turns of a killed gateway not taken over within {_WITHIN:g} s: {held}"
        scene.problems.append(Problem(trouble=Trouble.LOST, what=what))


async def stop_one_of_two(scene: Scene, dice: random.Random) -> None:
    """Stop one of two gateways until its leases are over and the other took over; wake it again."""
    await scene.serve_both()
    who = dice.choice([scene.victim.nursery, scene.other])
    await asyncio.sleep(dice.random() * scene.victim.longest)
    await _until_busy(scene, who)
    who.stop()
    scene.victim.kills += 1
    with looking(scene.victim.where) as look:
        held = leased_to(look, scene.owner_of(who))
        scene.victim.casualties.count(look, scene.owner_of(who))
    if dice.random() < 0.8:
        # A process that was stopped inside a transaction holds SQLite's lock, so not for ever.
        await asyncio.sleep(LEASE * (1 + dice.random()))
        who.resume()
    else:
        await asyncio.sleep(LEASE * dice.random())
        await scene.kill(who)
    await _taken_over(scene, held)
    if dice.random() < 0.5:
        await scene.kill(dice.choice([one for one in _both(scene) if one.is_serving]))


def _both(scene: Scene) -> list[Nursery]:
    return [scene.victim.nursery, scene.other]


async def _until_busy(scene: Scene, who: Nursery) -> None:
    """Wait until a gateway runs a turn."""
    running = f"SELECT id FROM turns WHERE state = 'running' AND owner = '{scene.owner_of(who)}'"

    def is_busy() -> bool:
        with looking(scene.victim.where) as look:
            return bool(look(running))

    await scene.eventually(is_busy)


async def _taken_over(scene: Scene, held: list[Held]) -> bool:
    """Wait until all turns of a gateway are taken over; return whether that came to pass."""

    def is_over() -> bool:
        with looking(scene.victim.where) as look:
            return not still_held(look, held)

    is_taken = await scene.eventually(is_over)
    with looking(scene.victim.where) as look:
        scene.takeovers += takeovers(look, held)
    return is_taken


MOMENTS: Mapping[str, Moment] = MappingProxyType(
    {
        "random": Moment(text="kill -9 at any time", strike=kill_at_random),
        "disk": Moment(
            text="the disk is full for a while (PostgreSQL: connections are cut and refused)",
            strike=fill_disk,
            options={"lease": DISK_LEASE},
            cuts=True,
        ),
        "clock": Moment(
            text="the clock jumps a day or eight ahead, and back (PostgreSQL: the server's)",
            strike=jump_clock,
        ),
        "refused": Moment(
            text=f"more than {QUEUE_CAP} messages wait; refused ones are sent again, same id",
            strike=refuse,
            options={"queue_cap": QUEUE_CAP},
            conversations=10,
            ahead=10,
        ),
        "sending": Moment(
            text=f"two to {_MAX_CRASHES} crashes while the platform holds one and the same send",
            strike=crash_while_sending,
        ),
        "two-kill": Moment(
            text="two gateways at one store, one is killed",
            strike=kill_one_of_two,
            options={"recover": RECOVER},
            gateways=2,
        ),
        "two-stop": Moment(
            text=f"two gateways, one is stopped (SIGSTOP) past its lease of {LEASE:g} s, and wakes",
            strike=stop_one_of_two,
            options={"lease": LEASE, "recover": RECOVER},
            gateways=2,
        ),
    }
)


async def strike(moment: Moment, scene: Scene) -> list[Problem]:
    """Do it once; return what is wrong then."""
    scene.strikes += 1
    await moment.strike(scene, random.Random(f"{scene.victim.seed} {scene.strikes}"))
    problems, scene.problems = scene.problems, []
    return problems + scene.victim.look(count=False)


async def settle(moment: Moment, scene: Scene) -> list[Problem]:
    """Kill all gateways, start a last one, and return what is wrong when all work is done."""
    for who in _both(scene):
        if who.is_serving:
            await scene.kill(who)
    problems = await scene.victim.rest()
    if moment.gateways == 1:
        with looking(scene.victim.where) as look:
            problems += asked_again(look, scene.victim.casualties)
    return problems


@asynccontextmanager
async def open_scene(moment: Moment, where: str, seed: int) -> AsyncIterator[Scene]:
    """Prepare users, a store and nurseries for one moment; everything that was started is ended."""
    exchange = Exchange(conversations=moment.conversations, ahead=moment.ahead)
    if moment.options.get("lease") == LEASE:
        exchange.margin = LEASE / 3
    async with AsyncExitStack() as stack:
        conditions = stack.enter_context(made_conditions())
        url = await stack.enter_async_context(exchange.open())
        first = await stack.enter_async_context(nursery())
        second = await stack.enter_async_context(nursery()) if moment.gateways > 1 else first
        options = {**moment.options, "conditions": str(conditions.path)}
        victim = ServingVictim(where, seed, url, exchange, first, options=options)
        proxy = None
        if is_server(where):
            make_clock_adjustable(where)
            if moment.cuts:
                proxy = Proxy(folder_of(where))
                await stack.enter_async_context(proxy.open())
                victim.door = through(where, proxy.folder)
        yield Scene(victim, conditions, second, proxy)
