"""When a session is over in which nothing more happens, told ahead."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.reset_policy import ResetMode, ResetPolicy, zone

ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"]
MOMENT = timedelta(microseconds=1)


@given(
    st.sampled_from([mode for mode in ResetMode if mode is not ResetMode.NONE]),
    st.sampled_from(ZONES),
    st.integers(0, 23),
    st.integers(1, 4 * 24 * 60),
    st.datetimes(datetime(2009, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),
)
def test_the_verdict_changes_at_the_moment_that_is_told(
    mode: ResetMode, name: str, hour: int, minutes: int, last: datetime
) -> None:
    """Just before it the session goes on, and just after it is over."""
    policy = ResetPolicy(
        mode=mode, at_hour=hour, timezone=zone(name), idle=timedelta(minutes=minutes)
    )

    told = policy.resets_at(last)

    assert told is not None
    assert policy.verdict(last, told - MOMENT) is None
    assert policy.verdict(last, told + MOMENT) is not None


def test_what_never_ends_has_no_such_moment() -> None:
    """Without a mode no silence is too long."""
    assert ResetPolicy().resets_at(datetime(2026, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize("mode", [ResetMode.DAILY, ResetMode.BOTH])
def test_a_day_that_turns_ends_it(mode: ResetMode) -> None:
    """Whoever speaks at four has the whole day before them."""
    policy = ResetPolicy(mode=mode, at_hour=4)
    at_four = datetime(2026, 1, 1, 4, tzinfo=UTC)
    assert policy.resets_at(at_four) == at_four + timedelta(days=1)
    assert policy.resets_at(at_four - MOMENT) == at_four
