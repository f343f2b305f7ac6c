"""What may have been seen is said once more, and not a third time."""

import asyncio

from tests.gateway.outbox_setup import Billboard, all_carried, soon
from tests.gateway.test_live_replies import GROWS, goes_on, serving
from tests.gateway.worker_setup import becomes, tell
from threadline.core.delivery import REPEAT_MARKER
from threadline.core.platform import Outgoing, ReadBlob
from threadline.core.turn import TurnState
from threadline.store import Store
from threadline.testing.scripted_agent import Hangs, ScriptedAgent, Streams


class Odd(Billboard):
    """A platform that never says what became of a message, and takes its time with the first."""

    def __init__(self) -> None:
        super().__init__(capabilities=GROWS)
        self.may_go_on = asyncio.Event()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        self.attempts.append(outgoing)
        await self.may_go_on.wait()
        raise KeyError("chat_id")


async def test_a_doubt_that_comes_after_the_end_counts(store: Store) -> None:
    """The first words hang on the platform until the turn is over; they count as the first try."""
    agent, board = ScriptedAgent(), Odd()
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.attempts), "the first words")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        board.may_go_on.set()
        await soon(lambda: len(board.attempts) == 2, "the second try")
        await all_carried(store, outbox)

    first, second = (attempt.text for attempt in board.attempts)
    assert not first.startswith(REPEAT_MARKER)
    assert second.startswith(REPEAT_MARKER)
