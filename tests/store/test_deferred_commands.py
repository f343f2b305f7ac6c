"""Commands that wait: in the line of their session, durably, until their time has come."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, BOB, DM, THREAD, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.agent import Question
from threadline.core.command import COMMANDS, WhileRunning, parse_command
from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.message import Role, say
from threadline.core.session import BusyMode, SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.gateway.command_jobs import finish_command_job
from threadline.store import Store
from threadline.store.commands.context import Compress, Errand
from threadline.store.commands.execute import execute, execute_waiting
from threadline.store.turns.deferred_commands import ERRAND_LEASE
from threadline.testing.deadline import HANG_SECONDS


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


@both
async def test_redo_waits_behind_what_was_asked_before(desk: Desk) -> None:
    """It is kept, carried out when the turns before it have ended, and before those after it."""
    id, _ = await desk.says("one")
    await desk.answers(id)
    await desk.asks("/undo")
    await desk.asks("/new")
    await desk.asks(f"/resume {id}")
    _, before = await desk.says("two")
    reply = await desk.asks("/redo")
    _, after = await desk.says("three")

    assert reply.text.startswith("That waits")
    assert await execute_waiting(desk.store.database) == []
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    assert claimed.turn.id == before
    assert await execute_waiting(desk.store.database) == []
    await desk.store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "done")])
    assert await desk.store.turns.claim(id) is None
    assert len(await execute_waiting(desk.store.database)) == 1
    assert desk.owed()[-1].startswith("This can no longer be redone")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    assert claimed.turn.id == after


@both
async def test_a_waiting_command_survives_a_restart(desk: Desk) -> None:
    """Another process carries it out, as whoever gave it, and only once."""
    id, _ = await desk.says("one")
    await desk.asks("/compress What matters: 7")
    await desk.answers(id)
    other = Store(await desk.factory(clock=desk.clock))

    done = await asyncio.gather(
        execute_waiting(other.database), execute_waiting(desk.store.database)
    )

    assert sum(len(one) for one in done) == 1
    assert desk.waiting() == 0
    assert len(desk.owed()) == 2


async def long_talk(desk: Desk) -> SessionId:
    """Say so much that there is an older part of it."""
    id, _ = await desk.says("word 0")
    await desk.answers(id)
    for n in range(1, 4):
        await desk.says(f"word {n}")
        await desk.answers(id)
    return id


def compress_of(errand: Errand | None) -> Compress:
    """Take an errand for a compaction."""
    assert isinstance(errand, Compress)
    return errand


@both
async def test_a_summary_that_is_being_written_keeps_its_place(desk: Desk) -> None:
    """What is said meanwhile is answered after it, and nobody else begins with it."""
    id = await long_talk(desk)
    reply = await desk.asks("/compress the words")
    errand = compress_of(reply.errand)
    await desk.says("and now?")
    other = Store(await desk.factory(clock=desk.clock))

    assert (errand.session_id, errand.focus) == (id, "the words")
    assert await execute_waiting(desk.store.database) == await execute_waiting(other.database) == []
    assert await other.turns.claim(id) is None
    await desk.store.end_errand(errand)
    await desk.store.end_errand(errand)

    assert desk.waiting() == 0
    assert await other.turns.claim(id) is not None


@both
async def test_a_summary_that_nobody_writes_any_more_is_begun_anew(desk: Desk) -> None:
    """Its process is gone, or has taken too long: another one has it written, and says so once."""
    id = await long_talk(desk)
    first = Store(await desk.factory(clock=desk.clock))
    inbound = desk.inbound("/compress the words")
    call = parse_command("/compress the words")
    assert call is not None
    assert await execute(first.database, inbound, call, AccessLevel.MEMBER) is not None
    await first.close()

    async with asyncio.timeout(HANG_SECONDS):
        # A server may need a moment to see that a process is gone.
        while not (begun := await execute_waiting(desk.store.database)):
            await asyncio.sleep(0.01)
    (second,) = begun
    assert compress_of(second.reply.errand).focus == "the words"
    desk.clock.advance(ERRAND_LEASE)
    assert await execute_waiting(desk.store.database) == []
    desk.clock.advance(timedelta(seconds=1))
    (third,) = await execute_waiting(desk.store.database)
    await desk.store.end_errand(compress_of(third.reply.errand))

    assert second.inbound == third.inbound == inbound
    assert desk.owed() == ["Writing a summary of the older part."]
    assert await desk.store.turns.claim(id) is None


@both
async def test_a_summary_goes_on_when_its_conversation_ends_meanwhile(desk: Desk) -> None:
    """It is not said that nothing came of it: whoever writes it says what did."""
    await long_talk(desk)
    errand = compress_of((await desk.asks("/compress")).errand)
    await desk.asks("/new")
    await desk.store.end_errand(errand)

    assert desk.waiting() == 0
    assert not any("not carried out" in words for words in desk.owed())


@both
async def test_there_has_to_be_something_to_compact(desk: Desk) -> None:
    """It is said at once, and nothing waits; so is a focus that is no focus."""
    await desk.says("one")
    id, _ = await desk.says("two")
    await desk.answers(id)
    await desk.answers(id)
    assert (await desk.asks("/compress")).text.startswith("There is nothing to compact")
    await long_talk(desk)

    assert "at most 2,000" in (await desk.asks(f"/compress {'x' * 3000}")).text
    assert desk.waiting() == 0


@both
async def test_stopping_hands_over_what_a_waiting_command_leaves_to_do(desk: Desk) -> None:
    """Whoever gave /stop gets the errand of the /compress that had waited for it."""
    id = await long_talk(desk)
    await desk.says("one more")
    assert await desk.store.turns.claim(id) is not None
    await desk.asks("/compress")
    (waited,) = (await desk.asks("/stop")).waited

    assert compress_of(waited.reply.errand).place is not None
    assert desk.waiting() == 1


@both
async def test_a_command_that_comes_again_while_it_waits_waits_once(desk: Desk) -> None:
    """The note that it came is kept with it."""
    await desk.says("one")
    command = desk.inbound("/redo")
    await desk.gives(command)

    assert await desk.gives(command) is None
    assert desk.waiting() == 1


@both
async def test_stopping_lets_a_waiting_command_go_on(desk: Desk) -> None:
    """What a person stops is not in the way any more."""
    id, _ = await desk.says("one")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.asks("/redo")
    await desk.asks("/stop")

    assert desk.waiting() == 0
    assert desk.owed()[-1].startswith("There is nothing to redo")


@both
async def test_a_session_that_ends_takes_its_waiting_commands_with_it(desk: Desk) -> None:
    """And whoever gave them is told that nothing came of it."""
    await desk.says("one")
    await desk.asks("/redo")
    await desk.asks("/new")

    assert desk.waiting() == 0
    assert "/redo was not carried out: the conversation ended first." in desk.owed()


@both
async def test_a_command_that_changes_the_ground_of_a_waiting_one_takes_its_place(
    desk: Desk,
) -> None:
    """/undo comes after the /redo that waits: what it takes back is not brought back by that."""
    id, _ = await desk.says("one")
    await desk.answers(id)
    await desk.says("two")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.asks("/redo")
    _, later = await desk.says("three")
    await desk.asks("/undo")

    assert await execute_waiting(desk.store.database) == []
    assert [
        line.text for line in await desk.store.transcripts.read(id) if line.role is Role.USER
    ] == ["one"]
    assert "/redo was not carried out: another command came after it." in desk.owed()
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    assert claimed.turn.id == later


@both
async def test_a_forgotten_session_takes_its_waiting_commands_with_it(desk: Desk) -> None:
    """Nothing of them is left, as they hold what somebody wrote."""
    id, _ = await desk.says("one")
    await desk.asks("/compress my secret summary")
    await desk.store.sessions.delete(id)

    assert desk.waiting() == 0


@both
async def test_a_forgotten_person_takes_their_waiting_commands_with_them(desk: Desk) -> None:
    """Also where the conversation is everybody's and stays."""
    await desk.says("one", BOB, THREAD)
    await desk.says("two", ALICE, THREAD)
    await desk.asks("/compress my secret summary", ALICE, THREAD)
    reply = await desk.asks("/forget me yes", ALICE, DM)
    assert reply.errand is not None
    await finish_command_job(desk.store.database, reply.errand, desk.inbound("/forget me yes"))

    assert desk.waiting() == 0


