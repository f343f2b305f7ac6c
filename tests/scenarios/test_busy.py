import pytest
from msgspec.structs import replace

from threadline.core.errors import QueueFull
from threadline.core.message import Marker, MarkerKind, Role
from threadline.core.session import BusyMode
from threadline.core.session_patch import SessionPatch
from threadline.core.turn import TurnState
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Hangs, Says, Streams, TakesSteering


def busy(house: Scenario, mode: BusyMode) -> ScenarioPerson:
    house.lives_by(replace(house.rules, busy=mode))
    return house.person("alice", on="telegram")


async def states(house: Scenario, person: ScenarioPerson) -> list[TurnState]:
    return [turn.state for turn in await house.turns_of(person)]


async def test_messages_wait_in_line(house: Scenario) -> None:
    """What comes while the agent is busy is answered afterwards, one by one, in order (ask 26)."""
    alice = busy(house, BusyMode.QUEUE)
    house.agent.will(Hangs(), Says("1"))
    await alice.says("one")
    await alice.says("two")
    await alice.says("three")
    assert await states(house, alice) == ["running", "queued", "queued"]

    house.agent.goes_on()
    await house.rests()

    asked = [request.history[-1].text for request in house.agent.requests]
    assert asked == ["one", "two", "three"]
    assert await states(house, alice) == ["done"] * 3


async def test_a_waiting_message_is_not_shown_to_the_running_turn(house: Scenario) -> None:
    """The lines of a turn stand together: question, answer, question, answer (ask 22)."""
    alice = busy(house, BusyMode.QUEUE)
    house.agent.will(Hangs(), Says("1"))
    house.agent.will(Says("2"))
    await alice.says("one")
    await alice.says("two")

    house.agent.goes_on()
    await house.rests()

    lines = [line.text for line in await house.transcript_of(alice) if line.role is not Role.SYSTEM]
    assert lines == ["one", "1", "two", "2"]


async def test_the_line_can_be_read(house: Scenario) -> None:
    """Whoever waits can be shown what is waiting."""
    alice = busy(house, BusyMode.QUEUE)
    house.agent.will(Hangs())
    said = await alice.says("one")
    await alice.says("two")
    await alice.says("three")

    assert [line.text for line in await house.store.transcripts.waiting(said.session_id)] == [
        "two",
        "three",
    ]


async def test_waiting_messages_can_become_one_turn(house: Scenario) -> None:
    """With collect, what waits is answered together, each message still its own."""
    alice = busy(house, BusyMode.COLLECT)
    house.agent.will(Hangs())
    await alice.says("one")
    two = await alice.says("two")
    three = await alice.says("three")

    house.agent.goes_on()
    await house.rests()

    assert (three.arrival.outcome, three.turn_id) == (InboundOutcome.JOINED, two.turn_id)
    assert house.agent.saw_only("one", "two", "three")
    assert len(house.agent.requests) == len(await house.replies_to(alice)) == 2


async def test_a_new_message_can_interrupt(house: Scenario) -> None:
    """With interrupt, the running turn stops, keeps what it said, and the new one is answered."""
    alice = busy(house, BusyMode.INTERRUPT)
    house.agent.will(Streams("Once upon"), Hangs())
    first = await alice.says("tell me a story")
    await house.time_passes(seconds=2)

    second = await alice.says("no, the weather")

    assert second.arrival.stopped_id == first.turn_id
    assert house.agent.cancelled == [first.turn_id]
    assert await states(house, alice) == ["stopped", "done"]
    (partial,) = [line for line in house.agent.last.history if line.role is Role.ASSISTANT]
    assert partial.text.startswith("Once upon")
    assert [part.kind for part in partial.parts if isinstance(part, Marker)] == [MarkerKind.STOPPED]


async def test_a_new_message_can_steer(house: Scenario) -> None:
    """With steer, the running agent is given the message at its next step; one answer for both."""
    alice = busy(house, BusyMode.STEER)
    house.agent.will(Hangs(), TakesSteering(), Says("a blue house"))
    first = await alice.says("paint a house")
    second = await alice.says("a blue one")

    house.agent.goes_on()
    await house.rests()

    assert [line.text for line in house.agent.steered] == ["a blue one"]
    turn = await house.store.turns.get(second.turn_id)
    assert (turn.state, turn.answered_by) == (TurnState.DONE, first.turn_id)
    assert [reply.text for reply in await house.replies_to(alice)] == ["a blue house"]


async def test_steering_that_nobody_took_waits_in_line(house: Scenario) -> None:
    """An agent that takes no steering answers the message afterwards."""
    alice = busy(house, BusyMode.STEER)
    house.agent.will(Hangs(), Says("a house"))
    await alice.says("paint a house")
    await alice.says("a blue one")

    house.agent.goes_on()
    await house.rests()

    assert house.agent.saw_only("paint a house", "a blue one")
    assert len(await house.replies_to(alice)) == 2


async def test_steering_survives_a_crash(house: Scenario) -> None:
    """What was meant for a turn that crashed is still answered (ask 2)."""
    alice = busy(house, BusyMode.STEER)
    house.agent.will(Hangs())
    await alice.says("paint a house")
    await alice.says("a blue one")

    await house.crash()

    assert house.agent.saw_only("paint a house", "a blue one")
    assert await states(house, alice) == ["done", "done"]


async def test_a_platform_can_have_its_own_manners(house: Scenario) -> None:
    """The mode of a platform goes before the general one, and that of a session before both."""
    house.lives_by(replace(house.rules, busy_by_platform={"telegram": BusyMode.COLLECT}))
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("one")
    two, three = await alice.says("two"), await alice.says("three")
    assert two.turn_id == three.turn_id

    await house.store.sessions.update(said.session_id, SessionPatch(busy_mode=BusyMode.QUEUE))
    four = await alice.says("four")
    assert four.turn_id != three.turn_id


async def test_the_line_has_an_end(house: Scenario) -> None:
    """Past a hundred waiting messages the sender is told; nothing vanishes silently (ask 26)."""
    alice = busy(house, BusyMode.QUEUE)
    house.agent.will(Hangs())
    said = await alice.says("the first")
    for number in range(100):
        await alice.says(f"message {number}")

    with pytest.raises(QueueFull, match="Too many messages"):
        await alice.says("one too many", id="late")
    assert len(await house.store.transcripts.waiting(said.session_id)) == 100
    house.agent.goes_on()
    await house.rests()

    again = await alice.says("one too many", id="late")
    assert not again.arrival.is_repeated
    assert len(house.agent.requests) == 102


async def test_one_busy_conversation_keeps_nobody_waiting(house: Scenario) -> None:
    """While Alice's turn hangs, Bob is answered."""
    alice, bob = busy(house, BusyMode.QUEUE), house.person("bob", on="telegram")
    house.agent.will(Hangs())

    await alice.says("a long job")
    await bob.says("hello")

    assert len(await house.replies_to(bob)) == 1
    assert not await house.replies_to(alice)
