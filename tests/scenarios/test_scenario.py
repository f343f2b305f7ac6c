from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from threadline.core.errors import NotFound
from threadline.core.turn import TurnState
from threadline.testing.clock import FakeClock
from threadline.testing.scenario import Scenario, sqlite_at
from threadline.testing.scripted_agent import OK, Asks, Hangs, ScriptedAgent


async def test_anybody_can_build_a_house(tmp_path: Path) -> None:
    """A library's author needs a path, and tells a story."""
    async with Scenario(sqlite_at(tmp_path / "chat.db")) as house:
        alice = house.person("alice", on="telegram")
        await alice.says("hello")

        assert [reply.text for reply in await house.replies_to(alice)] == [OK]


async def test_a_house_that_finds_no_rest_says_so(
    house: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A story that hangs fails, and names what still moves."""
    monkeypatch.setattr("threadline.testing.scenario.HANG_SECONDS", 0.05)
    await house.worker.stop()
    alice = house.person("alice", on="telegram")

    with pytest.raises(AssertionError, match="finds no rest: a turn of"):
        await alice.says("hello")


async def test_a_crash_is_a_crash(house: Scenario) -> None:
    """When a house goes down its turns stay under their leases, and only its return frees them."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("hello")
    before = await house.store.turns.get(said.turn_id)

    assert before.state is TurnState.RUNNING
    await house.crash()

    assert house.agent.cancelled == [said.turn_id]
    after = await house.store.turns.get(said.turn_id)
    assert (after.state, after.attempts) == (TurnState.DONE, 2)


async def test_nobody_answers_what_was_not_asked(house: Scenario) -> None:
    """An answer needs a question."""
    alice = house.person("alice", on="telegram")
    with pytest.raises(NotFound, match="Nobody has spoken"):
        await alice.answers("yes")
    house.agent.will(Asks("May I?"))
    await alice.says("hello")
    await alice.answers("yes")

    with pytest.raises(NotFound, match="Nothing was asked"):
        await alice.answers("yes")


def test_the_clock_stands_still() -> None:
    """Time passes only when a test says so, and is always told in UTC."""
    clock = FakeClock(datetime(2026, 3, 2, 10, tzinfo=timezone(timedelta(hours=1))))
    assert clock() == clock() == datetime(2026, 3, 2, 9, tzinfo=UTC)

    assert clock.advance(timedelta(hours=-1)).hour == 8
    clock.set(datetime(2026, 1, 1, tzinfo=UTC))
    assert clock().tzinfo is UTC
    with pytest.raises(ValueError, match="time zone"):
        FakeClock(datetime(2026, 1, 1))


def test_an_agent_that_was_never_asked_has_seen_nothing() -> None:
    """What a test asserts about nothing fails."""
    with pytest.raises(AssertionError, match="never asked"):
        ScriptedAgent().saw_only()
