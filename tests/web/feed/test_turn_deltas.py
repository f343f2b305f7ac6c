import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.core.turn import Lease, TurnId, TurnState
from threadline.gateway.turn_pubsub import Delta, MessageAdded, Thinking, TurnBegun, TurnClosed
from threadline.testing.clock import A_MONDAY
from threadline.testing.stream_checker import Frame, read_frames
from threadline.web.feed.turn_deltas import TurnDeltas

SESSION = SessionId("20260131_184500_0a1b2c3d")
TURN = TurnId(7)
LEASE = Lease(session_id=SESSION, turn_id=TURN, fence=1, until=A_MONDAY)


class Room:
    """Somebody who hears one session, or nobody."""

    def __init__(self, *, is_there: bool = True) -> None:
        self.is_there = is_there
        self.told: list[bytes] = []
        self.news = asyncio.Event()
        self.voices = TurnDeltas(self._tell, lambda _: self.is_there, timedelta(milliseconds=50))

    def _tell(self, _: SessionId, frame: bytes) -> None:
        self.told.append(frame)
        self.news.set()

    async def hears(self) -> list[Frame]:
        """Answer what was told so far."""
        return await frames_of(b"".join(self.told))


async def frames_of(told: bytes) -> list[Frame]:
    """Read frames that were written."""

    async def lines() -> AsyncIterator[str]:
        for line in told.decode().split("\n"):
            yield line

    return [frame async for frame in read_frames(lines())]


async def test_many_letters_become_a_few_frames() -> None:
    """Somebody who hears a turn is told of it ten times a second at most, and misses no letter."""
    room = Room()
    room.voices.hear(TurnBegun(turn_id=TURN, lease=LEASE))
    for letter in "Once upon a time":
        room.voices.hear(Delta(turn_id=TURN, text=letter))
    await room.news.wait()

    (frame,) = await room.hears()
    assert (frame.kind, frame.data["text"], frame.data["offset"]) == (
        "delta",
        "Once upon a time",
        0,
    )
    assert frame.id is None


async def test_a_line_ends_what_was_said() -> None:
    """After a whole line the next words begin at 0, and a closed turn says nothing more."""
    room = Room()
    room.voices.hear(TurnBegun(turn_id=TURN, lease=LEASE))
    room.voices.hear(Thinking(turn_id=TURN, text="hm"))
    room.voices.hear(Delta(turn_id=TURN, text="One."))
    room.voices.hear(MessageAdded(turn_id=TURN, message=say(Role.ASSISTANT, "One.")))
    room.voices.hear(Delta(turn_id=TURN, text="Two."))
    room.voices.hear(TurnClosed(turn_id=TURN, state=TurnState.DONE))
    room.voices.hear(Delta(turn_id=TURN, text="a ghost"))

    told = [(one.data["kind"], one.data["offset"], one.data["text"]) for one in await room.hears()]
    assert told == [("thought", 0, "hm"), ("text", 0, "One."), ("line", 0, ""), ("text", 0, "Two.")]
    assert not room.voices.has(SESSION)


async def test_whoever_comes_late_is_told_the_line_from_its_beginning() -> None:
    """What nobody heard is not lost: the next one who listens gets all of the line so far."""
    room = Room(is_there=False)
    room.voices.hear(TurnBegun(turn_id=TURN, lease=LEASE))
    room.voices.hear(Delta(turn_id=TURN, text="Once "))
    room.voices.hear(Delta(turn_id=TURN, text="upon"))
    room.is_there = True
    late = room.voices.so_far(SESSION)
    room.voices.hear(Delta(turn_id=TURN, text=" a time"))
    room.news.clear()
    await room.news.wait()

    (first,) = await frames_of(late)
    assert (first.data["text"], first.data["offset"]) == ("Once upon", 0)
    assert (await room.hears())[-1].data["offset"] == len("Once upon")


async def test_a_turn_that_begins_again_says_everything_anew() -> None:
    """After an answer, or a crash, the line of a turn begins at its start."""
    room = Room()
    room.voices.hear(TurnBegun(turn_id=TURN, lease=LEASE))
    room.voices.hear(Delta(turn_id=TURN, text="Once"))
    room.voices.hear(TurnBegun(turn_id=TURN, lease=LEASE))

    assert room.voices.so_far(SESSION) == b""
    room.voices.close()
    assert not room.voices.has(SESSION)


async def test_a_line_break_cannot_end_a_frame() -> None:
    """Whatever an agent says stays within its frame: nobody can write one of their own."""
    room = Room()
    hostile = "\n\nevent: bye\ndata: {}\n\n\r\u2028\x00"
    room.voices.hear(TurnBegun(turn_id=TURN, lease=LEASE))
    room.voices.hear(Delta(turn_id=TURN, text=hostile))
    room.voices.hear(TurnClosed(turn_id=TURN, state=TurnState.DONE))

    (frame,) = await room.hears()
    assert (frame.kind, frame.data["text"]) == ("delta", hostile)
