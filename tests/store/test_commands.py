"""Commands as a gateway gives them: once each, by rank, with an answer owed."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.databases import FAST, DatabaseFactory, on
from tests.store.command_setup import ALICE, BOB, DM, GROUP, THREAD, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Sender
from threadline.core.command import COMMANDS
from threadline.core.errors import Invalid
from threadline.core.inbound import InboundKind
from threadline.core.message import MediaKind, Text
from threadline.core.route import MAIN_PROFILE
from threadline.core.session import BusyMode, Cause, SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.turn import TurnId, TurnState
from threadline.store import queries
from threadline.store.inbound.deduplication import InboundOutcome, find_arrival
from threadline.store.sessions.session_list import list_own_sessions

FOR_ADMINS = {"platforms", "sethome"}


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def asked(
    desk: Desk, text: str, sender: Sender = ALICE, at: Address = DM
) -> tuple[SessionId, TurnId]:
    """Say something to which the agent answers with a question."""
    id, turn_id = await desk.says(text, sender, at)
    await desk.wonders(id)
    return id, turn_id


@both
async def test_a_command_is_carried_out_once_and_its_answer_is_owed_once(desk: Desk) -> None:
    """A platform that repeats /new gets neither a second reset nor a second answer."""
    await desk.says("hello")
    command = desk.inbound("/new")
    first = await desk.gives(command)
    fresh, _ = await desk.says("fresh")

    assert first is not None
    assert await desk.gives(command) is None
    assert (await desk.store.sessions.get(fresh)).ended_at is None
    assert desk.owed() == [first.text]


@both
async def test_the_same_command_from_many_at_once_counts_once(desk: Desk) -> None:
    """Two processes that get the same message at the same time carry it out once."""
    await desk.says("hello")
    command = desk.inbound("/title Plans")
    replies = await asyncio.gather(*(desk.gives(command) for _ in range(8)))

    assert [reply.text for reply in replies if reply is not None] == ["This is “Plans” now."]
    assert desk.owed() == ["This is “Plans” now."]


@both
async def test_a_failing_command_is_answered_and_leaves_nothing_behind(desk: Desk) -> None:
    """Why it failed is said once, however often the same message comes; nothing else is stored."""
    command = desk.inbound("/undo nonsense")
    reply = await desk.gives(command)

    assert reply is not None
    assert reply.text == "“nonsense” is not a number of turns. /undo 2 takes two."
    assert desk.owed() == [reply.text]
    assert await desk.gives(command) == reply
    assert desk.owed() == [reply.text]


@on(FAST)
@pytest.mark.parametrize("rank", list(AccessLevel))
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
async def test_every_command_asks_for_a_rank(
    desk: Desk, command: object, rank: AccessLevel
) -> None:
    """A stranger may nothing, a member what is their own, an admin also what goes beyond."""
    assert command in COMMANDS
    name = getattr(command, "name", "")
    await desk.says("hello")
    reply = await desk.asks(f"/{name}", rank=rank)

    is_refused = reply.text.startswith(f"/{name} is for those who")
    least = AccessLevel.ADMIN if name in FOR_ADMINS else AccessLevel.MEMBER
    assert is_refused is not rank.may(least)


@on(FAST)
@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if not one.arguments], ids=lambda one: one.name
)
async def test_words_where_none_belong_are_refused(desk: Desk, command: object) -> None:
    """A command that takes nothing says so, and does nothing."""
    name = getattr(command, "name", "")
    id, turn_id = await desk.says("hello")
    reply = await desk.asks(f"/{name} something", rank=AccessLevel.OWNER)

    assert reply.text == f"/{name} takes nothing after it."
    assert (await desk.store.sessions.get(id)).is_open
    assert (await desk.store.turns.get(turn_id)).state is TurnState.QUEUED


@on(FAST)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
async def test_hostile_arguments_are_answered(desk: Desk, command: object) -> None:
    """Control characters, NUL-like escapes and huge words are answered shortly, not raised."""
    name = getattr(command, "name", "")
    await desk.says("hello")
    for hostile in ("\x1b[31m\u202eevil\u200b", "x" * 100_000, "%s{0}';--", "-1", "../../etc"):
        reply = await desk.asks(f"/{name} {hostile}", rank=AccessLevel.OWNER)
        assert len(reply.text) < 5_000
        assert "\x1b" not in reply.text
        assert "\u202e" not in reply.text


@both
async def test_help_lists_what_the_asker_may(desk: Desk) -> None:
    """A member does not see the commands of admins."""
    assert "/sethome" not in (await desk.asks("/help")).text
    assert "/sethome" in (await desk.asks("/help", rank=AccessLevel.ADMIN)).text
    assert "/whoami" in (await desk.asks("/help")).text


@both
async def test_a_link_code_is_never_kept(desk: Desk) -> None:
    """It is in the reply, for the caller to say, and in no row."""
    reply = await desk.asks("/link")
    code = reply.text.rpartition(" ")[2]

    assert reply.is_secret
    assert len(code) == 8
    assert desk.owed() == []


@both
async def test_wrong_link_codes_are_counted_though_the_answer_is_a_refusal(desk: Desk) -> None:
    """After five of them nobody looks at the next."""
    said = [(await desk.asks("/link AAAAAAAA", BOB)).text for _ in range(6)]

    assert said[0].startswith("This code is not valid")
    assert said[-1].startswith("Too many wrong codes")


@both
async def test_a_command_is_a_message(desk: Desk) -> None:
    """An edit is none, and is an error of the caller."""
    edit = replace(desk.inbound("/new"), kind=InboundKind.EDIT, version=1)
    with pytest.raises(Invalid, match="A command is a message"):
        await desk.gives(edit)


@both
async def test_approve_and_deny_answer_the_turn_that_waits(desk: Desk) -> None:
    """The words that are said with it reach the agent; the second approver is told."""
    for text, answer in (("/approve", "approved"), ("/deny too risky", "denied: too risky")):
        id, turn_id = await desk.says("deploy")
        await desk.wonders(id)
        await desk.asks(text)
        late = await desk.asks("/approve")

        assert (await desk.store.turns.get(turn_id)).answer == answer
        assert late.text.startswith("Nothing is waiting for an answer here")
        await desk.answers(id)


@both
async def test_nobody_answers_for_another(desk: Desk) -> None:
    """In a group where each has their own conversation, Bob cannot approve what Alice is asked."""
    id, turn_id = await desk.says("deploy", ALICE, GROUP)
    await desk.wonders(id)
    reply = await desk.asks("/approve", BOB, GROUP, AccessLevel.ADMIN)

    assert reply.text.startswith("Nothing is waiting")
    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING


@both
async def test_two_approvers_at_once(desk: Desk) -> None:
    """In a shared thread one of them counts, and the other one, an admin, is told."""
    _, turn_id = await asked(desk, "deploy", ALICE, THREAD)
    yes, no = desk.inbound("/approve", ALICE, THREAD), desk.inbound("/deny", BOB, THREAD)
    given = await asyncio.gather(desk.gives(yes), desk.gives(no, AccessLevel.ADMIN))
    said = {reply.text for reply in given if reply}

    answer = (await desk.store.turns.get(turn_id)).answer
    assert answer in {"approved", "denied"}
    assert f"{str(answer).capitalize()}." in said
    assert len(said) == 2


@both
async def test_in_a_shared_conversation_whoever_was_asked_answers_or_an_admin(desk: Desk) -> None:
    """Bob may not answer for Alice, with a command or in plain words, unless he is an admin."""
    _, turn_id = await asked(desk, "deploy", ALICE, THREAD)

    refused = await desk.asks("/approve", BOB, THREAD)
    await desk.store.receive(desk.inbound("yes", BOB, THREAD), answers=AccessLevel.MEMBER)
    assert refused.text == "Only whoever was asked, or an admin, can answer this."
    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING
    await desk.store.receive(desk.inbound("go ahead", BOB, THREAD), answers=AccessLevel.ADMIN)
    assert (await desk.store.turns.get(turn_id)).answer == "go ahead"


@both
async def test_what_is_answered_once_more_asks_the_same_person(desk: Desk) -> None:
    """Bob has Alice's words answered again: the question is still hers."""
    id, _ = await desk.says("deploy", ALICE, THREAD)
    await desk.answers(id)
    await desk.asks("/retry", BOB, THREAD)
    await desk.wonders(id)

    assert "or an admin" in (await desk.asks("/approve", BOB, THREAD)).text
    assert (await desk.asks("/approve", ALICE, THREAD)).text == "Approved."


