from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.platforms.telegram.bot_setup import stage
from threadline.core.message import plain_text
from threadline.testing.fake_gate import RecordingGate
from threadline.testing.platform_contract import STRANGE, PlatformContract, send
from threadline.testing.platform_harness import PlatformHarness


class TestTelegram(PlatformContract):
    """Telegram keeps the contract of all platforms, with the real SDK over HTTP."""

    @asynccontextmanager
    async def make_stage(self) -> AsyncIterator[PlatformHarness]:
        async with stage() as set_up:
            yield set_up

    async def test_strange_characters_survive_both_ways(self) -> None:
        """Whatever alphabet, in and out; but Telegram itself makes a space of every tab."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.write(STRANGE)
                await gate.until(taken=1)
                await send(stage, STRANGE)

            assert plain_text(gate.taken[0].parts) == STRANGE
            assert list(await stage.seen()) == [STRANGE.replace("\t", " ")]
