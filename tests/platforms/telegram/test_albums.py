import asyncio
from datetime import timedelta

import pytest

from tests.doubles.telegram.samples import PICTURE
from tests.platforms.telegram.bot_setup import make_telegram, running, stage
from tests.platforms.telegram.raw_updates import line, make_intake, update
from threadline.core.errors import StorageError
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Attachment, plain_text
from threadline.core.platform import ReceiveResult
from threadline.platforms.telegram.album_buffer import AlbumBuffer
from threadline.platforms.telegram.albums import count_settled
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate

PICTURES = [PICTURE + bytes([n]) for n in range(4)]


def raw(album: str | None = None) -> dict[str, object]:
    return {"message": {"media_group_id": album} if album else {}}


def pictures(gate: RecordingGate, n: int = 0) -> list[bytes]:
    parts = gate.taken[n].parts
    return [gate.blobs[part.blob] for part in parts if isinstance(part, Attachment)]


@pytest.mark.parametrize(
    ("before", "now", "count"),
    [
        ("", "", 0),
        ("xx", "xx", 2),
        ("xaa", "xaa", 3),
        ("xa", "xaa", 1),
        ("xaa", "xaabb", 3),
        ("xaax", "xaaxa", 1),
        ("aa", "aab", 2),
        ("a", "aa", 0),
        ("xxxxa", "xxxxaaaaaa", 4),
    ],
)
def test_an_album_is_settled_when_nothing_was_added(before: str, now: str, count: int) -> None:
    """What stands before an album that grows can be taken in; the rest waits for it."""
    earlier, later = ([raw("" if one == "x" else one) for one in told] for told in (before, now))

    assert count_settled(later, earlier, most=100) == count


def test_an_album_at_the_end_of_a_full_batch_waits() -> None:
    """Its rest may lie behind what can be read at once."""
    batch = [raw() for _ in range(97)] + [raw("a")] * 3

    assert count_settled(batch, batch, most=100) == 97
    assert count_settled(batch[:99], batch[:99], most=100) == 99


@pytest.mark.parametrize(
    "nonsense", [3, None, [], {"message": []}, {"message": {"media_group_id": 4}}]
)
def test_nonsense_is_no_album(nonsense: object) -> None:
    """Updates are looked at before anybody has read them."""
    assert count_settled([nonsense], [], most=100) == 1


async def test_an_album_is_one_message() -> None:
    """All pictures in their order, with the words, under the id of the first."""
    async with stage() as set_up:
        gate = RecordingGate()
        album = await set_up.alice.sends_album(set_up.dm, "photo", *PICTURES, caption="look")
        await set_up.write("afterwards")
        async with running(set_up.platform, gate):
            await gate.until(taken=2)
            await set_up.api.until(lambda: not set_up.api.waiting)

    assert (gate.taken[0].message_id, plain_text(gate.taken[0].parts)) == (str(album[0].id), "look")
    assert pictures(gate) == PICTURES
    assert plain_text(gate.taken[1].parts) == "afterwards"


async def test_an_album_that_comes_in_pieces_is_waited_for() -> None:
    """It is read again, unconfirmed, until it is quiet."""
    async with stage() as set_up:
        gate = RecordingGate()
        for n, picture in enumerate(PICTURES[:2]):
            await set_up.alice.sends(
                set_up.dm, "photo", picture, media_group_id="1", caption=str(n)
            )
        async with running(set_up.platform, gate):
            await set_up.api.until(lambda: set_up.api.called("getUpdates"))
            await set_up.alice.sends(set_up.dm, "photo", PICTURES[2], media_group_id="1")
            await gate.until(taken=1)

    assert pictures(gate) == PICTURES[:3]
    assert plain_text(gate.taken[0].parts) == "0\n1"


