"""What people are told, however it has to reach them."""

import asyncio

from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from threadline.core.delivery import REPEAT_MARKER
from threadline.core.message import Role
from threadline.core.platform import Capabilities
from threadline.core.session import Cause
from threadline.core.system_notes import tell_person
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Asks, Hangs, Says, Streams

GROWS = Capabilities(edits=True)


async def test_a_question_reaches_who_has_to_answer_it(house: Scenario) -> None:
    """Alice reads what was said before the question, then the question, then only what is new."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Says("That is a lot."), Asks("Shall I delete it all?"))
    house.agent.will(Says("It is gone."))

    said = await alice.says("delete my files")
    assert [reply.text for reply in await house.replies_to(alice)] == [
        "That is a lot.\n\nShall I delete it all?"
    ]
    await house.store.turns.answer(said.turn_id, "approved")
    await house.rests()

    assert (await house.replies_to(alice))[-1].text == "It is gone."


async def test_nobody_waits_for_an_answer_that_never_comes(house: Scenario) -> None:
    """An answer that was cut off too long ago is given up, and Bob is told so."""
    bob = house.person("bob", on="telegram")
    house.agent.will(Hangs())
    await bob.says("a long job")

    await house.goes_down()
    await house.time_passes(hours=3)
    await house.comes_back()

    (told,) = await house.replies_to(bob)
    assert "too long ago" in told.text


async def test_a_reply_says_why_the_conversation_is_new(house: Scenario) -> None:
    """After a quiet night the notice stands before the answer, in one message."""
    alice = house.person("alice", on="telegram")
    board = Billboard()
    async with carrying(house.store, board) as outbox:
        await alice.says("hello")
        await all_carried(house.store, outbox)
        await house.time_passes(hours=9)
        await alice.says("hello again")
        await all_carried(house.store, outbox)

    assert board.texts == ["ok", f"{tell_person(Cause.IDLE)}\n\nok"]


async def test_a_stream_survives_the_crash_of_its_process(house: Scenario) -> None:
    """Alice watches one message grow, though the program dies in between (ask 3)."""
    alice = house.person("alice", on="telegram")
    board = Billboard(capabilities=GROWS)
    house.agent.will(Streams("Once upon"), Hangs())
    house.agent.will(Says("a time."))
    async with carrying(house.store, board, live=house.worker.live):
        said = await alice.says("a story")
        await soon(lambda: bool(board.texts), "the first words")
        await house.worker.beat()
    await house.crash()
    async with carrying(house.store, board, live=house.worker.live) as outbox:
        await all_carried(house.store, outbox)

    (shown,) = board.texts
    assert shown.startswith("Once upon\n")
    assert shown.endswith("\n\na time.")
    lines = await house.transcript_of(said.session_id)
    assert [line.text for line in lines if line.role is Role.ASSISTANT][-1] == "a time."


async def test_nothing_is_said_twice_without_the_marker(house: Scenario) -> None:
    """If the program dies between sending and writing it down, the repeat says so (ask 3)."""
    alice = house.person("alice", on="telegram")
    board = Billboard(gate=asyncio.Event())
    async with carrying(house.store, board):
        await alice.says("hello")
        await soon(lambda: len(board.attempts) == 1, "it is on its way")
    await house.crash()
    await house.time_passes(minutes=3)
    board.gate = None
    async with carrying(house.store, board) as outbox:
        await house.time_passes(minutes=1)
        await all_carried(house.store, outbox)

    assert board.texts == [f"{REPEAT_MARKER}\nok"]
    assert len({outgoing.key for outgoing in board.attempts}) == 1
