import asyncio
import itertools
from collections.abc import Mapping

import pytest

from tests.databases import OpenStore
from tests.gateway.scene import becomes, unhurried, until
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnId, TurnState
from threadline.gateway.worker import Worker
from threadline.sessions.store import Store
from threadline.testing.agent import Hangs, ScriptedAgent

_numbers = itertools.count(1)


async def asks(store: Store, who: str, *, profile: str) -> TurnId:
    """Let somebody ask something of an agent that thinks until it is told to go on."""
    arrival = await store.arrive(
        Inbound.text(
            "hello",
            address=Address(platform="telegram", kind=Kind.DM, chat=who),
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
    return [(await store.turn(id)).state for id in turns]


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
