from decimal import Decimal

import pytest
from msgspec.structs import replace

from threadline.core.errors import Conflict
from threadline.core.session import BusyMode
from threadline.core.turn import TurnState
from threadline.core.usage import CostStatus, Usage
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Asks, Hangs, Says, Spends, Streams


async def test_a_turn_waits_for_its_answer(house: Scenario) -> None:
    """An agent that asks goes on with the answer, whenever that comes."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("May I delete it?"))
    said = await alice.says("tidy up")
    turn = await house.store.turns.get(said.turn_id)
    assert (turn.state, turn.question, turn.owner) == ("waiting", "May I delete it?", None)

    await house.time_passes(hours=3)
    await alice.answers("yes")

    asked = house.agent.last.turn
    assert (asked.id, asked.question, asked.answer) == (said.turn_id, "May I delete it?", "yes")
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_a_question_survives_a_crash(house: Scenario) -> None:
    """Nothing is asked twice, and the answer still finds its turn."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("I found 3 files."), Asks("May I delete them?"))
    said = await alice.says("tidy up")

    await house.crash()
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.WAITING
    assert len(house.agent.requests) == 1
    await alice.answers("yes")

    assert house.agent.last.turn.answer == "yes"
    assert "I found 3 files." in house.agent.lines()
    assert not house.agent.was_told("cut off")


async def test_two_people_approve_and_one_counts(house: Scenario) -> None:
    """The first answer is the answer; the second one learns that it came too late."""
    alice = house.person("alice", on="discord").in_thread("work", "deploy")
    bob = house.person("bob", on="discord").in_thread("work", "deploy")
    house.agent.will(Asks("Deploy?"))
    said = await alice.says("ship it")

    await alice.answers("yes")
    with pytest.raises(Conflict, match="not waiting for an answer"):
        await house.store.turns.answer(said.turn_id, "no")

    assert (await bob.session()).id == (await alice.session()).id
    assert house.agent.last.turn.answer == "yes"


async def test_a_question_nobody_answers_is_denied(house: Scenario) -> None:
    """After a day without an answer the agent is told no."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("May I?"))
    said = await alice.says("tidy up")

    await house.time_passes(hours=23)
    await house.sweeps()
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.WAITING
    await house.time_passes(hours=2)
    await house.sweeps()

    assert house.agent.last.turn.answer == "denied"
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_messages_wait_behind_a_question(house: Scenario) -> None:
    """While a turn waits for its answer, the next ones wait for it."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("May I?"))
    await alice.says("tidy up")
    await alice.says("and the weather?")
    assert [turn.state for turn in await house.turns_of(alice)] == ["waiting", "queued"]

    await alice.answers("yes")

    assert [turn.state for turn in await house.turns_of(alice)] == ["done", "done"]
    assert house.agent.saw_only("tidy up", "and the weather?")


async def test_a_new_message_can_interrupt_a_question(house: Scenario) -> None:
    """With interrupt, whoever writes on instead of answering has changed their mind."""
    house.lives_by(replace(house.rules, busy=BusyMode.INTERRUPT))
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("May I?"))
    said = await alice.says("tidy up")

    await alice.says("never mind")

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.STOPPED
    with pytest.raises(Conflict):
        await house.store.turns.answer(said.turn_id, "yes")


async def test_a_waiting_turn_can_be_stopped(house: Scenario) -> None:
    """Stop is an answer too, and a final one."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("May I?"))
    said = await alice.says("tidy up")

    assert await alice.stops() == said.turn_id
    await house.crash()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.STOPPED
    assert len(house.agent.requests) == 1


async def test_asking_is_no_interruption(house: Scenario) -> None:
    """A turn that asked twice and then crashed once is taken up: it was cut off only once."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Asks("First?"))
    house.agent.will(Asks("Second?"))
    house.agent.will(Hangs())
    said = await alice.says("tidy up")
    await alice.answers("yes")
    await alice.answers("yes")

    await house.crash()

    turn = await house.store.turns.get(said.turn_id)
    assert (turn.state, turn.attempts) == (TurnState.DONE, 2)


async def test_what_was_spent_before_a_question_is_counted(house: Scenario) -> None:
    """Usage of all parts of a turn adds up, also of those before it asked."""
    spent = Usage(
        provider="p",
        model="m",
        input_tokens=10,
        cost=Decimal("0.5"),
        cost_status=CostStatus.EXACT,
    )
    alice = house.person("alice", on="telegram")
    house.agent.will(Spends(spent), Asks("May I?"))
    house.agent.will(Spends(spent), Says("done"))
    said = await alice.says("tidy up")

    await alice.answers("yes")

    (total,) = await house.store.usage.of_session(said.session_id)
    assert (total.input_tokens, total.cost) == (20, Decimal(1))
