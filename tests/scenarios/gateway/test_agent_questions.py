"""Agents that ask and wait: through buttons and commands, a restart, a crash, and a day."""

import asyncio
from datetime import timedelta

from tests.scenarios.gateway.unreliable_database import Fickle
from threadline.core.turn import TurnState
from threadline.platforms.simulated import SendFault
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scripted_agent import Asks, AsksLive, Hangs, Says, TakesSteering


async def one_person(house: GatewayScenario) -> tuple[GatewayUser, GatewayUser]:
    """Introduce Alice, who is the same person in two apps."""
    here, there = house.guest("Alice"), house.guest("Alice", on="discord")
    code = (await here.asks("/link")).split()[-1]
    await there.says(f"/link {code}")
    await there.says("/link yes")
    return here, there


async def test_an_agent_that_waits_is_answered_by_pressing(house: GatewayScenario) -> None:
    """What it said before the question is read first, and it goes on with what it was told."""
    alice = house.guest("Alice")
    house.agent.will(Says("There are three."), AsksLive("Delete them?", ("rm",)), Says("Gone."))
    await alice.says("tidy up")
    assert alice.sees[0] == "There are three.\n\nDelete them?"

    await alice.presses("Approve")

    assert alice.sees[-2:] == ["Approved.", "Gone."]
    assert house.agent.answers == ["approved"]
    assert len(house.agent.requests) == 1


async def test_words_answer_an_agent_that_waits(house: GatewayScenario) -> None:
    """The next message is the answer, not another question."""
    alice = house.guest("Alice")
    house.agent.will(AsksLive("Which colour?"), Says("It is blue."))
    await alice.says("paint the house")

    assert await alice.asks("blue") == "It is blue."
    assert house.agent.answers == ["blue"]


async def test_the_house_waits_for_a_question_that_is_being_stored(
    house: GatewayScenario, fickle: list[Fickle]
) -> None:
    """It does not rest until the question is shown, however slow the database is.

    Scenarios wrote the answer before the question was shown, and then read both at once.
    """
    alice, database, may_wait = house.guest("Alice"), fickle[-1], asyncio.Event()
    house.agent.will(Hangs(), AsksLive("Which colour?"), Says("It is blue."))
    await alice.says("paint the house")

    async def begin_to_ask() -> None:
        """Ask after the house has looked for questions, and before it looks for events."""
        del database.before["read_feed"]
        house.agent.goes_on()
        await house.until(lambda: bool(house.agent.asking), "it asks")

    async def store() -> None:
        may_wait.set()

    database.before = {"read_feed": begin_to_ask, "wait": may_wait.wait, "read_turn": store}
    await house.rests()
    seen = alice.sees
    may_wait.set()

    assert seen == ["Which colour?"]
    assert await alice.asks("blue") == "It is blue."


async def test_an_answer_is_not_joined_to_a_question_that_is_still_to_be_sent(
    house: GatewayScenario,
) -> None:
    """Both are messages of their own, though neither was sent when the turn ended."""
    alice = house.guest("Alice")
    house.agent.will(AsksLive("Which colour?"), Says("It is blue."))
    house.simulated("telegram").suffer(SendFault.FLOOD, retry_after=timedelta(minutes=1))
    await alice.says("paint the house")
    await alice.says("blue")
    assert alice.sees == []

    await house.time_passes(minutes=2)

    assert alice.sees == ["Which colour?", "It is blue."]


