"""A small stage for what goes out: a platform that does as it is told, and an outbox that runs."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.gateway.worker_setup import unhurried
from threadline.core.address import Address
from threadline.core.command import Command
from threadline.core.platform import Capabilities, Outgoing, ReadBlob, Receiver
from threadline.gateway.intervals import Intervals
from threadline.gateway.metrics import Metrics
from threadline.gateway.outbox import Outbox
from threadline.gateway.turn_pubsub import TurnPubSub
from threadline.store import Store
from threadline.store.stats import diagnose
from threadline.testing.deadline import HANG_SECONDS


@dataclass
class Billboard:
    """A platform that shows messages, unless a test says how it fails."""

    name: str = "telegram"
    capabilities: Capabilities = field(default_factory=Capabilities)
    notes: str = ""
    attempts: list[Outgoing] = field(default_factory=list)
    """Everything that it was given, taken or not."""
    seen: dict[str, str] = field(default_factory=dict)
    """How its messages read, by their ids."""
    typed: int = 0
    files: list[bytes] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    """How messages read, each time that one is shown or changed."""
    failures: deque[BaseException | None] = field(default_factory=deque)
    """What the next sends raise; None: that one works."""
    edit_failures: deque[BaseException] = field(default_factory=deque)
    raises_after: bool = False
    """It shows what it was given before it fails."""
    gate: asyncio.Event | None = None
    """Nothing is taken until this is set."""

    async def run(self, gate: Receiver) -> None:
        """Bring nothing."""
        await asyncio.Event().wait()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show a message, or fail."""
        self.attempts.append(outgoing)
        if self.gate is not None:
            await self.gate.wait()
        failure = self.failures.popleft() if self.failures else None
        if failure is not None and not self.raises_after:
            raise failure
        id = f"m{len(self.seen)}"
        self.seen[id] = outgoing.text
        self.history.append(outgoing.text)
        for file in outgoing.attachments:
            self.files.append(b"".join([piece async for piece in read_blob(file.blob)]))
        if failure is not None:
            raise failure
        return id

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Let a message read differently, or fail."""
        if self.edit_failures:
            raise self.edit_failures.popleft()
        assert message_id in self.seen
        self.seen[message_id] = text
        self.history.append(text)

    async def show_typing(self, address: Address) -> None:
        """Count how often somebody was seen writing."""
        self.typed += 1

    async def register(self, commands: Sequence[Command]) -> None:
        """Know no commands."""

    @property
    def texts(self) -> list[str]:
        """How its messages read, in order."""
        return list(self.seen.values())


@asynccontextmanager
async def carrying(
    store: Store,
    *platforms: Billboard,
    live: TurnPubSub | None = None,
    streams: bool = True,
    pace: Intervals | None = None,
) -> AsyncIterator[Outbox]:
    """Let an outbox run."""
    outbox = Outbox(
        store.database,
        {platform.name: platform for platform in platforms},
        live=live or TurnPubSub(),
        pace=pace or unhurried(),
        meters=Metrics([platform.name for platform in platforms]),
        streams=streams,
    )
    running = asyncio.create_task(outbox.run())
    try:
        yield outbox
    finally:
        running.cancel()
        await asyncio.wait({running})
        if not running.cancelled():
            running.result()


async def soon(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that must come true soon."""
    over = asyncio.get_running_loop().time() + HANG_SECONDS
    while not condition():
        assert asyncio.get_running_loop().time() < over, f"it never happened: {what}"
        await asyncio.sleep(0.002)


async def all_carried(store: Store, *outboxes: Outbox) -> None:
    """Wait until nothing is owed any more, not even later, and nothing is on its way."""
    over = asyncio.get_running_loop().time() + HANG_SECONDS
    while (await store.database.read(diagnose)).deliveries or any(one._sending for one in outboxes):
        assert asyncio.get_running_loop().time() < over, "something is still owed"
        for outbox in outboxes:
            outbox.wake()
        await asyncio.sleep(0.005)
