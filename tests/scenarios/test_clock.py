from datetime import timedelta

from threadline.core.message import Role
from threadline.core.turn import TurnState
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Hangs, Says


async def test_a_clock_that_goes_back_changes_no_order(house: Scenario) -> None:
    """Transcripts are ordered by sequence number, never by time."""
    alice = house.person("alice", on="telegram")
    await alice.says("one")

    house.clock.advance(timedelta(hours=-3))
    await alice.says("two")

    lines = await house.transcript_of(alice)
    assert [line.text for line in lines if line.role is Role.USER] == ["one", "two"]
    assert lines[-1].at < lines[0].at


async def test_a_clock_that_goes_back_ends_no_session(house: Scenario) -> None:
    """An activity in the future is an activity; the conversation goes on."""
    alice = house.person("alice", on="telegram")
    await alice.says("one")

    house.clock.advance(timedelta(days=-2))
    await house.sweeps()
    await alice.says("two")

    assert house.agent.saw_only("one", "two")


async def test_a_turn_survives_a_clock_that_goes_back(house: Scenario) -> None:
    """A running turn keeps its lease when the clock is put back, and ends as if nothing was."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs(), Says("done"))
    said = await alice.says("a long job")

    await house.time_passes(hours=-3)
    house.agent.goes_on()
    await house.rests()

    turn = await house.store.turns.get(said.turn_id)
    assert (turn.state, turn.attempts) == (TurnState.DONE, 1)


async def test_a_turn_survives_a_clock_that_jumps_ahead(house: Scenario) -> None:
    """A machine that slept for a night goes on with what it was doing (ask 18)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs(), Says("done"))
    said = await alice.says("a long job")

    await house.time_passes(hours=7)
    house.agent.goes_on()
    await house.rests()

    turn = await house.store.turns.get(said.turn_id)
    assert (turn.state, turn.attempts) == (TurnState.DONE, 1)


async def test_a_crash_before_the_clock_goes_back_is_recovered(house: Scenario) -> None:
    """A lease from the future binds nobody for long."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("a long job")

    await house.goes_down()
    house.clock.advance(timedelta(days=-1))
    await house.comes_back()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_no_reply_is_lost_to_a_clock_that_goes_back(house: Scenario) -> None:
    """A reply goes out at the latest when the clock has come to where it was."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")

    house.clock.advance(timedelta(hours=-2))
    await alice.says("hello again")

    await house.time_passes(hours=2)
    assert [reply.text for reply in await house.replies_to(alice)] == ["ok", "ok"]
