"""Connectors that answer for their senders: nobody asks who these are."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from threadline.core.access import AccessRules
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, MediaKind
from threadline.core.platform import Capabilities, Receiver, ReceiveResult, TurnReply
from threadline.core.turn import TurnId
from threadline.platforms.simulated import Simulated
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import OpenStore
from threadline.testing.scripted_agent import Hangs


class Trusting:
    """A gate at which everybody has proved who they are."""

    def __init__(self, gate: Receiver) -> None:
        self._gate = gate

    async def keep(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        return await self._gate.keep(data, media_type, kind, name)

    async def admits(self, inbound: Inbound) -> bool:
        return await self._gate.admits(replace(inbound, is_trusted=True))

    async def take(self, inbound: Inbound) -> ReceiveResult:
        return await self._gate.take(replace(inbound, is_trusted=True))

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        return await self._gate.answer_to(turn_id, within)


class Relay(Simulated):
    """A platform whose connector has proved who it is."""

    async def run(self, gate: Receiver) -> None:
        await super().run(Trusting(gate))


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house in which nobody is named."""
    house = GatewayScenario(open_again)
    can = Capabilities(relays=True)
    house.platforms["relay"] = Relay("relay", capabilities=can, clock=house.clock)
    house.settings = replace(house.settings, access=AccessRules(pairing=False))
    async with house:
        yield house


async def test_who_is_answered_for_may_speak(house: GatewayScenario) -> None:
    """On that platform, and on no other; they are members, and not admins."""
    zed = house.guest("Zed", on="relay")

    assert await zed.asks("hello") == "ok"
    assert "is for those who are admin" in await zed.asks("/platforms")
    assert await house.guest("Zed").asks("hello") == ""


async def test_who_was_answered_for_is_so_after_a_crash(house: GatewayScenario) -> None:
    """Their turn goes on, as the connector stands for them still."""
    zed = house.guest("Zed", on="relay")
    house.agent.will(Hangs())
    await zed.says("a long job")

    await house.crashes_and_comes_back()

    assert zed.sees[-1].endswith("ok")