async def test_leave_for_the_session_reaches_the_next_turn(house: GatewayScenario) -> None:
    """A tool that was allowed for longer than once is known to the agent from then on."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Delete them?", ("rm",)))
    house.agent.will(Says("Gone."))
    await alice.says("tidy up")
    await alice.presses("This session")

    await alice.says("once more")

    assert house.agent.last.allowed == frozenset({"rm"})
    assert house.agent.requests[0].allowed == frozenset()


async def test_an_agent_that_waits_asks_again_after_a_crash(house: GatewayScenario) -> None:
    """It was begun anew, so its question is, too; the answer comes once."""
    alice = house.guest("Alice")
    for n in range(2):
        house.agent.will(AsksLive(f"Delete them, {n}?"), Says("Gone."))
    await alice.says("tidy up")

    await house.crashes_and_comes_back()
    assert "Delete them, 1?" in alice.sees[-1]
    await alice.presses("Approve")

    assert alice.sees.count("Gone.") == 1
    assert house.agent.answers == ["approved"]


async def test_an_agent_that_waits_asks_again_after_a_restart(house: GatewayScenario) -> None:
    """Nobody waits for the answer when the gateway stops."""
    alice = house.guest("Alice")
    for n in range(2):
        house.agent.will(AsksLive(f"Delete them, {n}?"), Says("Gone."))
    await alice.says("tidy up")

    await house.stops()
    await house.comes_back()
    await alice.presses("Deny")

    assert alice.sees[-2:] == ["Denied.", "Gone."]
    assert house.agent.answers == ["denied"]


async def test_a_question_outlives_a_crash_and_is_answered_hours_later(
    house: GatewayScenario,
) -> None:
    """An agent that yields its question holds nothing, so that nothing is asked again."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Delete them?"))
    house.agent.will(Says("Gone."))
    await alice.says("tidy up")

    await house.crashes()
    await house.comes_back()
    await house.time_passes(hours=5)
    assert alice.sees == ["Delete them?"]
    await alice.presses("Approve")

    assert alice.sees[-2:] == ["Approved.", "Gone."]
    assert house.agent.last.turn.answer == "approved"


async def test_nobody_answers_an_agent_that_waits(house: GatewayScenario) -> None:
    """After a day it is told no, and goes on with that."""
    alice = house.guest("Alice")
    house.agent.will(AsksLive("Delete them?"), Says("Then not."))
    await alice.says("tidy up")

    await house.time_passes(hours=25)
    await house.sweeps()

    assert alice.sees[-1] == "Then not."
    assert house.agent.answers == ["denied"]


async def test_two_answers_at_once_through_two_apps(house: GatewayScenario) -> None:
    """One of them counts; the other is told that somebody was quicker."""
    here, there = await one_person(house)
    house.agent.will(AsksLive("Delete them?"), Says("As you wish."))
    await here.says("tidy up")

    here.writes("/approve")
    there.writes("/deny")
    await house.rests()

    said = [*here.sees, *there.sees]
    assert len(house.agent.answers) == 1
    assert sum(words in {"Approved.", "Denied."} for words in said) == 1
    assert sum("Nothing is waiting for an answer here" in words for words in said) == 1
    assert said.count("As you wish.") == 1


async def test_somebody_who_may_not_answer(house: GatewayScenario) -> None:
    """In a group it is for whoever asked; the agent goes on waiting."""
    alice = house.guest("Alice").in_group("Garden")
    bob = house.guest("Bob").in_group("Garden")
    house.agent.will(AsksLive("Delete them?"), Says("Gone."))
    await alice.says("tidy up")

    await bob.says("/approve")

    assert house.agent.answers == []
    await alice.says("/approve")
    assert house.agent.answers == ["approved"]


async def test_stopped_while_it_waits(house: GatewayScenario) -> None:
    """The agent ends, and the next message is answered."""
    alice = house.guest("Alice")
    house.agent.will(AsksLive("Delete them?"), Says("Gone."))
    await alice.says("tidy up")

    await alice.says("/stop")

    assert await alice.asks("hello") == "ok"
    assert [turn.state for turn in await alice.turns()] == [TurnState.STOPPED, TurnState.DONE]
    assert house.agent.cancelled


async def test_an_agent_that_was_answered_can_be_steered(house: GatewayScenario) -> None:
    """It runs as before its question, so what is said to it reaches it at its next step."""
    alice = house.guest("Alice")
    house.agent.will(AsksLive("Delete them?"), Hangs(), TakesSteering(), Says("Gone."))
    await alice.says("tidy up")
    await alice.presses("Approve")

    await alice.says("/steer but keep the last one")
    await house.agent_goes_on()

    assert [line.text for line in house.agent.steered] == ["but keep the last one"]
    assert alice.sees[-1] == "Gone."
