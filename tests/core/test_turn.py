"""Turns: the table of what may become of them, and the leases under which they run."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from threadline.core.errors import Conflict
from threadline.core.turn import HELD, TRANSITIONS, UNFINISHED, TurnState, advance, is_over

NOW = datetime(2026, 5, 1, tzinfo=UTC)
LEASE = timedelta(seconds=60)

ALLOWED = {
    ("queued", "running"),
    ("queued", "done"),
    ("queued", "failed"),
    ("queued", "stopped"),
    ("running", "queued"),
    ("running", "waiting"),
    ("running", "done"),
    ("running", "failed"),
    ("running", "stopped"),
    ("running", "interrupted"),
    ("waiting", "running"),
    ("waiting", "queued"),
    ("waiting", "stopped"),
    ("waiting", "interrupted"),
    ("interrupted", "queued"),
    ("interrupted", "failed"),
    ("interrupted", "stopped"),
}


@pytest.mark.parametrize(("before", "after"), list(product(TurnState, TurnState)))
def test_only_the_steps_of_the_table_are_allowed(before: TurnState, after: TurnState) -> None:
    """Every step between two states is either in the table, or refused with a sentence."""
    if (before, after) in ALLOWED:
        assert advance(before, after) is after
    else:
        with pytest.raises(Conflict, match=f"{before} cannot become {after}"):
            advance(before, after)


def test_what_a_person_ended_stays_ended() -> None:
    """Nothing follows a turn that is done, failed or stopped."""
    assert {state for state in TurnState if not TRANSITIONS[state]} == {"done", "failed", "stopped"}
    assert set(TurnState) - {"done", "failed", "stopped"} == UNFINISHED
    assert {"running", "waiting"} == HELD


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        (timedelta(0), False),
        (timedelta(microseconds=-1), True),
        (LEASE, False),
        (2 * LEASE, False),
        (2 * LEASE + timedelta(microseconds=1), True),
    ],
)
def test_a_lease_is_over_after_its_end_or_before_the_clock_went_back(
    until: timedelta, expected: bool
) -> None:
    """A lease expires after its end; one that ends impossibly far ahead has expired too."""
    assert is_over(NOW + until, LEASE, NOW) is expected
