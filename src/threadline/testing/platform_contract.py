"""The platform contract: what every platform must do, as tests for anybody's own suite.

    class TestMyPlatform(PlatformContract):
        @asynccontextmanager
        async def make_stage(self) -> AsyncIterator[Stage]:
            yield MyStage()

The tests are coroutines; run them with anyio or any other plugin for asyncio.
"""

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from unittest import SkipTest

from threadline.core.address import Address
from threadline.core.command import COMMANDS
from threadline.core.delivery import SendOutcome
from threadline.core.inbound import InboundKind
from threadline.core.message import Attachment, BlobHash, MediaKind, plain_text
from threadline.core.platform import Outgoing, SendFailed
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate
from threadline.testing.platform_harness import Fault, PlatformHarness

STRANGE = "Grüße 🧵👩‍👩‍👧 漢字 עברית\n\tline two"
"""Words that get damaged where somebody counts or encodes wrongly."""


_FILE = bytes(range(256)) * 8
_BLOB = BlobHash(hashlib.sha256(_FILE).hexdigest())


class PlatformContract(ABC):
    """What every platform must do. Inherit, and say how a stage for yours is set up."""

    @abstractmethod
    def make_stage(self) -> AbstractAsyncContextManager[PlatformHarness]:
        """Set up a fresh stage, and clear it away afterwards."""

    async def test_what_somebody_writes_is_brought(self) -> None:
        """A message comes with its words, its sender, its place and the platform's own id."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                message_id = await stage.write("hello")
                await gate.until(taken=1)

            (inbound,) = gate.taken
            assert (inbound.kind, plain_text(inbound.parts)) == (InboundKind.MESSAGE, "hello")
            assert inbound.message_id == message_id
            assert inbound.address.platform == stage.platform.name
            assert inbound.address.chat == stage.address.chat
            assert inbound.sender.canonical

    async def test_messages_keep_their_order(self) -> None:
        """What one person writes in a row comes in that order."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                for n in range(10):
                    await stage.write(f"number {n}")
                await gate.until(taken=10)

            assert [plain_text(one.parts) for one in gate.taken] == [
                f"number {n}" for n in range(10)
            ]

    async def test_strange_characters_survive_both_ways(self) -> None:
        """Whatever alphabet, in and out."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.write(STRANGE)
                await gate.until(taken=1)
                await send(stage, STRANGE)

            assert plain_text(gate.taken[0].parts) == STRANGE
            assert list(await stage.seen()) == [STRANGE]

    async def test_a_text_of_full_length_is_shown_whole(self) -> None:
        """The limit that the capabilities name is one that holds."""
        async with self.make_stage() as stage:
            text = "x" * stage.platform.capabilities.text_limit
            await send(stage, text)

            assert list(await stage.seen()) == [text]

    async def test_a_file_that_somebody_sends_is_brought(self) -> None:
        """An attachment is kept before its message comes."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.write("look", file=("picture.png", "image/png", _FILE))
                await gate.until(taken=1)

            (file,) = [part for part in gate.taken[0].parts if isinstance(part, Attachment)]
            assert (file.kind, file.name, file.size) == (MediaKind.IMAGE, "picture.png", len(_FILE))
            assert gate.blobs[file.blob] == _FILE

    async def test_a_file_that_we_send_is_seen(self) -> None:
        """An attachment arrives as it left."""
        async with self.make_stage() as stage:
            _needs(stage.platform.capabilities.attachments, "attachments")
            file = Attachment(
                kind=MediaKind.FILE,
                blob=_BLOB,
                media_type="text/plain",
                size=len(_FILE),
                name="notes.txt",
            )
            await send(stage, "here it is", file=file)

            assert list(await stage.files()) == [_FILE]

    async def test_a_thread_is_a_place_of_its_own(self) -> None:
        """What is said in a thread comes from there, and an answer is seen there only."""
        async with self.make_stage() as stage:
            _needs(stage.platform.capabilities.threads, "threads")
            assert stage.thread is not None
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.write("in here", in_thread=True)
                await gate.until(taken=1)
                await send(stage, "I hear you", to=stage.thread)

            assert gate.taken[0].address.thread == stage.thread.thread
            assert list(await stage.seen(in_thread=True)) == ["I hear you"]
            assert not await stage.seen()

    async def test_an_edit_is_brought(self) -> None:
        """A changed message comes as an edit of the same id, later ones with a higher version."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                message_id = await stage.write("helo")
                await stage.edit(message_id, "hello")
                await stage.edit(message_id, "hello!")
                await gate.until(taken=3)

            edits = gate.taken[1:]
            assert [edit.kind for edit in edits] == [InboundKind.EDIT] * 2
            assert {edit.message_id for edit in edits} == {message_id}
            assert plain_text(edits[1].parts) == "hello!"
            assert 0 < edits[0].version < edits[1].version

    async def test_a_deletion_is_brought(self) -> None:
        """A message that was taken back comes as a deletion of the same id."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                message_id = await stage.write("oh no")
                await stage.delete(message_id)
                await gate.until(taken=2)

            assert gate.taken[1].kind is InboundKind.DELETION
            assert gate.taken[1].message_id == message_id

    async def test_a_message_of_ours_can_be_edited(self) -> None:
        """An answer grows before one's eyes."""
        async with self.make_stage() as stage:
            _needs(stage.platform.capabilities.edits, "edits")
            message_id = await send(stage, "Once")
            assert message_id, "what can be edited needs an id"
            await stage.platform.edit(stage.address, message_id, "Once upon a time")

            assert list(await stage.seen()) == ["Once upon a time"]

    async def test_what_is_brought_twice_is_known_by_its_id(self) -> None:
        """A repeated delivery has the same id, kind and version, so that it is taken once."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.write("hello")
                await gate.until(taken=1)
                await stage.repeat()
                await gate.until(seen=2)

            first, second = gate.seen
            assert (first.message_id, first.kind, first.version) == (
                second.message_id,
                second.kind,
                second.version,
            )
            assert len(gate.taken) == 1

    async def test_nothing_is_acknowledged_before_it_is_taken(self) -> None:
        """Killed between receipt and acknowledgement, the message comes again."""
        async with self.make_stage() as stage:
            slow, next_one = RecordingGate(), RecordingGate()
            slow.close()
            async with stage.running(slow):
                await stage.write("do not lose me")
                await slow.until(seen=1)
                assert not await stage.is_acknowledged()
            async with stage.running(next_one):
                await next_one.until(taken=1)
                await _until_acknowledged(stage)

            assert plain_text(next_one.taken[0].parts) == "do not lose me"

    async def test_a_store_that_fails_loses_nothing(self) -> None:
        """What could not be kept is brought again until it is."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            gate.break_down(times=2)
            async with stage.running(gate):
                await stage.write("patience")
                await gate.until(taken=1)
                await _until_acknowledged(stage)

            assert len(gate.seen) >= 3
            assert len(gate.taken) == 1

    async def test_a_lost_connection_comes_back(self) -> None:
        """After a break, what was written meanwhile and afterwards comes."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.write("before")
                await gate.until(taken=1)
                await stage.disconnect()
                await stage.write("after")
                await gate.until(taken=2)

            assert plain_text(gate.taken[1].parts) == "after"

    async def test_nonsense_harms_nobody(self) -> None:
        """What cannot be read costs itself only: the next message comes as ever."""
        async with self.make_stage() as stage:
            gate = RecordingGate()
            async with stage.running(gate):
                await stage.talk_nonsense()
                await stage.write("still there?")
                await gate.until(taken=1)

            assert plain_text(gate.taken[0].parts) == "still there?"

    async def test_a_cancelled_run_ends_at_once(self) -> None:
        """Cancelling ends it, is not swallowed, and leaves no task behind."""
        async with self.make_stage() as stage:
            before = asyncio.all_tasks()
            task = asyncio.create_task(stage.platform.run(RecordingGate()))
            await asyncio.sleep(0.01)
            task.cancel()
            done, _ = await asyncio.wait({task}, timeout=HANG_SECONDS)

            assert task in done, "it goes on after it was cancelled"
            assert task.cancelled(), "it swallowed the cancellation"
            assert asyncio.all_tasks() <= before

    async def test_a_flood_names_its_pause(self) -> None:
        """When the platform wants a pause, nobody saw the message, and the pause is told."""
        async with self.make_stage() as stage:
            failed = await _failure(stage, Fault.FLOOD)

            assert failed.outcome is SendOutcome.REJECTED
            assert failed.retry_after == timedelta(seconds=2)
            assert not await stage.seen()
            await send(stage, "words")
            assert list(await stage.seen()) == ["words"]

    async def test_a_fault_of_the_platform_is_told(self) -> None:
        """A fault is no death: the message may be tried again."""
        async with self.make_stage() as stage:
            failed = await _failure(stage, Fault.BROKEN)

            assert failed.outcome in {SendOutcome.REJECTED, SendOutcome.AMBIGUOUS}

    async def test_silence_is_ambiguous(self) -> None:
        """Where nothing was heard nobody claims to know; the same key shows no second copy."""
        async with self.make_stage() as stage:
            failed = await _failure(stage, Fault.SILENT)
            assert failed.outcome is SendOutcome.AMBIGUOUS

            if stage.platform.capabilities.idempotent:
                await send(stage, "words")
                assert list(await stage.seen()) == ["words"]

    async def test_a_dead_address_is_told(self) -> None:
        """Where nobody is any more, that is said, so that it is remembered."""
        async with self.make_stage() as stage:
            failed = await _failure(stage, Fault.DEAD)

            assert failed.outcome is SendOutcome.DEAD

    async def test_typing_is_seen(self) -> None:
        """The person sees that somebody writes."""
        async with self.make_stage() as stage:
            _needs(stage.platform.capabilities.typing, "typing")
            await stage.platform.show_typing(stage.address)

            assert await stage.is_typing()

    async def test_commands_can_be_registered(self) -> None:
        """The command table is taken, again and again, whether there is a menu or not."""
        async with self.make_stage() as stage:
            await stage.platform.register(COMMANDS)
            await stage.platform.register(COMMANDS)


async def send(
    stage: PlatformHarness, text: str, *, to: Address | None = None, file: Attachment | None = None
) -> str | None:
    """Send the person a message; the same words have the same key."""
    outgoing = Outgoing(
        address=to or stage.address,
        text=text,
        attachments=(file,) if file else (),
        key=hashlib.sha256(text.encode()).hexdigest()[:12],
    )
    return await stage.platform.send(outgoing, _read_file)


async def _failure(stage: PlatformHarness, mishap: Fault) -> SendFailed:
    await stage.suffer(mishap)
    try:
        await send(stage, "words")
    except SendFailed as failed:
        return failed
    except TimeoutError as silence:
        return SendFailed(str(silence), outcome=SendOutcome.AMBIGUOUS)
    raise AssertionError(f"{mishap}: the send said that all was well")


async def _until_acknowledged(stage: PlatformHarness) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while not await stage.is_acknowledged():  # noqa: ASYNC110 - the other side may be a server
            await asyncio.sleep(0.01)


async def _read_file(blob: BlobHash) -> AsyncIterator[bytes]:
    assert blob == _BLOB
    yield _FILE[:1000]
    yield _FILE[1000:]


def _needs(capability: bool, what: str) -> None:  # noqa: FBT001 - it reads as a sentence
    if not capability:
        raise SkipTest(f"It says that it has no {what}")