@both
async def test_words_may_begin_with_a_number(desk: Desk) -> None:
    """A number alone names a question; one that no question has is the first of the words."""
    _, turn_id = await asked(desk, "deploy")

    assert (await desk.asks(f"/approve {turn_id + 1}")).text.startswith("Nothing is waiting")
    await desk.asks("/deny 3 of them are needed")

    assert (await desk.store.turns.get(turn_id)).answer == "denied: 3 of them are needed"


@both
async def test_the_question_of_the_background_is_answered_where_it_was_asked(desk: Desk) -> None:
    """It is named by its number; without one that of the conversation comes first."""
    own, own_turn = await asked(desk, "deploy", ALICE, GROUP)
    await desk.asks("/background tidy up", ALICE, GROUP)
    beside = await desk.wonders()

    assert (await desk.asks(f"/approve {beside}", BOB, GROUP)).text.startswith("Nothing is waiting")
    assert (await desk.asks("/approve", ALICE, GROUP)).turn_id == own_turn
    await desk.answers(own)
    assert (await desk.asks(f"/deny {beside} not yet", ALICE, GROUP)).text == "Denied."
    assert (await desk.store.turns.get(beside)).answer == "denied: not yet"


@both
async def test_plain_words_answer_what_was_said_last_in_a_dm(desk: Desk) -> None:
    """They answer the background if it asked just before; after other words they are for us."""
    await desk.asks("/background tidy up")
    beside = await desk.wonders()
    await desk.asks("/whoami")
    other = await desk.store.receive(desk.inbound("hello"), answers=AccessLevel.MEMBER)
    assert other.turn_id != beside
    await desk.asks("/approve")
    await desk.wonders((await desk.store.turns.get(beside)).session_id)
    said = desk.inbound("yes, please")

    given = await desk.store.receive(said, answers=AccessLevel.MEMBER)
    again = await desk.store.receive(said, answers=AccessLevel.MEMBER)

    assert (given.outcome, given.turn_id) == (InboundOutcome.ANSWERED, beside)
    assert (again.turn_id, again.is_repeated) == (beside, True)
    assert (await desk.store.turns.get(beside)).answer == "yes, please"