async def test_one_mention_calls_us_for_the_whole_album() -> None:
    """Only the first picture carries the words."""
    async with stage() as set_up:
        gate = RecordingGate()
        await set_up.alice.sends_album(set_up.group, "photo", *PICTURES, caption="/look")
        async with running(make_telegram(set_up.api), gate):
            await gate.until(taken=1)

    assert pictures(gate) == PICTURES


async def test_a_part_that_comes_late_changes_the_album() -> None:
    """It is not a message of its own, and what came before stays in it."""
    async with stage() as set_up:
        gate = RecordingGate()
        async with running(set_up.platform, gate):
            first = await set_up.alice.sends(set_up.dm, "photo", PICTURES[0], media_group_id="1")
            await gate.until(taken=1)
            await set_up.alice.sends(set_up.dm, "photo", PICTURES[1], media_group_id="1")
            await gate.until(taken=2)

    assert (gate.taken[1].kind, gate.taken[1].message_id) == (InboundKind.EDIT, str(first.id))
    assert pictures(gate, 1) == PICTURES[:2]


async def test_a_changed_caption_changes_the_album() -> None:
    """The pictures stay; after a restart nobody knows them, and the change is a log line."""
    async with stage() as set_up:
        gate = RecordingGate()
        album = await set_up.alice.sends_album(set_up.dm, "photo", *PICTURES, caption="lok")
        async with running(set_up.platform, gate):
            await gate.until(taken=1)
            await set_up.alice.edits(album[0], "look")
            await gate.until(taken=2)
        await set_up.alice.edits(album[0], "look!")
        async with running(make_telegram(set_up.api), gate):
            await set_up.write("afterwards")
            await gate.until(taken=3)

    assert (gate.taken[1].kind, plain_text(gate.taken[1].parts)) == (InboundKind.EDIT, "look")
    assert pictures(gate, 1) == PICTURES
    assert plain_text(gate.taken[2].parts) == "afterwards"


async def test_an_album_that_could_not_be_kept_comes_again_as_a_message() -> None:
    """What was not taken is not remembered as if it were."""
    async with stage() as set_up:
        gate = RecordingGate()
        gate.break_down()
        await set_up.alice.sends_album(set_up.dm, "photo", *PICTURES)
        with pytest.raises(StorageError):
            await set_up.platform.run(gate)
        async with running(set_up.platform, gate):
            await gate.until(taken=1)

    assert gate.taken[0].kind is InboundKind.MESSAGE
    assert pictures(gate) == PICTURES


async def test_an_album_that_is_brought_twice_is_the_same() -> None:
    """The same parts again make the same message, which the store knows."""
    gate = RecordingGate()
    intake = make_intake(gate, download_limit=0)
    photo = [{"file_id": "a", "file_unique_id": "a", "width": 1, "height": 1, "file_size": 9}]
    parts = [
        {
            "update_id": n,
            "message": {
                "message_id": n,
                "date": 1,
                "chat": {"id": 1, "type": "private"},
                "photo": photo,
                "media_group_id": "1",
            },
        }
        for n in (1, 2)
    ]
    for _ in range(2):
        await intake.take([intake.read(part) for part in parts])

    assert len(gate.taken) == 1
    assert {(one.kind, one.message_id) for one in gate.seen} == {(InboundKind.MESSAGE, "1")}


async def test_an_album_that_breaks_after_its_caller_went_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The server has hung up by then, so nobody else hears of it."""

    class BrokenGate(RecordingGate):
        async def take(self, inbound: Inbound) -> ReceiveResult:
            raise RuntimeError("a bug")

    intake = make_intake(BrokenGate())
    buffer = AlbumBuffer(intake, timedelta(milliseconds=1))
    part = update(line(media_group_id="one"))
    caller = asyncio.create_task(buffer.take(part))
    await asyncio.sleep(0)
    caller.cancel()
    async with asyncio.timeout(HANG_SECONDS):
        while "An album was not taken in" not in caplog.text:
            await asyncio.sleep(0.001)

    assert caller.cancelled()
