"""Commands in chats, with the real worker: what people ask for, and what comes of it."""

import asyncio
from datetime import timedelta

import pytest

from threadline.core.access_level import AccessLevel
from threadline.core.command import parse_command
from threadline.core.inbound import Inbound
from threadline.core.message import Role
from threadline.core.turn import TurnState
from threadline.store.commands import CommandReply
from threadline.store.commands.execute import execute
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Asks, Hangs, Says, TakesSteering
from threadline.testing.scripted_summarizer import ScriptedSummarizer


def write(person: ScenarioPerson, text: str) -> Inbound:
    """Write a command, a second after the last thing that was said."""
    house = person.house
    house.clock.advance(timedelta(seconds=1))
    return Inbound.text(
        text,
        address=person.address,
        sender=person.sender,
        at=house.clock(),
        message_id=house.new_message_id(),
    )


async def bring(
    person: ScenarioPerson, inbound: Inbound, rank: AccessLevel = AccessLevel.MEMBER
) -> CommandReply | None:
    """Let the platform bring a command."""
    call = parse_command(" ".join(getattr(part, "text", "") for part in inbound.parts))
    assert call is not None
    reply = await execute(person.house.store.database, inbound, call, rank)
    await person.house.rests()
    return reply


async def ask(person: ScenarioPerson, text: str, rank: AccessLevel = AccessLevel.MEMBER) -> str:
    """Give a command, and read what it answers."""
    reply = await bring(person, write(person, text), rank)
    assert reply is not None
    return reply.text


async def hears(person: ScenarioPerson, words: str) -> None:
    """Wait until a person was sent these words."""
    over = asyncio.get_running_loop().time() + HANG_SECONDS
    while not any(words in reply.text for reply in await person.house.replies_to(person)):
        assert asyncio.get_running_loop().time() < over, f"nobody said: {words}"
        await asyncio.sleep(0.002)


async def engage_scribe(house: Scenario, summary: str) -> ScriptedSummarizer:
    """Let somebody write summaries, all of which read like this."""
    scribe = ScriptedSummarizer()
    scribe.summary = summary
    await house.goes_down()
    house.scribe = scribe
    await house.comes_back()
    return scribe


def spoken(texts: list[str], *wanted: str) -> list[str]:
    """Leave of some texts those that are wanted, in their order."""
    return [text for text in texts if text in wanted]


async def test_a_summary_stands_where_it_was_asked_for(house: Scenario) -> None:
    """/compress waits for the answer before it, and what is said after it waits for /compress."""
    await engage_scribe(house, "A number was told.")
    alice = house.person("alice", on="telegram")
    await alice.says("the number is 7")
    await alice.says("one")
    house.agent.will(Hangs(), Says("2"))
    await alice.says("two")
    assert (await ask(alice, "/compress the numbers")).startswith("That waits")
    await alice.says("three")

    house.agent.goes_on()
    await hears(alice, "A summary stands for")
    await house.rests()

    assert house.agent.was_told("A number was told.")
    assert spoken(house.agent.lines(), "the number is 7", "two", "three") == ["two", "three"]


async def test_a_command_that_waits_survives_a_crash(house: Scenario) -> None:
    """It is carried out by the process that comes after, in its place, and answered once."""
    await engage_scribe(house, "A number was told.")
    alice = house.person("alice", on="telegram")
    await alice.says("the number is 7")
    await alice.says("one")
    house.agent.will(Hangs())
    await alice.says("two")
    await ask(alice, "/compress the numbers")
    await alice.says("three")

    await house.crash()
    await hears(alice, "A summary stands for")
    await house.rests()

    assert house.agent.was_told("A number was told.")
    assert spoken(house.agent.lines(), "the number is 7", "two", "three") == ["two", "three"]
    replies = [reply.text for reply in await house.replies_to(alice)]
    assert sum("A summary stands for" in text for text in replies) == 1


