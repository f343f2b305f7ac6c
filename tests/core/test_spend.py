"""Spending caps: what a person reads about them, and whose days they count."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from threadline.core.spend import CapKind, SpendCaps, midnight


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
