from threadline.core.message import Role
from threadline.store.inbound.deduplication import InboundOutcome, find_arrival
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Hangs


async def test_a_message_that_comes_twice_is_answered_once(house: Scenario) -> None:
    """Who delivers again gets the same turn again, and nobody is answered twice (ask 3)."""
    alice = house.person("alice", on="telegram")

    first = await alice.says("hello")
    again = await alice.says_again(first)

    assert again.arrival.is_repeated
    assert (again.session_id, again.turn_id) == (first.session_id, first.turn_id)
    assert len(house.agent.requests) == len(await house.replies_to(alice)) == 1


async def test_a_message_that_comes_again_after_a_crash_is_known(house: Scenario) -> None:
    """What was taken in before a crash is not taken in again after it (asks 2 and 3)."""
    alice = house.person("alice", on="telegram")

    first = await alice.says("hello")
    await house.crash()
    again = await alice.says_again(first)

    assert again.arrival.is_repeated
    assert await house.store.database.read(find_arrival, first.inbound) is not None
    assert len(house.agent.requests) == 1


async def test_a_message_is_known_long_after_its_session(house: Scenario) -> None:
    """A late repetition begins no new session, even when the old one is over (ask 3)."""
    alice = house.person("alice", on="telegram")

    first = await alice.says("hello")
    await house.time_passes(days=30)
    again = await alice.says_again(first)

    assert again.session_id == first.session_id
    assert len(await house.sessions_of(alice)) == 1


async def test_the_same_number_in_another_chat_is_another_message(house: Scenario) -> None:
    """Platforms count messages per chat; equal numbers elsewhere are no repetition."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")

    await alice.says("hello", id="1")
    other = await bob.says("hello", id="1")

    assert not other.arrival.is_repeated
    assert len(house.agent.requests) == 2


async def test_a_command_that_comes_twice_is_carried_out_once(house: Scenario) -> None:
    """A redelivered /new does not throw away the conversation that has begun since (ask 3)."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")

    assert await alice.resets(id="77") is not None
    await alice.says("a fresh start")
    assert await alice.resets(id="77") is None
    await alice.says("still here?")

    assert house.agent.saw_only("a fresh start", "still here?")


async def test_an_edit_that_comes_twice_changes_once(house: Scenario) -> None:
    """A redelivered edit leaves one revision and one note, not two (ask 3)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("hallo")

    edit = await alice.edits(said, "hello")
    again = await alice.says_again(edit)
    await alice.says("and?")

    assert (edit.arrival.outcome, again.arrival.outcome) == (
        InboundOutcome.CHANGED,
        InboundOutcome.CHANGED,
    )
    assert again.arrival.is_repeated
    assert sum("was edited" in line for line in house.agent.lines(Role.SYSTEM)) == 1


async def test_a_repetition_while_the_turn_runs_changes_nothing(house: Scenario) -> None:
    """A platform that is impatient while the agent thinks does not start a second turn (ask 3)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())

    first = await alice.says("think hard")
    await alice.says_again(first)
    house.agent.goes_on()
    await house.rests()

    assert [turn.id for turn in await house.turns_of(alice)] == [first.turn_id]