@both
async def test_commands_that_wait_say_so_in_the_table(desk: Desk) -> None:
    """Those are redo and compress; a turn that waits for an answer counts as unfinished."""
    waits = {one.name for one in COMMANDS if one.while_running is WhileRunning.WAIT}
    assert waits == {"redo", "compress"}
    id, _ = await desk.says("one")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.store.turns.wait(claimed.lease, Question(text="May I?"))

    assert (await desk.asks("/redo")).text.startswith("That waits")


@both
async def test_words_and_waiting_commands_are_answered_in_the_order_they_came(desk: Desk) -> None:
    """Also if two processes answer, and both carry out what waits, as fast as they can."""
    id, _ = await desk.says("word 0")
    for number in range(1, 6):
        await desk.asks(f"/compress {'x' * number}")
        await desk.says(f"word {number}")
    other = Store(await desk.factory(clock=desk.clock))

    async def work(store: Store) -> None:
        while any(turn.ended_at is None for turn in await desk.store.turns.list(id)):
            if (claimed := await store.turns.claim(id)) is not None:
                await store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "ok")])
            for waited in await execute_waiting(store.database):
                if waited.reply.errand is not None:
                    await store.end_errand(waited.reply.errand)

    await asyncio.gather(work(desk.store), work(other))

    rows = desk.factory.tamper(
        "SELECT turn_id FROM deliveries WHERE turn_id IS NOT NULL OR text NOT LIKE 'That waits%'"
        " ORDER BY id"
    )
    kinds = ["command" if row[0] is None else "word" for row in rows]
    assert kinds == ["word", *["command", "word"] * 5]
    assert desk.waiting() == 0


