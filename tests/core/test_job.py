"""Jobs and their schedules: every form is read, and the next time is right in every time zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.errors import Invalid
from threadline.core.job import NewJob, checked_job_id, mirror_lines
from threadline.core.message import Role, Text, ToolCall
from threadline.core.reset_policy import zone
from threadline.store.jobs.schedules import ScheduleKind, parse_schedule

MADE = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN = "Europe/Berlin"

zones = st.sampled_from(sorted(available_timezones() - {"localtime", "Factory"}))
moments = st.datetimes(datetime(1995, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC))
crons = st.one_of(
    st.tuples(st.integers(0, 59), st.integers(0, 23)).map(lambda t: f"{t[0]} {t[1]} * * *"),
    st.sampled_from(["*/15 * * * *", "0 * * * *", "30 2 * * 1-5", "0 0 1 * *", "5 4 29 2 *"]),
)


def after(schedule: str, moment: datetime, timezone: str = "UTC") -> datetime | None:
    """Ask when something is due after a moment."""
    return parse_schedule(schedule, timezone).after(moment, since=MADE)


def berlin(*parts: int) -> datetime:
    """Name a moment by the clocks of Berlin."""
    year, month, day, hour, minute = parts
    return datetime(year, month, day, hour, minute, tzinfo=zone(BERLIN)).astimezone(UTC)


@given(crons, zones, moments)
def test_times_go_forward(cron: str, timezone: str, moment: datetime) -> None:
    """In every time zone of the world the next time is later, in whole minutes, and not skipped."""
    schedule = parse_schedule(cron, timezone)
    first = schedule.after(moment, since=MADE)
    assert first is not None
    second = schedule.after(first, since=MADE)
    assert second is not None

    assert moment < first < second
    assert second - first >= timedelta(minutes=1)
    # Asked from anywhere before it, the same time comes: nothing between was jumped over.
    assert schedule.after(first - timedelta(seconds=1), since=MADE) == first


@given(st.integers(0, 23), st.integers(0, 59), zones, moments)
def test_a_time_of_the_day_comes_once_a_day(
    hour: int, minute: int, timezone: str, moment: datetime
) -> None:
    """What is due each day comes at that time, or right after a gap in which clocks jumped."""
    due = after(f"{minute} {hour} * * *", moment, timezone)
    assert due is not None
    wall = due.astimezone(zone(timezone))

    is_at_its_time = (wall.hour, wall.minute) == (hour, minute)
    just_before = (due - timedelta(minutes=1)).astimezone(zone(timezone))
    assert is_at_its_time or just_before.utcoffset() != wall.utcoffset()


def test_a_skipped_hour_comes_after_the_gap() -> None:
    """When clocks jump from 2:00 to 3:00, half past two comes at three."""
    assert after("30 2 * * *", berlin(2026, 3, 29, 0, 0), BERLIN) == berlin(2026, 3, 29, 3, 0)
    assert after("30 2 * * *", berlin(2026, 3, 29, 3, 0), BERLIN) == berlin(2026, 3, 30, 2, 30)


def test_a_doubled_hour_comes_once() -> None:
    """When clocks go from 3:00 back to 2:00, half past two comes once, also if asked in between."""
    first = berlin(2026, 10, 25, 2, 30)
    assert after("30 2 * * *", berlin(2026, 10, 25, 0, 0), BERLIN) == first

    for minutes in (0, 10, 40, 70, 100):
        asked = first + timedelta(minutes=minutes)
        assert after("30 2 * * *", asked, BERLIN) == berlin(2026, 10, 26, 2, 30)


def test_every_hour_is_every_hour() -> None:
    """What comes by the hour does so also while clocks are changed."""
    moment = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)
    for hour in range(1, 5):
        found = after("0 * * * *", moment, BERLIN)
        assert found == datetime(2026, 10, 25, hour, 0, tzinfo=UTC)
        moment = found


@given(st.integers(1, 500_000), moments)
def test_intervals_keep_their_beat(minutes: int, moment: datetime) -> None:
    """An interval counts from when the job was made, however late anybody looks."""
    due = after(f"every {minutes}m", moment)
    assert due is not None

    assert due > moment
    assert (due - MADE) % timedelta(minutes=minutes) == timedelta(0)
    assert due - max(moment, MADE) <= timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("written", "cron"),
    [
        ("every day 9:00", "0 9 * * *"),
        ("Every  Weekday at 8:30", "30 8 * * 1-5"),
        ("every weekend 10", "0 10 * * 6,0"),
        ("every mon, thursday 17:30", "30 17 * * 1,4"),
        ("every sundays 7:05", "5 7 * * 0"),
        ("*/5 8-18 * * MON-FRI", "*/5 8-18 * * MON-FRI"),
    ],
)
def test_days_are_read_as_cron(written: str, cron: str) -> None:
    """Days and a time are a cron expression that a person can type."""
    found = parse_schedule(written, "UTC")

    assert (found.kind, found.cron) == (ScheduleKind.CRON, cron)


@pytest.mark.parametrize(
    ("written", "span"),
    [("every 15m", 15), ("every 2 hours", 120), ("every 1d", 1440), ("EVERY 1 week", 10080)],
)
def test_intervals_are_read(written: str, span: int) -> None:
    """Minutes, hours, days and weeks are units."""
    assert parse_schedule(written, "UTC").interval == timedelta(minutes=span)


def test_a_moment_comes_once() -> None:
    """A moment is that of the job's time zone, unless it names its own, and comes once."""
    nine = berlin(2026, 3, 1, 9, 0)

    assert after("at 2026-03-01T09:00", MADE, BERLIN) == nine
    assert after("at 2026-03-01 09:00", MADE, BERLIN) == nine
    assert after("at 2026-03-01T08:00Z", MADE, BERLIN) == nine
    assert after("at 2026-03-01T09:00", nine, BERLIN) is None