@both
async def test_a_model_is_chosen_shown_and_left_again(desk: Desk) -> None:
    """By name, or by provider and name; colons in a name stay."""
    id, _ = await desk.says("hello")
    assert "configuration" in (await desk.asks("/model")).text
    await desk.asks("/model ollama:llama3:8b")
    choice = (await desk.store.sessions.get(id)).choice
    assert choice is not None
    assert (choice.provider, choice.model, choice.base_url) == ("ollama", "llama3:8b", None)
    assert "llama3:8b of ollama" in (await desk.asks("/model")).text
    await desk.asks("/model default")
    assert (await desk.store.sessions.get(id)).choice is None


@both
async def test_only_an_admin_chooses_the_server_of_a_model(desk: Desk) -> None:
    """Whoever runs that server would be sent our credentials; none may stand in its address."""
    id, _ = await desk.says("hello")
    asked = "/model gpt https://evil.example/v1"
    assert (await desk.asks(asked)).text.startswith("Only an admin")
    assert (await desk.store.sessions.get(id)).choice is None
    secret = "/model gpt https://user:pass@host/v1"
    assert "pass" not in (await desk.asks(secret, rank=AccessLevel.ADMIN)).text
    assert (await desk.store.sessions.get(id)).choice is None
    await desk.asks(asked, rank=AccessLevel.ADMIN)
    assert (await desk.store.sessions.get(id)).choice is not None


