"""Commands on a screen: about the session that somebody looks at, and not about where they are."""

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, DM, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.account import Account
from threadline.core.command import parse_command
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.session import Cause, EndReason, SessionId
from threadline.core.turn import TurnState
from threadline.store.commands import ON_SCREEN, VERBS, CommandReply
from threadline.store.commands.context import Compress
from threadline.store.commands.dispatch import WAITS
from threadline.store.commands.execute import execute_waiting
from threadline.testing.feed_checker import FeedWitness


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def typed(
    desk: Desk,
    id: SessionId,
    line: str,
    rank: AccessLevel = AccessLevel.OWNER,
    account: Account | None = None,
) -> CommandReply:
    """Give a command on a screen that shows a session."""
    reply = await give(desk, id, await written(desk, line, account), rank)
    assert reply is not None
    return reply


async def written(desk: Desk, line: str, account: Account | None = None) -> Inbound:
    """Write a line on a screen, as the owner or as somebody else."""
    who = account or await desk.store.owner_account()
    return desk.inbound(line, who.sender, who.place())


async def give(
    desk: Desk, id: SessionId, said: Inbound, rank: AccessLevel = AccessLevel.OWNER
) -> CommandReply | None:
    """Give a command that may have come before."""
    call = parse_command("".join(getattr(part, "text", "") for part in said.parts))
    assert call is not None
    return await desk.store.command_in(id, said, call, rank)


async def answered(desk: Desk, words: str = "remember the number 7") -> SessionId:
    """Let Alice have a conversation on her platform."""
    id, _ = await desk.says(words)
    await desk.answers(id)
    return id


def test_only_known_commands_are_other_on_a_screen() -> None:
    """What a screen does differently is a command of the table."""
    assert ON_SCREEN.keys() < VERBS.keys()


@both
async def test_a_command_is_about_the_session_in_view(desk: Desk) -> None:
    """The owner names a conversation of Telegram from afar; nothing is owed to anybody."""
    id = await answered(desk)
    reply = await typed(desk, id, "/title The number")
    status = await typed(desk, id, "/status")

    assert (await desk.store.sessions.get(id)).title == "The number"
    assert (reply.session_id, status.session_id) == (id, id)
    assert "“The number”" in status.text
    assert desk.owed() == []


@both
async def test_it_is_carried_out_once(desk: Desk) -> None:
    """The same line with the same id is answered with nothing, and does nothing."""
    id = await answered(desk)
    said = await written(desk, "/branch")

    first = await give(desk, id, said)
    again = await give(desk, id, said)

    assert first is not None
    assert again is None
    assert len((await desk.store.sessions.list()).rows) == 2


@both
async def test_what_fails_is_raised_and_leaves_nothing(desk: Desk) -> None:
    """A screen tells an error as an error, and the same line may be sent again."""
    id = await answered(desk)
    said = await written(desk, "/undo none")
    with pytest.raises(Invalid):
        await give(desk, id, said)
    with pytest.raises(Invalid):
        await give(desk, id, said)
    with pytest.raises(Refused):
        await typed(desk, id, "/platforms", AccessLevel.MEMBER)
    assert desk.owed() == []


@both
async def test_a_new_conversation_ends_the_one_in_view(desk: Desk) -> None:
    """Without a title it begins with its first words, so that the screen goes nowhere yet."""
    id, turn_id = await desk.says("remember the number 7")
    witness = FeedWitness(desk.store)
    await witness.verify([id])
    reply = await typed(desk, id, "/new")
    await witness.verify([id])

    ended = await desk.store.sessions.get(id)
    assert (ended.end_reason, reply.session_id) == (EndReason.NEW, None)
    assert (await desk.store.turns.get(turn_id)).state is TurnState.STOPPED
    fresh, _ = await desk.says("hello again")
    assert fresh != id


@both
async def test_a_new_conversation_with_a_title_takes_the_place_of_the_other(desk: Desk) -> None:
    """Whoever speaks in that chat next goes on in the new one."""
    id = await answered(desk)
    reply = await typed(desk, id, "/new The eighth")
    assert reply.session_id is not None

    fresh = await desk.store.sessions.get(reply.session_id)
    assert (fresh.title, fresh.parent_id, fresh.cause) == ("The eighth", id, Cause.NEW)
    assert (await desk.says("and now?"))[0] == fresh.id


@both
async def test_going_elsewhere_ends_nothing(desk: Desk) -> None:
    """A branch and an earlier conversation have places of their own on a screen."""
    id, turn_id = await desk.says("remember the number 7")
    await desk.store.turns.claim(id)
    branch = await typed(desk, id, "/branch Another way")
    assert branch.session_id is not None
    back = await typed(desk, branch.session_id, f"/resume {id}")

    assert (await desk.store.sessions.get(branch.session_id)).title == "Another way"
    assert back.session_id == id
    assert (await desk.store.turns.get(turn_id)).state is TurnState.RUNNING
    assert (await desk.store.sessions.get(id)).ended_at is None
    assert (await desk.says("go on"))[0] == id


