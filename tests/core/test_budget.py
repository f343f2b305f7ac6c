"""Spending caps: what a person reads about them, and whose days they count."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from threadline.core.budget import CapKind, SpendCaps, Spending, midnight


@pytest.mark.parametrize(
    ("spent", "limit", "sentence"),
    [
        ("0.85", "1", "is nearly used up: $0.85 of $1.00."),
        ("0.0199", "0.02", "is nearly used up: $0.0199 of $0.0200."),
        ("0.016", "0.02", "is nearly used up: $0.016 of $0.020."),
        ("0.999999999", "1", "is nearly used up: $0.999999999 of $1.000000000."),
        ("0.02", "0.02", "has reached its limit: $0.02 of $0.02."),
        ("0.0201", "0.02", "has reached its limit: $0.02 of $0.02."),
        ("0.0009", "0.001", "is nearly used up: $0.0009 of $0.0010."),
        ("0.001", "0.001", "has reached its limit: $0.001 of $0.001."),
        ("1234.5", "1500", "is nearly used up: $1,234.50 of $1,500.00."),
        ("0", "0", "has reached its limit: $0.00 of $0.00."),
    ],
)
def test_a_warning_shows_that_the_limit_is_not_reached(
    spent: str, limit: str, sentence: str
) -> None:
    """Sums are in cents, and finer where cents would make what is left look like nothing."""
    one = Spending(
        kind=CapKind.SESSION,
        limit=Decimal(limit),
        spent=Decimal(spent),
        unpriced=0,
        subject="s",
        period=None,
    )

    assert one.sentence() == f"What this conversation may cost {sentence}"


def test_caps_without_a_time_zone_count_the_days_of_the_machine(
    machine_in: Callable[[str], None],
) -> None:
    """As the settings do; a time zone of their own is kept."""
    machine_in("Asia/Tokyo")
    tokyo = ZoneInfo("Asia/Tokyo")
    now = datetime(2026, 3, 1, 20, tzinfo=UTC)

    here, there = SpendCaps(day=Decimal(1)), SpendCaps(day=Decimal(1), timezone=tokyo)

    assert time.strftime("%Z") == "JST"
    assert here.period(CapKind.DAY, now) == there.period(CapKind.DAY, now)
    assert here.in_zone(tokyo) == there
    machine_in("America/Sao_Paulo")
    for day in (date(2018, 11, 4), date(2018, 2, 18)):  # midnight is skipped, then comes twice
        assert midnight(day, None) == midnight(day, ZoneInfo("America/Sao_Paulo"))
    assert there.in_zone(UTC) == there