def test_a_day_that_never_comes_is_none() -> None:
    """A fifth Monday in February of a year with 28 days is far away; a 30th of it is refused."""
    with pytest.raises(Invalid, match="bad day-of-month"):
        parse_schedule("0 0 30 2 *", "UTC")
    assert after("0 0 * * *", datetime(9999, 12, 31, 12, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "tomorrow",
        "every 0m",
        "every 30s",
        "every 400d",
        "every day 25:00",
        "every day 9:75",
        "every someday 9:00",
        "at noon",
        "at 2026-13-01",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "0 9 * * FOO",
        "x" * 300,
        "0 9 * * *\0",
    ],
)
def test_what_is_no_schedule_is_refused(wrong: str) -> None:
    """Seconds, hours that no clock shows and words are refused, and it is said what is wanted."""
    with pytest.raises(Invalid):
        parse_schedule(wrong, "UTC")


def test_a_zone_must_be_one() -> None:
    """A time zone that nobody knows is refused before anything is planned by it."""
    with pytest.raises(Invalid, match="timezone"):
        parse_schedule("every 15m", "Europe/Atlantis")


def test_a_job_is_named_after_its_prompt() -> None:
    """Without a name, the first words of the prompt are the name."""
    assert NewJob(prompt="Say\nhello", schedule="every 1h").name == "Say hello"
    assert NewJob(prompt="Say hello", schedule="every 1h", name=" News\u202e ").name == "News"


@pytest.mark.parametrize("fields", [{"prompt": " "}, {"mirror": "both"}, {"name": "\0"}])
def test_a_job_that_cannot_be_is_refused(fields: dict[str, str]) -> None:
    """Nothing to ask, an unknown mirror, and names that cannot be stored are refused."""
    with pytest.raises(Invalid):
        NewJob(**({"prompt": "hi", "schedule": "every 1h"} | fields))  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        checked_job_id(0)


def test_what_a_job_says_elsewhere_is_marked() -> None:
    """Words go over behind a note that names the job; how they were found does not."""
    call = ToolCall(id="1", name="look", arguments="{}")
    note, said = mirror_lines("News", [call, Text(text="Rain.")])

    assert (note.role, said.role) == (Role.SYSTEM, Role.ASSISTANT)
    assert "“News”" in note.parts[0].text  # type: ignore[union-attr]
    assert said.parts == (Text(text="Rain."),)
    assert mirror_lines("News", [call]) == []


@pytest.mark.parametrize(
    ("schedule", "hint"),
    [("99 9 * * *", "Write a cron expression (0 9 * * *)"), ("at noon", "Write it as at 2026-")],
)
def test_a_schedule_that_cannot_be_read_says_how_to_write_one(schedule: str, hint: str) -> None:
    """In a sentence, whichever form was meant."""
    with pytest.raises(Invalid) as caught:
        parse_schedule(schedule, "UTC")

    assert (caught.value.hint or "").startswith(hint)
