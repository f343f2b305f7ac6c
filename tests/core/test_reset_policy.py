"""Reset policies: truth tables, and a day that turns exactly once."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.reset_policy import Carry, CarryKind, Policies, ResetMode, ResetPolicy, zone
from threadline.core.session import Cause

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)
"""With the policies below the day began 8 hours before, and silence is idle after 10."""


@pytest.mark.parametrize("mode", ResetMode)
def test_a_policy_without_a_time_zone_goes_by_the_machine(
    mode: ResetMode, machine_in: Callable[[str], None]
) -> None:
    """In spring and autumn too, when its clocks change; a zone that was given is kept."""
    machine_in("Europe/Berlin")
    berlin = zone("Europe/Berlin")
    here, there = (
        ResetPolicy(mode=mode, at_hour=2),
        ResetPolicy(mode=mode, at_hour=2, timezone=berlin),
    )

    for day in (date(2026, 3, 28), date(2026, 10, 24)):
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        for hours in range(72):
            moment = start + hours * HOUR
            assert here.expired_before(moment) == there.expired_before(moment)
            assert here.resets_at(moment) == there.resets_at(moment)
    assert here.in_zone(berlin) == there
    assert there.in_zone(UTC) == there


def policy(mode: ResetMode) -> ResetPolicy:
    return ResetPolicy(mode=mode, idle=10 * HOUR)


@pytest.mark.parametrize(
    ("mode", "hours_ago", "verdict"),
    [
        (ResetMode.NONE, 9999, None),
        (ResetMode.IDLE, 9, None),
        (ResetMode.IDLE, 10, None),
        (ResetMode.IDLE, 11, Cause.IDLE),
        (ResetMode.DAILY, 7, None),
        (ResetMode.DAILY, 8, None),
        (ResetMode.DAILY, 9, Cause.DAILY),
        (ResetMode.BOTH, 8, None),
        (ResetMode.BOTH, 9, Cause.DAILY),
        (ResetMode.BOTH, 10, Cause.DAILY),
        (ResetMode.BOTH, 11, Cause.IDLE),
        (ResetMode.DAILY_AND_IDLE, 9, None),
        (ResetMode.DAILY_AND_IDLE, 10, None),
        (ResetMode.DAILY_AND_IDLE, 11, Cause.DAILY),
    ],
)
def test_each_mode_gives_its_verdict(
    mode: ResetMode, hours_ago: int, verdict: Cause | None
) -> None:
    """Exactly at a limit a session still goes on."""
    assert policy(mode).verdict(NOON - hours_ago * HOUR, NOON) == verdict


@pytest.mark.parametrize(
    ("mode", "hours_ago"),
    [
        (ResetMode.NONE, None),
        (ResetMode.IDLE, 10),
        (ResetMode.DAILY, 8),
        (ResetMode.BOTH, 8),
        (ResetMode.DAILY_AND_IDLE, 10),
    ],
)
def test_a_sweep_may_ask_for_the_moment_instead(mode: ResetMode, hours_ago: int | None) -> None:
    """Sessions last active before that moment are over; one number serves a whole query."""
    limit = None if hours_ago is None else NOON - hours_ago * HOUR
    assert policy(mode).expired_before(NOON) == limit


def test_when_idle_is_shorter_than_the_day_the_limits_change_places() -> None:
    """`both` takes the later limit and `daily_and_idle` the earlier, whichever that is."""
    both = ResetPolicy(mode=ResetMode.BOTH, idle=HOUR)
    either = ResetPolicy(mode=ResetMode.DAILY_AND_IDLE, idle=HOUR)

    assert both.expired_before(NOON) == NOON - HOUR
    assert both.verdict(NOON - 2 * HOUR, NOON) == Cause.IDLE
    assert either.expired_before(NOON) == NOON - 8 * HOUR
    assert either.verdict(NOON - 2 * HOUR, NOON) is None


@pytest.mark.parametrize("mode", ResetMode)
def test_a_clock_that_jumped_back_ends_nothing(mode: ResetMode) -> None:
    """An activity in the future is no silence."""
    assert policy(mode).verdict(NOON + timedelta(days=400), NOON) is None


def test_moments_may_come_in_any_zone() -> None:
    """Idle time is real time: clocks put forward meanwhile do not shorten it."""
    berlin = zone("Europe/Berlin")
    idle = ResetPolicy(mode=ResetMode.BOTH, idle=2 * HOUR, at_hour=12, timezone=berlin)
    last = datetime(2026, 3, 29, 1, 30, tzinfo=berlin)

    assert idle.verdict(last, datetime(2026, 3, 29, 4, 0, tzinfo=berlin)) is None
    assert idle.verdict(last, datetime(2026, 3, 29, 4, 31, tzinfo=berlin)) == Cause.IDLE


# ── The day turns ────────────────────────────────────────────────────────────────────────────────

WATCHED = {
    "Europe/Berlin, spring": ("Europe/Berlin", date(2026, 3, 29)),
    "Europe/Berlin, autumn": ("Europe/Berlin", date(2026, 10, 25)),
    "America/New_York, spring": ("America/New_York", date(2026, 3, 8)),
    "America/New_York, autumn": ("America/New_York", date(2026, 11, 1)),
    "Asia/Kolkata, never": ("Asia/Kolkata", date(2026, 3, 29)),
    "Australia/Lord_Howe, half an hour on": ("Australia/Lord_Howe", date(2026, 10, 4)),
    "Australia/Lord_Howe, half an hour back": ("Australia/Lord_Howe", date(2026, 4, 5)),
    "Africa/Casablanca, Ramadan begins": ("Africa/Casablanca", date(2024, 3, 10)),
    "Africa/Casablanca, Ramadan ends": ("Africa/Casablanca", date(2024, 4, 14)),
    "America/Sao_Paulo, midnight left out": ("America/Sao_Paulo", date(2018, 11, 4)),
    "America/Sao_Paulo, back from midnight": ("America/Sao_Paulo", date(2018, 2, 18)),
    "America/St_Johns, on at 00:01": ("America/St_Johns", date(2010, 3, 14)),
    "America/St_Johns, back at 00:01": ("America/St_Johns", date(2010, 11, 7)),
    "America/Nuuk, from 23:00 into the next day": ("America/Nuuk", date(2025, 3, 30)),
    "Pacific/Apia, a day left out": ("Pacific/Apia", date(2011, 12, 30)),
    "Pacific/Kwajalein, a day left out": ("Pacific/Kwajalein", date(1993, 8, 21)),
    "Pacific/Kwajalein, most of a day twice": ("Pacific/Kwajalein", date(1969, 9, 30)),
}
watched = pytest.mark.parametrize("where", WATCHED)
DAYS = 3
"""Watched on both sides of the day in question."""


@cache
def minutes_of(where: str) -> list[tuple[datetime, datetime]]:
    """Watch a clock on the wall, minute by minute: the moment, and what the clock shows."""
    name, day = WATCHED[where]
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(days=DAYS)
    moments = [start + n * MINUTE for n in range(2 * DAYS * 24 * 60)]
    return [(moment, moment.astimezone(zone(name)).replace(tzinfo=None)) for moment in moments]


@cache
def turns_of(where: str, hour: int) -> dict[date, datetime]:
    """Note by brute force when each day turned that the clock ever showed, from the second on."""
    clock = minutes_of(where)
    days = sorted({wall.date() for _, wall in clock})[1:]
    found: dict[date, datetime] = {}
    for moment, wall in clock:
        for day in days:
            if day not in found and wall >= datetime(day.year, day.month, day.day, hour):
                found[day] = moment
    return found


def begin_of_day(where: str, hour: int) -> Callable[[datetime], datetime | None]:
    name, _ = WATCHED[where]
    return ResetPolicy(mode=ResetMode.DAILY, at_hour=hour, timezone=zone(name)).expired_before


@watched
@pytest.mark.parametrize("hour", [0, 1, 2, 3, 4, 12, 23])
def test_each_day_turns_exactly_once(where: str, hour: int) -> None:
    """At its turn a day begins, and it stays the day at every look until the next one's turn."""
    turns = sorted(turns_of(where, hour).values())
    begin = begin_of_day(where, hour)

    assert len(turns) >= 2 * DAYS - 2
    assert len(set(turns)) == len(turns)
    for turn, following in pairwise(turns):
        looks = [turn + n * 20 * MINUTE for n in range((following - turn) // (20 * MINUTE))]
        assert {begin(look) for look in looks} == {turn}
        assert begin(following - timedelta(microseconds=1)) == turn


@given(st.sampled_from(sorted(WATCHED)), st.integers(0, 23), st.data())
def test_the_verdict_is_that_of_somebody_who_watched_the_clock(
    where: str, hour: int, data: st.DataObject
) -> None:
    """For any two minutes around an odd day, in all modes, by brute force."""
    name, _ = WATCHED[where]
    turns = sorted(turns_of(where, hour).values())
    moments = [moment for moment, _ in minutes_of(where) if moment >= turns[0]]
    last, now = sorted(data.draw(st.lists(st.sampled_from(moments), min_size=2, max_size=2)))
    idle = data.draw(st.integers(1, 4 * 24 * 60)) * MINUTE

    turned = any(last < turn <= now for turn in turns)
    silent = now > last + idle
    expected = {
        ResetMode.NONE: None,
        ResetMode.IDLE: Cause.IDLE if silent else None,
        ResetMode.DAILY: Cause.DAILY if turned else None,
        ResetMode.BOTH: Cause.IDLE if silent else Cause.DAILY if turned else None,
        ResetMode.DAILY_AND_IDLE: Cause.DAILY if turned and silent else None,
    }
    for mode, verdict in expected.items():
        made = ResetPolicy(mode=mode, idle=idle, at_hour=hour, timezone=zone(name))
        limit = made.expired_before(now)
        assert made.verdict(last, now) == verdict
        assert (limit is not None and last < limit) == (verdict is not None)


@pytest.mark.parametrize(
    ("name", "hour", "day", "turn"),
    [
        ("UTC", 4, date(2026, 5, 1), "2026-05-01T04:00"),
        ("Asia/Kolkata", 4, date(2026, 5, 1), "2026-04-30T22:30"),
        ("Europe/Berlin", 2, date(2026, 3, 29), "2026-03-29T01:00"),
        ("Europe/Berlin", 2, date(2026, 10, 25), "2026-10-25T00:00"),
        ("Australia/Lord_Howe", 2, date(2026, 10, 4), "2026-10-03T15:30"),
        ("America/Sao_Paulo", 0, date(2018, 11, 4), "2018-11-04T03:00"),
        ("America/St_Johns", 1, date(2010, 3, 14), "2010-03-14T03:31"),
        ("America/St_Johns", 0, date(2010, 11, 7), "2010-11-07T02:30"),
        ("Pacific/Apia", 4, date(2011, 12, 31), "2011-12-30T14:00"),
        ("Pacific/Apia", 0, date(2011, 12, 31), "2011-12-30T10:00"),
    ],
)
def test_the_hour_of_a_day_by_hand(name: str, hour: int, day: date, turn: str) -> None:
    """A left-out hour is the end of its gap, a doubled one its first coming: by hand."""
    begin = ResetPolicy(mode=ResetMode.DAILY, at_hour=hour, timezone=zone(name)).expired_before
    moment = datetime.fromisoformat(turn).replace(tzinfo=UTC)

    assert begin(moment) == moment
    assert begin(moment + 3 * HOUR) == moment
    earlier = begin(moment - timedelta(microseconds=1))
    assert earlier is not None
    assert earlier < moment
    assert moment.astimezone(zone(name)).date() == day


def test_a_day_that_the_calendar_left_out_never_turns() -> None:
    """Samoa had no 30 December 2011: after the 29th at four, the 31st at four comes next."""
    apia = ResetPolicy(mode=ResetMode.DAILY, timezone=zone("Pacific/Apia"))
    before = datetime(2011, 12, 29, 14, tzinfo=UTC)

    assert apia.expired_before(before + 23 * HOUR) == before
    assert apia.expired_before(before + 24 * HOUR) == before + 24 * HOUR


# ── Values ───────────────────────────────────────────────────────────────────────────────────────


def test_by_default_nothing_ever_ends() -> None:
    """None means none; the other settings wait for their mode."""
    made = ResetPolicy()

    assert (made.mode, made.idle, made.at_hour) == (ResetMode.NONE, 24 * HOUR, 4)
    assert (made.timezone, made.notify, made.carry) == (None, True, Carry.nothing())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mode", "weekly"),
        ("idle", timedelta(seconds=59)),
        ("idle", timedelta(0)),
        ("idle", timedelta.max),
        ("idle", 1440),
        ("at_hour", -1),
        ("at_hour", 24),
        ("at_hour", 4.0),
        ("at_hour", True),
        ("timezone", "Europe/Berlin"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(field: str, value: object) -> None:
    """The error names the setting."""
    with pytest.raises(Invalid, match=f"^{field} cannot be"):
        ResetPolicy(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ResetMode)
def test_naive_moments_are_refused(mode: ResetMode) -> None:
    """A moment without a time zone could be any of twenty-four; nothing is guessed."""
    naive = NOON.replace(tzinfo=None)

    with pytest.raises(Invalid, match=r"^now cannot be"):
        policy(mode).expired_before(naive)
    with pytest.raises(Invalid, match=r"^now cannot be"):
        policy(mode).verdict(NOON, naive)
    with pytest.raises(Invalid, match=r"^last activity cannot be"):
        policy(mode).verdict(naive, NOON)


@pytest.mark.parametrize(
    ("text", "carry"),
    [
        ("nothing", Carry.nothing()),
        ("summary", Carry.summary()),
        ("last 6 messages", Carry.last(6)),
        ("last 1 messages", Carry.last(1)),
        ("last 1000 messages", Carry.last(1000)),
    ],
)
def test_what_is_carried_over_is_written_as_it_is_read(text: str, carry: Carry) -> None:
    """The same words in a configuration file, in code and on a screen."""
    assert Carry.parse(text) == carry
    assert str(carry) == text


def test_one_message_may_be_read_in_the_singular() -> None:
    """People write what is right in English."""
    assert Carry.parse("last 1 message") == Carry.last(1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "last",
        "all",
        "Nothing",
        " summary",
        "last 0 messages",
        "last -1 messages",
        "last six messages",
        "last ٣ messages",
        "last 1001 messages",
        "last 9999999 messages",
        None,
        6,
    ],
)
def test_what_cannot_be_carried_is_refused(text: object) -> None:
    """The error names the setting."""
    with pytest.raises(Invalid, match="carry cannot be"):
        Carry.parse(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "messages"), [(CarryKind.LAST, 0), (CarryKind.NOTHING, 1), (CarryKind.SUMMARY, 6)]
)
def test_a_number_of_messages_belongs_to_the_last_ones(kind: CarryKind, messages: int) -> None:
    """Nothing and a summary count none, the last messages at least one."""
    with pytest.raises(Invalid, match=r"^messages to carry cannot be"):
        Carry(kind=kind, messages=messages)


def test_a_zone_is_found_by_its_name() -> None:
    """UTC also where no time zone database is installed."""
    assert str(zone("Europe/Berlin")) == "Europe/Berlin"
    assert zone("UTC") is UTC


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Mars/Olympus",
        "Europe",
        "../UTC",
        "/etc/localtime",
        "a\0b",
        "\ud800",
        "x" * 5000,
        None,
        7,
    ],
    ids=["empty", "unknown", "folder", "up", "absolute", "nul", "half", "long", "none", "int"],
)
def test_an_unknown_zone_is_refused_by_name(name: object) -> None:
    """Also one that tries to leave the folder of the time zones."""
    with pytest.raises(Invalid, match=r"^timezone cannot be .* IANA name"):
        zone(name)  # type: ignore[arg-type]


