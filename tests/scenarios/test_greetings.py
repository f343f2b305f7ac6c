from threadline.core.message import Role
from threadline.core.turn import TurnState
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.testing.scenario import Scenario


async def test_the_very_first_message_is_announced(house: Scenario) -> None:
    """The agent is told who is new, so that it can greet: the installation first, then a person."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")

    await alice.says("hello")
    assert house.agent.was_told("ever sent to this installation")
    await bob.says("hello")
    assert house.agent.was_told("ever sent to you")


async def test_nobody_is_greeted_twice(house: Scenario) -> None:
    """A person who is known is not new again, in a new session or in another chat."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")

    await alice.resets()
    await alice.says("hello")
    assert not house.agent.was_told("first message")
    await alice.in_group("family").says("hello")
    assert not house.agent.was_told("first message")


async def test_the_greeting_is_a_note_to_the_agent_only(house: Scenario) -> None:
    """What the agent is told about a person is not sent to that person."""
    alice = house.person("alice", on="telegram")

    await alice.says("hello")

    assert [reply.text for reply in await house.replies_to(alice)] == ["ok"]


async def test_chatter_is_kept_and_starts_no_turn(house: Scenario) -> None:
    """What a group says to itself is context for the agent, with its sender, and no question."""
    alice = house.person("alice", on="discord").in_thread("family", "holidays")
    bob = house.person("bob", on="discord").in_thread("family", "holidays")

    heard = await alice.says("I booked the hotel", observed=True)
    assert heard.arrival.outcome is InboundOutcome.OBSERVED
    assert not house.agent.requests
    await bob.says("which hotel?")

    assert house.agent.saw_only("[Alice] I booked the hotel", "[Bob] which hotel?")


async def test_chatter_while_a_turn_waits_does_not_mix_in(house: Scenario) -> None:
    """Observed lines stand where they were said, and stop no turn."""
    alice = house.person("alice", on="discord").in_thread("family", "holidays")

    await alice.says("one", observed=True)
    await alice.says("two")
    await alice.says("three", observed=True)

    users = [line.text for line in await house.transcript_of(alice) if line.role is Role.USER]
    assert users == ["one", "two", "three"]
    assert [turn.state for turn in await house.turns_of(alice)] == [TurnState.DONE]