@both
async def test_resuming_finds_only_what_the_asker_may_see(desk: Desk) -> None:
    """A member is not told that somebody else's conversation exists; an owner goes there."""
    hidden = await answered(desk)
    mia = await desk.store.make_account("Mia")
    arrival = await desk.store.receive(desk.inbound("hello", mia.sender, mia.place("t1")))
    own = arrival.session_id
    assert own is not None

    listed = await typed(desk, own, "/resume", AccessLevel.MEMBER, mia)
    there = await typed(desk, own, f"/resume {own}", AccessLevel.MEMBER, mia)
    with pytest.raises(NotFound):
        await typed(desk, own, f"/resume {hidden}", AccessLevel.MEMBER, mia)

    assert "hello" in listed.text
    assert (listed.session_id, there.session_id) == (own, own)
    assert "already" in there.text
    assert (await typed(desk, own, f"/resume {hidden}")).session_id == hidden


@both
async def test_words_are_said_in_the_session_in_view(desk: Desk) -> None:
    """What is queued on a screen waits there, and is answered where the conversation is."""
    id, _ = await desk.says("remember the number 7")
    reply = await typed(desk, id, "/queue and the number 8")
    shown = await typed(desk, id, "/queue")

    assert reply.turn_id is not None
    assert (await desk.store.turns.get(reply.turn_id)).session_id == id
    assert "and the number 8" in shown.text


@both
async def test_the_background_is_beside_the_session_in_view(desk: Desk) -> None:
    """The screen stays, and a button leads to where the work is done."""
    id = await answered(desk)
    reply = await typed(desk, id, "/background count to ten")
    (button,) = reply.choices
    there = await typed(desk, id, button.says)

    assert reply.turn_id is not None
    assert (await desk.store.turns.get(reply.turn_id)).session_id == there.session_id
    assert reply.session_id == id
    assert there.session_id is not None
    assert (await desk.store.sessions.get(there.session_id)).parent_id == id


@both
async def test_a_home_is_the_chat_of_the_session_in_view(desk: Desk) -> None:
    """It is where Alice speaks, not where the owner sits; a screen alone is no home."""
    id = await answered(desk)
    reply = await typed(desk, id, "/sethome")
    branch = await desk.store.receive(await written(desk, "hello"))
    assert branch.session_id is not None
    with pytest.raises(Conflict):
        await typed(desk, branch.session_id, "/sethome")

    assert reply.session_id == id
    assert (await desk.store.deliveries.homes())["telegram"].chat == DM.chat


@both
async def test_what_has_to_wait_is_done_in_the_session_in_view(desk: Desk) -> None:
    """It waits for the turn, is carried out there, and its answer is owed about that session."""
    id = await answered(desk)
    await typed(desk, id, "/undo")
    await desk.says("something else")
    reply = await typed(desk, id, "/redo")
    assert (reply.text, reply.session_id, desk.waiting()) == (WAITS, id, 1)
    await desk.answers(id)

    (waited,) = await execute_waiting(desk.store.database)

    assert desk.owed() == [waited.reply.text]
    (owed,) = [one for one in await desk.store.deliveries.list(id) if one.turn_id is None]
    assert owed.address.platform == "local"
    assert desk.waiting() == 0


@both
async def test_a_wish_that_waited_is_carried_out_there(desk: Desk) -> None:
    """The owner's own chat is another conversation, and nobody confuses the two."""
    await answered(desk)
    id = await answered(desk, "and the number 8")
    await desk.store.transcripts.compact(id, "a number", upto=2)
    await desk.store.receive(await written(desk, "hello"))
    await desk.says("and now?")
    await typed(desk, id, "/compress undo")
    await desk.answers(id)

    (waited,) = await execute_waiting(desk.store.database)

    assert waited.reply.session_id == id
    assert desk.owed() == [waited.reply.text]
    assert await desk.store.transcripts.hidden_ranges(id) == []


@both
async def test_a_summary_keeps_its_place_until_it_is_done(desk: Desk) -> None:
    """No later turn begins before; whoever takes over after a crash knows the session."""
    id = await answered(desk)
    for word in ("two", "three", "four"):
        await desk.says(word)
        await desk.answers(id)
    reply = await typed(desk, id, "/compress numbers")
    await desk.says("and now?")

    assert isinstance(reply.errand, Compress)
    assert (reply.errand.session_id, reply.errand.focus) == (id, "numbers")
    assert await desk.store.turns.claim(id) is None
    await desk.store.end_errand(reply.errand)
    assert await desk.store.turns.claim(id) is not None


@both
async def test_who_somebody_is_does_not_depend_on_what_they_look_at(desk: Desk) -> None:
    """The owner is the owner, also in Alice's conversation."""
    id = await answered(desk)
    reply = await typed(desk, id, "/whoami")

    assert "You are owner on local" in reply.text
    assert f"What you say here goes to {id}." in reply.text
    assert str(ALICE.id) not in reply.text