async def test_an_approval_goes_to_the_agent(house: Scenario) -> None:
    """Whoever is asked says yes or no with a command, and the agent goes on with that."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("May I delete it?"))
    await alice.says("tidy up")

    assert await ask(alice, "/deny keep the photos") == "Denied."
    assert house.agent.last.turn.answer == "denied: keep the photos"
    assert "Nothing is waiting" in await ask(alice, "/approve")


async def test_only_who_is_in_the_conversation_approves(house: Scenario) -> None:
    """In a shared thread an admin may answer for Alice; from another chat he may not."""
    alice = house.person("alice", on="discord").in_thread("work", "deploy")
    bob = house.person("bob", on="discord")
    house.agent.will(Asks("Deploy?"))
    said = await alice.says("ship it")

    assert "Nothing is waiting" in await ask(bob, "/approve", AccessLevel.ADMIN)
    assert "Nothing is waiting" in await ask(
        bob.in_thread("work", "other"), "/approve", AccessLevel.ADMIN
    )
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.WAITING
    assert "or an admin" in await ask(bob.in_thread("work", "deploy"), "/approve")
    assert await ask(bob.in_thread("work", "deploy"), "/approve", AccessLevel.ADMIN) == "Approved."
    assert house.agent.last.turn.answer == "approved"


async def test_something_is_done_in_the_background(house: Scenario) -> None:
    """The conversation goes on meanwhile, and the answer comes to the same chat."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("hello")
    house.agent.will(Hangs(), Says("There are 42."))
    said = await ask(alice, "/background count the stars")
    house.agent.will(Says("fine"))
    second = await alice.says("how are you?")

    assert second.session_id == first.session_id
    house.agent.goes_on()
    await house.rests()
    texts = [reply.text for reply in await house.replies_to(alice)]
    assert spoken(texts, "fine", "There are 42.") == ["fine", "There are 42."]
    assert "“count the stars”" in said


async def test_a_background_task_comes_once(house: Scenario) -> None:
    """A platform that repeats the command does not have it done twice."""
    alice = house.person("alice", on="telegram")
    command = write(alice, "/background count the stars")

    assert await bring(alice, command) is not None
    assert await bring(alice, command) is None
    assert len(await house.sessions_of(alice)) == 1


async def test_a_word_to_the_agent_while_it_works(house: Scenario) -> None:
    """/steer reaches the running turn, though messages wait in line here."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs(), TakesSteering(), Says("ok"))
    await alice.says("write a poem")
    assert "next step" in await ask(alice, "/steer shorter, please")

    house.agent.goes_on()
    await house.rests()

    lines = [line.text for line in await house.transcript_of(alice) if line.role is Role.USER]
    assert lines == ["write a poem", "shorter, please"]
    assert len(house.agent.requests) == 1


async def test_without_a_running_turn_steering_is_saying(house: Scenario) -> None:
    """And /queue says something, too: nobody has to know whether the agent is busy."""
    alice = house.person("alice", on="telegram")
    assert await ask(alice, "/steer hello") == ""
    assert await ask(alice, "/queue and more") == ""

    asked = [request.history[-1].text for request in house.agent.requests]
    assert asked == ["hello", "and more"]
    assert len(await house.replies_to(alice)) == 2


async def test_what_waits_is_shown(house: Scenario) -> None:
    """By number, in the order in which it is answered."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("one")
    await alice.says("two")
    await ask(alice, "/queue three")

    assert await ask(alice, "/queue") == "This waits:\n1. two\n2. three"


async def test_commands_for_admins_are_for_admins(house: Scenario) -> None:
    """A member is told so, and what they may not do is not in their help."""
    alice = house.person("alice", on="telegram").in_group("family")

    assert "admin" in await ask(alice, "/sethome")
    assert await house.store.deliveries.homes() == {}
    assert "/sethome" not in await ask(alice, "/help")
    assert "come here from now on" in await ask(alice, "/sethome", AccessLevel.ADMIN)
    assert (await house.store.deliveries.homes())["telegram"].chat == "family"
    (noted,) = await house.store.audit()
    assert (noted.act, noted.subject, noted.detail) == (
        "home.set",
        "telegram",
        "telegram:id-of-alice",
    )


@pytest.mark.parametrize("command", ["/sessions", "/status", "/whoami", "/new", "/help"])
async def test_a_stranger_may_nothing(house: Scenario, command: str) -> None:
    """Whatever they ask for, the answer is the same, and the conversation stays as it is."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("my secret")

    assert "is for those who may speak here" in await ask(alice, command, AccessLevel.STRANGER)
    assert (await house.store.sessions.get(said.session_id)).is_open


async def test_a_model_is_chosen_for_one_conversation(house: Scenario) -> None:
    """It goes with the conversation, and a new one begins without it."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await ask(alice, "/model anthropic:claude")
    assert "claude of anthropic" in await ask(alice, "/model")
    await ask(alice, "/new")
    await alice.says("hello again")

    assert "configuration" in await ask(alice, "/model")