def test_a_fixed_offset_is_a_zone_too() -> None:
    """A library's user may bring any tzinfo."""
    made = ResetPolicy(mode=ResetMode.DAILY, timezone=timezone(timedelta(hours=-5)))
    assert made.expired_before(NOON) == datetime(2026, 5, 2, 9, tzinfo=UTC)


DEFAULT, OF_KIND, OF_PLATFORM = (ResetPolicy(at_hour=hour) for hour in (1, 2, 3))


@pytest.mark.parametrize(
    ("platform", "kind", "expected"),
    [
        ("telegram", Kind.DM, OF_PLATFORM),
        ("telegram", Kind.GROUP, OF_PLATFORM),
        ("slack", Kind.GROUP, OF_KIND),
        ("slack", Kind.DM, DEFAULT),
    ],
)
def test_the_platform_comes_before_the_kind(
    platform: str, kind: Kind, expected: ResetPolicy
) -> None:
    """Policies are taken whole: what one leaves at its default is not filled in from another."""
    policies = Policies(
        default=DEFAULT, by_kind={Kind.GROUP: OF_KIND}, by_platform={"telegram": OF_PLATFORM}
    )

    assert policies.resolve(platform, kind) is expected
    assert Policies().resolve(platform, kind) == ResetPolicy()
