"""A conversation through a gateway: what is said is answered where it was said, once."""

import pytest

from threadline.core.errors import NotFound
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Fails, Says


async def test_what_is_said_is_answered(house: GatewayScenario) -> None:
    """Alice asks, and reads the answer; nothing is owed or unacknowledged any more."""
    alice = house.guest("Alice")

    assert await alice.asks("hello") == "ok"
    assert house.agent.saw_only("hello")
    assert (await house.store.load()).owed == house.simulated("telegram").unacknowledged == 0


async def test_what_comes_twice_is_answered_once(house: GatewayScenario) -> None:
    """A platform that is in doubt brings a message again, before a restart or after it."""
    alice = house.guest("Alice")
    await alice.says("hello")
    house.simulated("telegram").repeat()
    await house.rests()
    house.simulated("telegram").repeat()
    await house.crashes_and_comes_back()

    assert alice.sees == ["ok"]
    assert len(house.agent.requests) == 1


async def test_every_place_is_a_conversation_of_its_own(house: GatewayScenario) -> None:
    """Alone, in a group, in a thread; members of a group are apart, those of a thread are not."""
    alice, bob = house.guest("Alice"), house.guest("Bob")
    for place in (alice, alice.in_group("Garden"), bob.in_group("Garden")):
        await place.says("here")
        assert house.agent.lines()[-1].endswith("here")
        assert len([line for line in house.agent.lines() if "here" in line]) == 1
    await alice.in_thread("Garden", "Peas").says("in the thread")
    await bob.in_thread("Garden", "Peas").says("I too")

    assert house.agent.saw_only("[Alice] in the thread", "[Bob] I too")
    assert alice.sees == ["ok"]
    assert alice.in_group("Garden").sees == ["ok", "ok"]
    assert len(await house.sessions()) == 4


async def test_an_agent_that_fails_says_so(house: GatewayScenario) -> None:
    """Alice reads why, and can have it tried again."""
    alice = house.guest("Alice")
    house.agent.will(Fails("the model is ill"))
    house.agent.will(Says("I am better now"))

    assert "the model is ill" in await alice.asks("hello")
    assert await alice.asks("/retry") == "Once more.\n\nI am better now"


async def test_a_reply_knows_what_it_answers(house: GatewayScenario) -> None:
    """The agent is told which message triggered it, and to which one that replies."""
    alice = house.guest("Alice")
    first = await alice.says("peas or beans?")
    second = await alice.says("the first ones", reply_to=first)

    trigger = house.agent.last.trigger
    assert (trigger.message_id, trigger.reply_to) == (second, first)


async def test_where_nobody_has_spoken_there_is_no_session(house: GatewayScenario) -> None:
    """A house says so, so that a story with a wrong name in it fails."""
    with pytest.raises(NotFound, match="Nobody has spoken here"):
        await house.guest("Nobody").session()
    with pytest.raises(AssertionError, match="nobody can be met"):
        house.platforms["deaf"] = object()  # type: ignore[assignment]
        house.guest("Alice", on="deaf")
