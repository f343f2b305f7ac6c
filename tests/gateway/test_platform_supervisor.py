"""One platform's loop: whatever it raises, or does not do, becomes its state."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from tests.gateway.worker_setup import until
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import COMMANDS, Command
from threadline.core.errors import StorageError
from threadline.core.gateway_status import PlatformState
from threadline.core.inbound import Inbound
from threadline.core.platform import Capabilities, Outgoing, ReadBlob, Receiver, ReceiveStatus
from threadline.gateway.platform_supervisor import PlatformSupervisor
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate

SOON = timedelta(milliseconds=5)
LONG = timedelta(hours=1)


class Moody:
    """A platform whose loop and menu do what a test wants."""

    name = "moody"
    capabilities = Capabilities()
    notes = ""

    def __init__(self, *ends: Exception | None) -> None:
        self.ends = list(ends)
        self.begun = 0
        self.menu: Sequence[Command] = ()
        self.gate: Receiver | None = None
        self.is_stubborn = False
        self.hangs_in_register = False
        self.goes_on = asyncio.Event()

    async def run(self, gate: Receiver) -> None:
        self.begun += 1
        self.gate = gate
        if self.ends:
            if (error := self.ends.pop(0)) is not None:
                raise error
            return
        try:
            await asyncio.Event().wait()
        finally:
            if self.is_stubborn:
                await self.goes_on.wait()

    async def register(self, commands: Sequence[Command]) -> None:
        if self.hangs_in_register:
            await asyncio.Event().wait()
        self.menu = commands

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        return None

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        return None

    async def show_typing(self, address: Address) -> None:
        return None


@asynccontextmanager
async def connected(
    platform: Moody,
    *,
    settled: timedelta = LONG,
    pause: timedelta = SOON,
    secrets: Sequence[str] = (),
    changed: Callable[[], None] = lambda: None,
) -> AsyncIterator[PlatformSupervisor]:
    """Run a platform for as long as this lasts."""
    connection = PlatformSupervisor(
        platform,
        RecordingGate(),
        now=FakeClock(),
        changed=changed,
        first_pause=pause,
        longest_pause=pause * 4,
        settled=settled,
        secrets=secrets,
    )
    connection.open(COMMANDS)
    try:
        yield connection
    finally:
        await connection.close(SOON)


def message() -> Inbound:
    """Make something that somebody says."""
    return Inbound.text(
        "hello",
        address=Address(platform="moody", kind=Kind.DM, chat="1"),
        sender=Sender(id="1"),
        at=FakeClock()(),
        message_id="1",
    )


async def becomes(connection: PlatformSupervisor, state: PlatformState) -> None:
    """Wait until a platform is in a state."""

    async def is_so() -> bool:
        return connection.health.state is state

    await until(is_so, f"the platform is {state}")


async def test_a_platform_that_runs_for_a_while_is_up() -> None:
    """It is connecting at first, and told of the commands meanwhile."""
    platform, told = Moody(), list[int]()
    async with connected(platform, settled=SOON, changed=lambda: told.append(1)) as connection:
        assert connection.health.state is PlatformState.CONNECTING

        await becomes(connection, PlatformState.UP)

        assert platform.menu == COMMANDS
        assert told == [1]


async def test_whoever_brings_something_is_up() -> None:
    """No platform has to wait until it counts as settled."""
    platform = Moody()
    async with connected(platform) as connection:
        taken = await connection.take(message())

        assert taken.reception is ReceiveStatus.TAKEN
        assert connection.health.state is PlatformState.UP


async def test_a_platform_that_breaks_is_begun_again() -> None:
    """Whether it raises or just comes back, after a pause that grows."""
    platform = Moody(ValueError("no such host"), None, OSError("gone"))
    async with connected(platform, settled=SOON) as connection:
        await becomes(connection, PlatformState.UP)

        assert platform.begun == 4


async def test_why_a_platform_is_down_is_kept_without_secrets() -> None:
    """An address in an error may hold a token."""
    platform = Moody(ValueError("GET https://host/bot123:s3cret/updates said 502"))
    async with connected(platform, pause=LONG, secrets=["123:s3cret"]) as connection:
        await becomes(connection, PlatformState.DOWN)

        assert connection.health.error == "ValueError: GET https://host/bot••••••/updates said 502"


async def test_the_log_says_when_a_platform_is_up_again(caplog: pytest.LogCaptureFixture) -> None:
    """Once for each time that it was down, however often it was tried; not at the start."""
    platform = Moody(ValueError("502"), ValueError("502"))
    async with connected(platform) as connection:
        await until(lambda: _is(platform.begun == 3), "it runs again")
        for _ in range(2):
            await connection.take(message())

    said = [record.message for record in caplog.records if "up again" in record.message]
    assert said == ["Platform moody is up again after 0 s"]


async def test_a_platform_that_hangs_in_its_menu_runs_all_the_same() -> None:
    """A menu is a comfort."""
    platform = Moody()
    platform.hangs_in_register = True
    async with connected(platform, settled=SOON) as connection:
        await becomes(connection, PlatformState.UP)


async def test_nothing_is_taken_in_once_the_gate_is_shut() -> None:
    """The platform is told that it cannot be kept now, and brings it again elsewhere or later."""
    platform = Moody()
    async with connected(platform) as connection:
        connection.shut()

        with pytest.raises(StorageError, match="about to stop"):
            await connection.take(message())


async def test_a_platform_that_does_not_end_keeps_nobody() -> None:
    """It is left to itself after a moment."""
    platform = Moody()
    platform.is_stubborn = True
    async with connected(platform) as connection:
        await until(lambda: _is(platform.begun == 1), "it runs")

        async with asyncio.timeout(HANG_SECONDS):
            await connection.close(SOON)
        platform.goes_on.set()


async def _is(value: bool) -> bool:
    return value
