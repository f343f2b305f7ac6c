"""Hooks: the user's own functions hear what happens, once, and harm nobody."""

from collections.abc import AsyncIterator, Mapping, Sequence

import pytest
from msgspec.structs import replace

from tests.scenarios.gateway import hooks
from threadline.platforms.simulated import SendFault
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import OpenStore, quiet_nights
from threadline.testing.scripted_agent import Fails

HERE = "tests.scenarios.gateway.hooks"


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house whose hooks have heard nothing yet."""
    hooks.told.clear()
    hooks.raised.clear()
    hooks.released.clear()
    async with GatewayScenario(open_again, rules=quiet_nights()) as house:
        yield house
    hooks.released.set()


async def listens(house: GatewayScenario, names: Mapping[str, Sequence[str]]) -> None:
    """Serve with hooks."""
    await house.stops()
    listed = {kind: [f"{HERE}:{name}" for name in some] for kind, some in names.items()}
    await house.comes_back(replace(house.settings, hooks=listed))


async def test_hooks_hear_the_story_of_a_conversation(house: GatewayScenario) -> None:
    """How it began, how its turns ended, what never arrived, and that it is over."""
    kinds = ("session_started", "turn_finished", "delivery_failed", "session_ended")
    await listens(house, {kind: [kind] for kind in kinds})
    alice = house.guest("Alice")

    await alice.says("hello")
    house.agent.will(Fails("no"))
    await alice.says("do the impossible")
    alice.person.blocks()
    await alice.says("anybody there?")
    await house.time_passes(hours=9)
    await house.sweeps()

    expected = {"started hello", "turn done", "turn failed", "lost on telegram"}
    await house.until(lambda: expected < set(hooks.told), f"{expected} and the end")
    await house.until(lambda: any(text.startswith("ended with") for text in hooks.told), "the end")
    assert hooks.told.count("started hello") == 1


async def test_nothing_is_told_twice_after_a_restart(house: GatewayScenario) -> None:
    """A hook goes on where it was, also with what happened just before the gateway stopped."""
    await listens(house, {"turn_finished": ["turn_finished"]})
    alice = house.guest("Alice")
    await alice.says("one")
    await house.stops()
    await house.comes_back()
    await alice.says("two")
    await house.until(lambda: len(hooks.told) >= 2, "both turns")

    await house.stops()
    await house.comes_back()
    await alice.says("three")
    await house.until(lambda: len(hooks.told) >= 3, "the third")

    assert hooks.told == ["turn done"] * 3


@pytest.mark.parametrize("bad", ["raises", "hangs", "blocks"])
async def test_a_hook_that_misbehaves_harms_nobody(house: GatewayScenario, bad: str) -> None:
    """People are answered, and the other hooks hear of it."""
    await listens(house, {"turn_finished": [bad, "turn_finished"]})
    alice = house.guest("Alice")
    for n in range(5):
        assert await alice.asks(f"question {n}") == "ok"

    await house.until(lambda: hooks.told == ["turn done"] * 5, "the good one hears all")
    await house.until(lambda: bool(hooks.raised), "the bad one was called")
    assert house.gateway.is_ready
    hooks.released.set()


async def test_a_hook_for_endings_is_tried_again_three_times(house: GatewayScenario) -> None:
    """One that breaks each time is left alone in the end, and the other one is told once."""
    await listens(house, {"session_ended": ["raises", "session_ended"]})
    alice = house.guest("Alice")
    await alice.says("good night")
    await house.time_passes(hours=9)
    for _ in range(6):
        await house.sweeps()
        await house.time_passes(hours=1)

    assert len(hooks.raised) == 4
    assert len(hooks.told) == 1
    assert (await alice.asks("good morning")).endswith("ok")


async def test_a_flood_of_news_is_told_in_order(house: GatewayScenario) -> None:
    """Many conversations at once: each end is told once, while people are answered."""
    await listens(house, {"session_started": ["session_started"], "turn_finished": ["hangs"]})
    guests = [house.guest(f"G{n}") for n in range(20)]
    for n, guest in enumerate(guests):
        guest.writes(f"topic {n}")
    await house.rests()

    assert all(guest.sees == ["ok"] for guest in guests)
    await house.until(lambda: len(hooks.told) == 20, "all beginnings")
    assert sorted(hooks.told) == sorted(f"started topic {n}" for n in range(20))


async def test_a_platform_in_trouble_is_told_once_for_each_loss(house: GatewayScenario) -> None:
    """A send that works in the end is no loss."""
    await listens(house, {"delivery_failed": ["delivery_failed"]})
    alice, bob = house.guest("Alice"), house.guest("Bob")
    house.simulated("telegram").suffer(SendFault.BROKEN, at=alice.at)
    await alice.says("hello")
    await house.time_passes(minutes=1)
    bob.person.blocks()
    await bob.says("hello")

    await house.until(lambda: bool(hooks.told), "the loss")
    assert alice.sees == ["ok"]
    assert hooks.told == ["lost on telegram"]
