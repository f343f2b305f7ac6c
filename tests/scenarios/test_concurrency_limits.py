import asyncio
import itertools
from collections.abc import Mapping

import pytest

from tests.databases import OpenStore
from tests.gateway.worker_setup import becomes, unhurried, until
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnId, TurnState
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.scripted_agent import Hangs, ScriptedAgent

_numbers = itertools.count(1)


async def asks(store: Store, who: str, *, profile: str = "main", chat: str = "") -> TurnId:
    """Let somebody ask something of an agent that thinks until it is told to go on."""
    arrival = await store.receive(
        Inbound.text(
            "hello",
            address=Address(platform="telegram", kind=Kind.DM, chat=who, thread=chat or None),
            sender=Sender(id=who),
            at=store.now(),
            message_id=str(next(_numbers)),
            profile=profile,
        )
    )
    assert arrival.turn_id is not None
    return arrival.turn_id


def thinking(times: int) -> ScriptedAgent:
    """Make an agent whose answers hang."""
    agent = ScriptedAgent()
    for _ in range(times):
        agent.will(Hangs())
    return agent


async def states(store: Store, *turns: TurnId) -> list[TurnState]:
    return [(await store.turns.get(id)).state for id in turns]


async def test_a_busy_profile_leaves_room_for_others(open_store: OpenStore) -> None:
    """When as many turns of a profile run as may, the next one waits, and other profiles go on."""
    store, agent = await open_store(), thinking(3)
    async with Worker(store, agent, per_profile={"work": 1}, pace=unhurried()):
        first = await asks(store, "alice", profile="work")
        second = await asks(store, "bob", profile="work")
        home = await asks(store, "carol", profile="home")
        await _until_parked(agent, 2)
        assert await states(store, first, second, home) == ["running", "queued", "running"]

        agent.goes_on()
        await becomes(store, first, TurnState.DONE)
        await becomes(store, home, TurnState.DONE)
        await _until_parked(agent, 1)
        assert await states(store, second) == ["running"]
        agent.goes_on()
        await becomes(store, second, TurnState.DONE)


async def test_both_limits_hold_together(open_store: OpenStore) -> None:
    """No more than all together, and no more than a profile's own, run at a time."""
    store, agent = await open_store(), thinking(12)
    limits = {"work": 2, "home": 5}
    async with Worker(store, agent, concurrency=4, per_profile=limits, pace=unhurried()) as worker:
        turns = [
            await asks(store, f"person {n}", profile=("work", "home")[n % 2]) for n in range(12)
        ]
        await _until_parked(agent, 4)
        while not await _all_done(store, turns):
            running = [turn.profile for turn in worker._tasks]
            assert running.count("work") <= 2
            assert len(running) <= 4
            agent.goes_on()
            await asyncio.sleep(0.002)
    assert len(agent.requests) == 12


async def test_the_main_profile_can_be_limited_by_either_name(open_store: OpenStore) -> None:
    """`default` is another name of the main profile, also here."""
    store, agent = await open_store(), thinking(2)
    async with Worker(store, agent, per_profile={"default": 1}, pace=unhurried()):
        first = await asks(store, "alice", profile="main")
        second = await asks(store, "bob", profile="default")
        await _until_parked(agent, 1)
        assert await states(store, first, second) == ["running", "queued"]
        agent.goes_on()
        await _until_parked(agent, 1)
        agent.goes_on()
        await becomes(store, second, TurnState.DONE)


async def test_agents_that_hang_leave_places_for_other_people(open_store: OpenStore) -> None:
    """One person's hung turns take three quarters of the places; others are answered meanwhile."""
    store, agent = await open_store(), thinking(6)
    async with Worker(store, agent, concurrency=8, pace=unhurried()) as worker:
        hung = [await asks(store, "alice", chat=f"thread {n}") for n in range(10)]
        await _until_parked(agent, 6)

        others = [await asks(store, who) for who in ("bob", "carol")]
        for turn_id in others:
            await becomes(store, turn_id, TurnState.DONE)

        assert (await states(store, *hung)).count(TurnState.QUEUED) == 4
        assert (worker.places().taken, worker.places().total) == (6, 8)
        agent.goes_on()
        for turn_id in hung:
            await becomes(store, turn_id, TurnState.DONE)


async def test_linked_accounts_share_their_places(open_store: OpenStore) -> None:
    """A person who writes from two accounts has no more places than one who writes from one."""
    store, agent = await open_store(), ScriptedAgent()
    async with Worker(store, agent, concurrency=4, pace=unhurried()):
        for who in ("alice", "alice-2"):
            await becomes(store, await asks(store, who), TurnState.DONE)
        address = Address(platform="telegram", kind=Kind.DM, chat="alice")
        code = await store.people.make_link_code(address, Sender(id="alice"))
        await store.people.link(address, Sender(id="alice-2"), code.code)
        for _ in range(3):
            agent.will(Hangs())
        hung = [
            await asks(store, who, chat=f"thread {n}")
            for n, who in enumerate(("alice", "alice-2", "alice", "alice-2"))
        ]
        await _until_parked(agent, 3)

        await becomes(store, await asks(store, "bob"), TurnState.DONE)

        assert (await states(store, *hung)).count(TurnState.QUEUED) == 1
        agent.goes_on()
        for turn_id in hung:
            await becomes(store, turn_id, TurnState.DONE)


@pytest.mark.parametrize("limits", [{"work": 0}, {"work": -1}, {"work": "many"}])
async def test_a_limit_lets_something_through(
    open_store: OpenStore, limits: Mapping[str, int]
) -> None:
    """A profile in which nothing could ever run is a mistake, and is refused."""
    store = await open_store()
    with pytest.raises(Invalid, match="concurrency of work"):
        Worker(store, ScriptedAgent(), per_profile=limits)


async def _until_parked(agent: ScriptedAgent, count: int) -> None:
    async def is_so() -> bool:
        return len(agent.parked) == count

    await until(is_so, f"{count} turns hang")


async def _all_done(store: Store, turns: list[TurnId]) -> bool:
    return all(state is TurnState.DONE for state in await states(store, *turns))
