"""What becomes of words that come while the agent is busy."""

import pytest
from msgspec.structs import replace

from threadline.core.errors import QueueFull
from threadline.core.session import BusyMode
from threadline.core.settings import EditMode
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Hangs, Says, Streams, TakesSteering


async def test_messages_are_answered_one_by_one(house: GatewayScenario) -> None:
    """Three questions, three answers, in their order."""
    alice = house.guest("Alice")
    for n in range(3):
        house.agent.will(*([Hangs()] if n == 0 else []), Says(f"answer {n}"))
    for n in range(3):
        await alice.says(f"question {n}")
    assert alice.sees == []

    await house.agent_goes_on()

    assert alice.sees == ["answer 0", "answer 1", "answer 2"]


async def test_messages_are_answered_together(house: GatewayScenario) -> None:
    """With collect, what waits becomes one turn."""
    house.lives_by(replace(house.rules, busy_by_platform={"telegram": BusyMode.COLLECT}))
    alice = house.guest("Alice")
    house.agent.will(Hangs(), Says("first"))
    house.agent.will(Says("both"))
    for words in ("one", "two", "three"):
        await alice.says(words)

    await house.agent_goes_on()

    assert alice.sees == ["first", "both"]
    assert house.agent.saw_only("one", "two", "three")


async def test_a_message_interrupts(house: GatewayScenario) -> None:
    """With interrupt, the turn ends where it is, and the new words are answered."""
    house.lives_by(replace(house.rules, busy=BusyMode.INTERRUPT))
    alice = house.guest("Alice")
    house.agent.will(Streams("Once upon"), Hangs())
    house.agent.will(Says("It is sunny."))
    await alice.says("a story")
    await alice.hears("Once upon")

    assert "It is sunny." in await alice.asks("no, the weather")
    assert [turn.state for turn in await alice.turns()] == ["stopped", "done"]
    assert alice.sees[0].startswith("Once upon"), "what was seen stays"


async def test_a_message_steers(house: GatewayScenario) -> None:
    """With steer, or with the command, the running agent hears it; there is one answer."""
    house.lives_by(replace(house.rules, busy_by_platform={"discord": BusyMode.STEER}))
    for guest, words in (
        (house.guest("Alice"), "/steer a blue one"),
        (house.guest("Alice", on="discord"), "a blue one"),
    ):
        house.agent.steered.clear()
        house.agent.will(Hangs(), TakesSteering(), Says("a blue house"))
        await guest.says("paint a house")
        await guest.says(words)
        await house.agent_goes_on()

        assert [line.text for line in house.agent.steered] == ["a blue one"]
        assert guest.sees[-1] == "a blue house"


async def test_a_command_lets_words_wait(house: GatewayScenario) -> None:
    """Where a message would interrupt, /queue lets it wait, and shows what waits."""
    house.lives_by(replace(house.rules, busy=BusyMode.INTERRUPT))
    alice = house.guest("Alice")
    house.agent.will(Hangs(), Says("a story"))
    await alice.says("a story")

    assert await alice.asks("/queue and then the weather") == "It waits for its turn."
    assert "1. and then the weather" in await alice.asks("/queue")
    await house.agent_goes_on()

    assert alice.sees[-2:] == ["a story", "ok"]


async def test_the_line_has_an_end_and_says_so(house: GatewayScenario) -> None:
    """Past the last place the sender is told for each message; none vanishes silently."""
    house.lives_by(replace(house.rules, queue_cap=10))
    alice = house.guest("Alice")
    house.agent.will(Hangs(), Says("ok"))
    await alice.says("the first")
    for n in range(12):
        alice.writes(f"message {n}")
    await house.rests()

    assert alice.sees == [QueueFull.chat] * 2
    await house.agent_goes_on()
    assert len(house.agent.requests) == alice.sees.count("ok") == 11


async def test_one_busy_conversation_keeps_nobody_waiting(house: GatewayScenario) -> None:
    """While Alice's turn hangs, Bob is answered, and so is Alice elsewhere."""
    alice, bob = house.guest("Alice"), house.guest("Bob")
    house.agent.will(Hangs())
    await alice.says("a long job")

    assert await bob.asks("hello") == "ok"
    assert await alice.in_group("Garden").asks("hello") == "ok"
    assert alice.sees == []


@pytest.mark.parametrize("mode", list(EditMode))
async def test_an_edited_message_is_answered_as_it_reads_now(
    house: GatewayScenario, mode: EditMode
) -> None:
    """While it waits, the agent sees only the new words, whatever the setting."""
    house.lives_by(replace(house.rules, edits=mode))
    alice = house.guest("Alice")
    house.agent.will(Hangs())
    await alice.says("one")
    waiting = await alice.says("two appels")

    await alice.edits(waiting, "two apples")
    await house.agent_goes_on()

    assert house.agent.saw_only("one", "two apples")


async def test_an_edit_of_what_was_answered_is_noted(house: GatewayScenario) -> None:
    """It starts no turn; the agent is told with the next one."""
    alice = house.guest("Alice")
    said = await alice.says("my name is Alise")
    await alice.edits(said, "my name is Alice")
    assert len(house.agent.requests) == 1

    await alice.says("what is my name?")

    assert house.agent.was_told("It now says: my name is Alice")


async def test_an_edit_can_ask_again(house: GatewayScenario) -> None:
    """With rerun, the last turn runs once more; the same edit again does nothing."""
    house.lives_by(replace(house.rules, edits=EditMode.RERUN))
    alice = house.guest("Alice")
    said = await alice.says("2 + 2?")
    house.agent.will(Says("six"))

    await alice.edits(said, "2 + 4?")
    house.simulated("telegram").repeat()
    await house.rests()

    assert alice.sees == ["ok", "six"]


async def test_a_deleted_message_is_not_answered(house: GatewayScenario) -> None:
    """Neither while it waits, nor is it shown to the agent after its answer."""
    alice = house.guest("Alice")
    answered = await alice.says("my secret")
    house.agent.will(Hangs(), Says("done"))
    await alice.says("a long job")
    waiting = await alice.says("never mind")

    await alice.deletes(waiting)
    await alice.deletes(answered)
    await house.agent_goes_on()
    await alice.says("what did I say?")

    assert len(house.agent.requests) == 3
    assert house.agent.saw_only("a long job", "what did I say?")
    assert house.agent.was_told("deleted by its sender")