@both
async def test_collected_words_do_not_overtake_a_command(desk: Desk) -> None:
    """What is said after it becomes a turn after it, in which the next words are collected."""
    id, running = await desk.says("one")
    await desk.store.turns.claim(id)
    await desk.store.sessions.update(id, SessionPatch(busy_mode=BusyMode.COLLECT))
    _, before = await desk.says("two")
    await desk.asks("/redo")
    _, after = await desk.says("three")
    _, together = await desk.says("four")

    assert running < before < after
    assert together == after


@both
async def test_no_more_commands_wait_than_messages_may(desk: Desk) -> None:
    """A command beyond the limit is refused, and nothing of it is stored."""
    desk.store.rules = Settings(queue_cap=2)
    await desk.says("one")
    said = [(await desk.asks("/redo")).text for _ in range(2)]
    with pytest.raises(QueueFull):
        await desk.asks("/redo")

    assert [text.startswith("That waits") for text in said] == [True, True]
    assert desk.waiting() == 2


@both
async def test_who_is_forgotten_leaves_nothing_in_the_way(desk: Desk) -> None:
    """Their command goes, that of somebody else stays, and what waited behind it is told of."""
    await desk.says("hello", BOB, replace(DM, chat="bob"))
    id, _ = await desk.says("one", ALICE, THREAD)
    await desk.asks("/redo", BOB, THREAD)
    await desk.asks("/redo", ALICE, THREAD)
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    _, behind = await desk.says("two", ALICE, THREAD)
    since = await desk.store.feed.end()

    reply = await desk.asks("/forget me yes", BOB, replace(DM, chat="bob"))
    assert reply.errand is not None
    await finish_command_job(desk.store.database, reply.errand, desk.inbound("/forget me yes", BOB))

    assert desk.waiting() == 1
    events = (await desk.store.feed.read(since)).events
    assert (EventKind.TURN_QUEUED, behind) in [(event.kind, event.subject) for event in events]
