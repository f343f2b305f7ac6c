import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace

from threadline.core.delivery import SendOutcome
from threadline.core.errors import NotFound, PlatformError
from threadline.core.message import BlobHash, plain_text
from threadline.core.platform import Capabilities, Choice, Outgoing, SendFailed, Unit
from threadline.platforms.simulated import EVERYTHING, SendFault, SentFile, Simulated
from threadline.testing.fake_gate import RecordingGate
from threadline.testing.platform_contract import PlatformContract, send
from threadline.testing.platform_harness import Fault, PlatformHarness

PAUSE = timedelta(seconds=2)


class SimulatedStage(PlatformHarness):
    """Alice on a simulated platform."""

    def __init__(self, platform: Simulated) -> None:
        self.simulated = self.platform = platform
        self.alice = platform.person("Alice")
        self.address = self.alice.dm
        self.thread = replace(self.address, thread="holidays")

    async def write(
        self,
        text: str,
        *,
        file: tuple[str, str, bytes] | None = None,
        in_thread: bool = False,
    ) -> str:
        files = [SentFile(name=file[0], media_type=file[1], data=file[2])] if file else []
        return self.alice.writes(text, at=self.thread if in_thread else None, files=files)

    async def edit(self, message_id: str, text: str) -> None:
        self.alice.edits(message_id, text)

    async def delete(self, message_id: str) -> None:
        self.alice.deletes(message_id)

    async def repeat(self) -> None:
        self.simulated.repeat()

    async def talk_nonsense(self) -> None:
        nonsense: list[object] = [None, 7, [], {}, {"kind": "wedding"}, {"address": {"chat": "\0"}}]
        for payload in nonsense:
            self.simulated.bring(payload)

    async def disconnect(self) -> None:
        self.simulated.disconnect()

    async def suffer(self, mishap: Fault) -> None:
        match mishap:
            case Fault.FLOOD:
                self.simulated.suffer(SendFault.FLOOD, retry_after=PAUSE)
            case Fault.BROKEN:
                self.simulated.suffer(SendFault.BROKEN)
            case Fault.SILENT:
                self.simulated.suffer(SendFault.UNHEARD)
            case Fault.DEAD:
                self.alice.blocks()

    async def is_acknowledged(self) -> bool:
        return self.simulated.unacknowledged == 0

    async def seen(self, *, in_thread: bool = False) -> Sequence[str]:
        return self.alice.sees(self.thread if in_thread else None)

    async def files(self) -> Sequence[bytes]:
        return [data for shown in self.simulated.chats for _, data in shown.files]

    async def is_typing(self) -> bool:
        return self.simulated.is_typing(self.address)


class TestSimulated(PlatformContract):
    """A platform with everything keeps the contract."""

    capabilities = EVERYTHING

    @asynccontextmanager
    async def make_stage(self) -> AsyncIterator[PlatformHarness]:
        yield SimulatedStage(Simulated("telegram", capabilities=self.capabilities))


class TestPlain(TestSimulated):
    """A platform that can do little keeps what applies to it."""

    capabilities = Capabilities(text_limit=100, unit=Unit.UTF16)


class TestIdempotent(TestSimulated):
    """A platform that knows idempotency keys keeps the contract."""

    capabilities = replace(EVERYTHING, idempotent=True)


async def no_blob(_: BlobHash) -> AsyncIterator[bytes]:
    yield b""


@pytest.mark.parametrize(
    ("unit", "text"),
    [(Unit.CHARACTERS, "x" * 65), (Unit.UTF16, "🧵" * 33), (Unit.BYTES, "ü" * 33)],
)
async def test_a_text_that_is_too_long_is_rejected(unit: Unit, text: str) -> None:
    """The limit is enforced in the platform's own unit, as real ones do."""
    stage = SimulatedStage(Simulated(capabilities=Capabilities(text_limit=64, unit=unit)))

    with pytest.raises(SendFailed, match="too long") as failed:
        await send(stage, text)

    assert failed.value.outcome is SendOutcome.REJECTED
    assert not await stage.seen()


