"""What is shown of a conversation, each word once."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from tests.databases import FAST, OpenStore, on
from threadline.cli.chat_loop import LINES_AHEAD, PlainDisplay, _lines
from threadline.cli.chat_session import OWNER, TERMINAL
from threadline.cli.chat_view import ChatView
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.core.turn import TurnState
from threadline.gateway.turn_pubsub import MessageAdded, Missed, TurnBegun, TurnClosed
from threadline.testing.deadline import HANG_SECONDS


@on(FAST)
async def test_an_answer_whose_beginning_was_missed_is_shown_once(
    open_store: OpenStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first words were read from the store; when the worker tells of the end the rest follows.

    On a slow machine the first answer of a conversation was shown in part, and then again.
    """

    async def moved(id: SessionId) -> None:
        pass

    store = await open_store()
    hello = Inbound.text("hello", address=TERMINAL, sender=OWNER, at=store.now())
    arrival = await store.receive(hello)
    claim = await store.turns.claim()
    assert claim is not None
    assert arrival.session_id is not None
    view = ChatView(store, None, PlainDisplay(), profile="main", moved=moved)
    view.expect(claim.turn.id, typed=True)
    view.look_at(arrival.session_id)

    await store.turns.checkpoint([(claim.lease, "You said")])
    await view._take_streaming(await store.streaming(arrival.session_id))
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "You said hello.")])
    await view._take_live(TurnClosed(turn_id=claim.turn.id, state=TurnState.DONE))

    assert capsys.readouterr().out == "You said hello.\n"
    assert not view.under_way


@on(FAST)
async def test_what_a_slow_view_missed_is_shown_from_the_store(
    open_store: OpenStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line once, whether it was told before the gap or dropped in it, and the end is seen."""

    async def moved(id: SessionId) -> None:
        pass

    store = await open_store()
    arrival = await store.receive(
        Inbound.text("hello", address=TERMINAL, sender=OWNER, at=store.now())
    )
    claim = await store.turns.claim()
    assert claim is not None
    view = ChatView(store, None, PlainDisplay(), profile="main", moved=moved)
    view.look_at(arrival.session_id)
    view.expect(claim.turn.id, typed=True)
    await view._take_live(TurnBegun(turn_id=claim.turn.id, lease=claim.lease))
    one = say(Role.ASSISTANT, "one")
    await view._take_live(MessageAdded(turn_id=claim.turn.id, message=one))
    await store.turns.finish(claim.lease, [one, say(Role.ASSISTANT, "two")])
    view._news.put_nowait(Missed())
    showing = asyncio.create_task(view._show())
    await asyncio.wait({view.under_way[claim.turn.id]}, timeout=HANG_SECONDS)
    showing.cancel()
    await asyncio.wait({showing})

    assert capsys.readouterr().out == "one\ntwo\n"
    assert not view.under_way


async def test_a_pipe_is_read_no_faster_than_its_lines_are_taken() -> None:
    """The program that writes them waits, and none is lost."""
    given = list[int]()

    def pipe() -> Iterator[bytes]:
        for n in range(3 * LINES_AHEAD):
            given.append(n)
            yield f"{n}\n".encode()

    taken = list[str]()
    async with aclosing(_lines(pipe())) as lines:
        async for line in lines:
            taken.append(line)
            assert len(given) <= len(taken) + LINES_AHEAD + 2

    assert taken == [str(n) for n in range(3 * LINES_AHEAD)]
