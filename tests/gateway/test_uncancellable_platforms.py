"""Platforms that go on with what was cancelled: a gateway that stops leaves them behind."""

import asyncio
import logging
from datetime import timedelta

import pytest

from tests.databases import FAST, on
from threadline.core.access import AccessRules
from threadline.core.address import Address
from threadline.core.platform import Outgoing, ReadBlob
from threadline.gateway.gateway import Gateway
from threadline.gateway.intervals import Intervals
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.simulated import Simulated
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Hangs, Says, ScriptedAgent, Streams

pytestmark = on(FAST)

PACE = Intervals(drain=timedelta(milliseconds=50), grace=timedelta(milliseconds=100))


class Stubborn(Simulated):
    """A platform of which one thing hangs, and ignores that it is cancelled."""

    def __init__(self, what: str) -> None:
        super().__init__("chat")
        self._what = what
        self.begun, self.released = asyncio.Event(), asyncio.Event()
        self.left: set[asyncio.Task[None] | None] = set()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        await self._hang("send")
        return await super().send(outgoing, read_blob)

    async def edit(self, address: Address, id: str, text: str) -> None:
        await self._hang("edit")
        await super().edit(address, id, text)

    async def show_typing(self, address: Address) -> None:
        await self._hang("show_typing")
        await super().show_typing(address)

    async def _hang(self, what: str) -> None:
        if what != self._what:
            return
        self.left.add(asyncio.current_task())
        self.begun.set()
        while not self.released.is_set():
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                continue

    async def let_go(self) -> None:
        """Let everything end that hangs."""
        self.released.set()
        await asyncio.wait({task for task in self.left if task is not None}, timeout=HANG_SECONDS)


@pytest.mark.parametrize("what", ["send", "edit", "show_typing"])
async def test_a_platform_that_cannot_be_cancelled_is_left(
    store: Store, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The stop does not wait for it for ever, and says that it goes on."""
    chat, agent = Stubborn(what), ScriptedAgent()
    agent.will(Streams("one"), Hangs(), Streams("two"), Says("done"))
    rules = AccessRules(allow=["chat:*"])
    gateway = Gateway(store, agent, [chat], settings=GatewaySettings(access=rules, pace=PACE))
    caplog.set_level(logging.WARNING)
    async with asyncio.timeout(HANG_SECONDS):
        await gateway.__aenter__()
        alice = chat.person("Alice")
        alice.writes("hello")
        if what == "edit":
            await chat.until(lambda: any(one.by is None for one in chat.seen(alice.dm)))
            agent.goes_on()
        await chat.begun.wait()
    try:
        async with asyncio.timeout(HANG_SECONDS):
            await gateway.stop()
    finally:
        await chat.let_go()

    assert "A cancelled task goes on" in caplog.text


async def test_words_that_are_not_kept_hold_up_no_stop(store: Store) -> None:
    """Whoever is told directly that they are not known, on such a platform."""
    chat = Stubborn("send")
    settings = GatewaySettings(access=AccessRules(), pace=PACE)
    gateway = Gateway(store, ScriptedAgent(), [chat], settings=settings)
    async with asyncio.timeout(HANG_SECONDS):
        await gateway.__aenter__()
        chat.person("Mallory").writes("let me in")
        await chat.begun.wait()
    try:
        async with asyncio.timeout(HANG_SECONDS):
            await gateway.stop()
    finally:
        await chat.let_go()

    assert not gateway.is_ready