async def test_edits_may_not_come_too_often() -> None:
    """An edit that comes too early is rejected and counted; a second later it is taken."""
    now = [0.0]
    stage = SimulatedStage(Simulated(ticks=lambda: now[0]))
    message_id = await send(stage, "one")
    assert message_id

    await stage.platform.edit(stage.address, message_id, "one two")
    with pytest.raises(SendFailed, match="too often"):
        await stage.platform.edit(stage.address, message_id, "one two three")
    now[0] += 1
    await stage.platform.edit(stage.address, message_id, "one two three four")

    assert await stage.seen() == ["one two three four"]
    assert stage.simulated.counts["hasty edits"] == 1


async def test_nobody_edits_what_another_wrote() -> None:
    """We change our own messages only, and only those that are there."""
    stage = SimulatedStage(Simulated())
    hers = await stage.write("mine")

    with pytest.raises(SendFailed, match="cannot be edited"):
        await stage.platform.edit(stage.address, hers, "ours")
    with pytest.raises(SendFailed, match="no such message"):
        await stage.platform.edit(stage.address, "999", "ours")


async def test_typing_ends_by_itself_and_with_the_answer() -> None:
    """It is seen for five seconds, or until the answer is there."""
    now = [0.0]
    stage = SimulatedStage(Simulated(ticks=lambda: now[0]))

    await stage.platform.show_typing(stage.address)
    now[0] = 4.9
    assert await stage.is_typing()
    now[0] = 5.1
    assert not await stage.is_typing()
    await stage.platform.show_typing(stage.address)
    await send(stage, "here")
    assert not await stage.is_typing()


async def test_a_choice_says_its_words() -> None:
    """Whoever presses a button says what stands behind it."""
    platform = Simulated()
    alice = platform.person("Alice")
    choice = Choice(label="Yes", says="/approve")
    outgoing = Outgoing(address=alice.dm, text="Shall I?", choices=(choice,), key="1")
    message_id = await platform.send(outgoing, no_blob)
    assert message_id

    gate = RecordingGate()
    stage = SimulatedStage(platform)
    async with stage.running(gate):
        alice.presses(message_id, "Yes")
        await gate.until(taken=1)

    assert plain_text(gate.taken[0].parts) == "/approve"
    with pytest.raises(NotFound):
        alice.presses(message_id, "Perhaps")


async def test_trouble_can_be_for_one_address_only() -> None:
    """What goes wrong for Alice goes well for Bob, and once it is over also for her."""
    platform = Simulated()
    alice, bob = platform.person("Alice"), platform.person("Bob")
    platform.suffer(SendFault.LOST, at=alice.dm)

    await platform.send(Outgoing(address=bob.dm, text="hello", key="1"), no_blob)
    with pytest.raises(SendFailed) as failed:
        await platform.send(Outgoing(address=alice.dm, text="hello", key="2"), no_blob)
    assert failed.value.outcome is SendOutcome.AMBIGUOUS
    assert (bob.sees(), alice.sees()) == (["hello"], [])

    await platform.send(Outgoing(address=alice.dm, text="hello", key="2"), no_blob)
    assert alice.sees() == ["hello"]


async def test_a_send_can_hang() -> None:
    """A hanging platform answers nothing until one stops waiting."""
    platform = Simulated()
    platform.suffer(SendFault.HANG)
    alice = platform.person("Alice")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await platform.send(Outgoing(address=alice.dm, text="hello", key="1"), no_blob)

    assert not alice.sees()


async def test_a_lost_connection_ends_the_run() -> None:
    """A run whose connection broke says so; the next one works."""
    platform = Simulated()
    task = asyncio.create_task(platform.run(RecordingGate()))
    await asyncio.sleep(0)
    platform.disconnect()

    with pytest.raises(PlatformError, match="connection was lost"):
        await task


async def test_chats_do_not_wait_for_each_other() -> None:
    """A thousand people write at once, and each one's messages come in order."""
    platform, gate = Simulated(), RecordingGate()
    people = [platform.person(f"P{n}") for n in range(1000)]
    for n in range(3):
        for person in people:
            person.writes(str(n))

    async with SimulatedStage(platform).running(gate):
        await gate.until(taken=3000)
        await platform.until(lambda: platform.unacknowledged == 0)

    for person in people:
        said = [plain_text(one.parts) for one in gate.taken if one.sender == person.sender]
        assert said == ["0", "1", "2"]
