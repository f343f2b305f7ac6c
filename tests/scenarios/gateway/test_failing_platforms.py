"""A platform that raises, hangs or floods harms nobody but itself."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from threadline.core.gateway_status import PlatformState
from threadline.core.platform import Outgoing, ReadBlob, Receiver
from threadline.platforms.simulated import SendFault, Simulated
from threadline.testing.gateway_scenario import GatewayScenario, hospitable
from threadline.testing.scenario import OpenStore


class Breaking(Simulated):
    """A platform whose loop breaks at once, each time."""

    async def run(self, gate: Receiver) -> None:
        self.counts["runs"] += 1
        raise ValueError("no such host")


class Deaf(Simulated):
    """A platform whose loop ignores that it is to end, for a while."""

    async def run(self, gate: Receiver) -> None:
        try:
            await super().run(gate)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            raise


class Mute(Simulated):
    """A platform that raises something odd whenever it is to say or show anything."""

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        self.sends.append(outgoing)
        raise KeyError("chat_id")

    async def show_typing(self, address: object) -> None:
        raise ZeroDivisionError


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house with platforms that misbehave, beside one that does not."""
    house = GatewayScenario(open_again, names=("telegram", "stuck"))
    for kind, name in ((Breaking, "breaking"), (Deaf, "deaf"), (Mute, "mute")):
        house.platforms[name] = kind(name, clock=house.clock)
    house.settings = replace(house.settings, access=hospitable(*house.platforms))
    async with house:
        yield house


async def test_a_platform_whose_loop_breaks_harms_nobody(house: GatewayScenario) -> None:
    """Its state says why, and everybody else is answered."""
    alice = house.guest("Alice")

    assert await alice.asks("hello") == "ok"
    health = house.gateway.health().platforms["breaking"]
    assert (health.state, health.error) == (PlatformState.DOWN, "ValueError: no such host")
    assert house.gateway.is_ready


async def test_an_owner_can_ask_how_the_platforms_are(house: GatewayScenario) -> None:
    """An admin reads in a chat which one is down, and why."""
    boss, down = house.guest("Boss"), "- breaking: down for"
    for _ in range(100):
        if down in await boss.asks("/platforms"):
            break

    assert f"{down} " in boss.sees[-1]
    assert "no such host" in boss.sees[-1]


async def test_a_platform_that_raises_while_sending_harms_nobody(house: GatewayScenario) -> None:
    """It is tried once more, as nobody knows what was seen; then it is given up."""
    bob, alice = house.guest("Bob", on="mute"), house.guest("Alice")
    await bob.says("hello")
    assert await alice.asks("hello") == "ok"

    for _ in range(3):
        await house.time_passes(hours=1)

    assert len(house.simulated("mute").sends) == 2
    assert [turn.state for turn in await bob.turns()] == ["done"]


async def test_a_platform_that_hangs_while_sending_harms_nobody(house: GatewayScenario) -> None:
    """However many of its messages are stuck, the others are answered at once."""
    stuck = house.simulated("stuck")
    stuck.suffer(SendFault.HANG, times=100)
    for n in range(40):
        house.guest(f"S{n}", on="stuck").writes("hello")
    await house.until(lambda: len(stuck.sends) >= 32, "much is stuck")

    alice = house.guest("Alice")
    alice.writes("hello")

    assert await alice.hears("ok") == "ok"
    assert house.gateway.is_ready


async def test_a_flood_on_one_platform_keeps_nobody_waiting(house: GatewayScenario) -> None:
    """Whatever one platform brings, a message on another is answered before all of that is."""
    deaf = [house.guest(f"D{n}", on="deaf") for n in range(10)]
    for n in range(100):
        deaf[n % 10].writes(f"message {n}")
    alice = house.guest("Alice")
    alice.writes("hello")
    await alice.hears("ok")
    answered = len(house.agent.requests)
    await house.rests()

    assert answered < len(house.agent.requests) == 101


async def test_nonsense_from_a_platform_is_passed_over(house: GatewayScenario) -> None:
    """What cannot be read is counted, and what comes after it is answered."""
    telegram, alice = house.simulated("telegram"), house.guest("Alice")
    strange: list[object] = [None, [], {"kind": "message"}, {"address": {"kind": "sofa"}}, "\0"]
    for nonsense in strange:
        telegram.bring(nonsense)

    assert await alice.asks("hello") == "ok"
    assert telegram.counts["unreadable"] == 5


async def test_a_lost_connection_comes_back(house: GatewayScenario) -> None:
    """What was written meanwhile is brought then, and answered once."""
    alice, telegram = house.guest("Alice"), house.simulated("telegram")
    await alice.says("one")
    telegram.disconnect()
    await house.until(
        lambda: house.gateway.health().platforms["telegram"].state is PlatformState.DOWN, "down"
    )
    alice.writes("two")
    telegram.repeat()

    await alice.house.rests()

    assert alice.sees == ["ok", "ok"]
    assert house.gateway.health().platforms["telegram"].state is PlatformState.UP
