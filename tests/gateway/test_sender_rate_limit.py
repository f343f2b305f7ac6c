"""Limits: haste is told by the minute, and remembered only as long as that matters."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from threadline.gateway.keyed_lock import KeyedLock
from threadline.gateway.sender_rate_limit import RateDecision, SenderRateLimit

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def seconds(count: float) -> datetime:
    """Tell a moment after noon."""
    return NOON + timedelta(seconds=count)


def test_so_many_may_come_at_once() -> None:
    """Then one more after each part of a minute; who waits is full again."""
    limit = SenderRateLimit(3)

    assert [limit.take("a", NOON) for _ in range(5)] == [
        *[RateDecision.NONE] * 3, RateDecision.FIRST, RateDecision.AGAIN
    ]  # fmt: skip
    assert limit.take("a", seconds(19)) is RateDecision.AGAIN
    assert limit.take("a", seconds(20)) is RateDecision.NONE
    assert limit.take("a", seconds(21)) is RateDecision.AGAIN
    assert [limit.take("a", seconds(500)) for _ in range(4)].count(RateDecision.NONE) == 3
    assert limit.take("b", NOON) is RateDecision.NONE


def test_somebody_is_told_once_a_minute() -> None:
    """However much they write."""
    limit = SenderRateLimit(1)
    told = [limit.take("a", seconds(n / 10)) for n in range(1800)]

    assert told.count(RateDecision.FIRST) == 3


def test_time_does_not_go_back() -> None:
    """A message that was written earlier, or a clock that jumps, gives nobody more."""
    limit = SenderRateLimit(1)

    assert limit.take("a", NOON) is RateDecision.NONE
    assert limit.take("a", seconds(-3600)) is not RateDecision.NONE
    assert limit.take("a", NOON) is not RateDecision.NONE


def test_no_limit_is_none() -> None:
    """And remembers nobody."""
    limit = SenderRateLimit(0)

    assert {limit.take("a", NOON) for _ in range(1000)} == {RateDecision.NONE}
    assert len(limit) == 0


def test_a_crowd_is_not_remembered_for_ever() -> None:
    """Who was silent longest is forgotten first; who keeps writing is not."""
    limit = SenderRateLimit(1, most=100)
    limit.take("a", NOON)
    for n in range(10_000):
        limit.take(n, NOON)
        assert limit.take("a", NOON) is not RateDecision.NONE

    assert len(limit) == 100


async def test_one_after_the_other() -> None:
    """In each line as they came; another line does not wait; nobody stands there afterwards."""
    order, seen = KeyedLock(), list[str]()
    gate = asyncio.Event()

    async def pass_through(chat: str, n: int) -> None:
        async with order.within(chat):
            await gate.wait()
            for _ in range(5 - n):  # Who came first takes longest.
                await asyncio.sleep(0)
            seen.append(str(n))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(pass_through("a", n)) for n in range(5)]
        await asyncio.sleep(0)
        tasks[2].cancel()
        async with order.within("b"):
            seen.append("b")
        gate.set()

    assert seen == ["b", "0", "1", "3", "4"]
    assert len(order) == 0


async def test_an_error_lets_the_next_one_pass() -> None:
    """A line goes on whatever happens to whoever stood in it."""
    order = KeyedLock()

    with pytest.raises(ValueError, match="oops"):
        async with order.within("a"):
            raise ValueError("oops")
    async with order.within("a"):
        pass

    assert len(order) == 0