@both
async def test_the_background_is_a_session_of_its_own(desk: Desk) -> None:
    """It belongs to the asker, answers to the same chat, and the conversation goes on."""
    here, _ = await desk.says("hello")
    reply = await desk.asks("/background count the stars")
    rows = await desk.store.database.read(
        list_own_sessions, DM, ALICE, profile=MAIN_PROFILE, most=queries.PAGE
    )
    beside = next(row.session for row in rows if row.session.id != here)
    claimed = await desk.store.turns.claim(beside.id)

    assert (beside.cause, beside.parent_id, beside.title) == (
        Cause.BACKGROUND,
        here,
        "count the stars",
    )
    assert beside.id in reply.text
    assert claimed is not None
    assert [line.text for line in await desk.store.transcripts.read(beside.id)][
        -1
    ] == "count the stars"
    assert (await desk.says("more"))[0] == here
    await desk.asks(f"/resume {beside.id}")
    assert (await desk.says("and the moons"))[0] == beside.id


@both
async def test_words_are_queued_or_steered_whatever_the_mode(desk: Desk) -> None:
    """They stand in the transcript without their command, and come once."""
    id, running = await desk.says("one")
    await desk.store.sessions.update(id, SessionPatch(busy_mode=BusyMode.INTERRUPT))
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    queued, steered = desk.inbound("/queue two"), desk.inbound("/steer three")
    first = await desk.gives(queued)
    await desk.gives(steered)

    assert await desk.gives(queued) is None
    assert await desk.gives(steered) is None
    assert first is not None
    assert first.turn_id is not None
    assert (await desk.store.turns.get(running)).state is TurnState.RUNNING
    assert [line.text for line in await desk.store.transcripts.waiting(id)] == ["two", "three"]
    before, last = await desk.store.turns.take_steering(claimed.lease)
    assert last == before + 1
    assert [line.text for line in await desk.store.transcripts.waiting(id)] == ["two"]
    known = await desk.store.database.read(find_arrival, queued)
    assert known is not None
    assert known.turn_id == first.turn_id


@both
async def test_an_edit_of_queued_words_is_of_the_words(desk: Desk) -> None:
    """Also if it still has the command before it."""
    id, _ = await desk.says("one")
    queued = desk.inbound("/queue two")
    await desk.gives(queued)
    text = (Text(text="/queue three"),)
    await desk.store.receive(replace(queued, kind=InboundKind.EDIT, version=1, parts=text))

    assert [line.text for line in await desk.store.transcripts.waiting(id)] == ["one", "three"]


@both
async def test_attachments_come_along_with_queued_words(desk: Desk) -> None:
    """What was sent with the command belongs to the words."""
    picture = await desk.store.attachments.put(b"png", "image/png", MediaKind.IMAGE)
    said = desk.inbound("/queue look")
    await desk.gives(replace(said, parts=(*said.parts, picture)))
    id = (
        await desk.store.database.read(
            list_own_sessions, DM, ALICE, profile=MAIN_PROFILE, most=queries.PAGE
        )
    )[0].session.id

    assert (await desk.store.transcripts.waiting(id))[-1].parts == (Text(text="look"), picture)


@both
async def test_the_queue_shows_the_askers_own_words(desk: Desk) -> None:
    """Of what others said in a shared conversation it tells only how much that is."""
    await desk.says("mine \x1b[31m first", ALICE, THREAD)
    await desk.says("a secret of Bob", BOB, THREAD)
    await desk.says("mine too", ALICE, THREAD)

    assert (await desk.asks("/queue", ALICE, THREAD)).text.splitlines() == [
        "This waits:",
        "1. mine [31m first",
        "2. mine too",
        "… and 1 message of others",
    ]
    assert (await desk.asks("/queue", ALICE, DM)).text == "Nothing is waiting."
