"""Not more is sent to a chat than Telegram likes."""

from datetime import timedelta

import pytest

from threadline.core.delivery import SendOutcome
from threadline.core.platform import SendFailed
from threadline.platforms.telegram.rate_limit import (
    IN_CHAT,
    IN_GROUP,
    OVERALL,
    PATIENCE,
    TelegramRateLimit,
)

DM, GROUP = "42", "-10042"


class Watch:
    """A clock that goes on when somebody sleeps."""

    def __init__(self) -> None:
        """Begin somewhere."""
        self.now = 1000.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Pass the time."""
        self.slept.append(round(seconds, 3))
        self.now += seconds

    def pacing(self) -> TelegramRateLimit:
        """Make a pacing that goes by this watch."""
        return TelegramRateLimit(lambda: self.now, self.sleep)


async def test_a_few_messages_go_at_once_and_the_next_wait() -> None:
    """A short burst is fine; after it there is one message a second."""
    watch = Watch()
    pacing = watch.pacing()
    for _ in range(IN_CHAT.burst + 2):
        await pacing.take(DM)

    assert watch.slept == [1.0, 1.0]


async def test_a_group_takes_twenty_a_minute() -> None:
    """Groups are slower."""
    watch = Watch()
    pacing = watch.pacing()
    for _ in range(25):
        await pacing.take(GROUP)

    assert watch.now - 1000 == pytest.approx((25 - IN_GROUP.burst) * IN_GROUP.every)


async def test_who_would_wait_too_long_is_told_when_to_come_again() -> None:
    """Many at once: some wait here for a moment, and the others are sent away with a time."""

    async def rest(_: float) -> None:
        """Let no time pass, as when all of them come in one moment."""

    pacing = TelegramRateLimit(lambda: 0.0, rest)
    with pytest.raises(SendFailed) as failed:
        for _ in range(25):
            await pacing.take(GROUP)

    assert failed.value.outcome is SendOutcome.REJECTED
    assert failed.value.retry_after == timedelta(seconds=2 * IN_GROUP.every)


async def test_chats_do_not_wait_for_each_other() -> None:
    """One chat that is told much does not slow down another one."""
    watch = Watch()
    pacing = watch.pacing()
    for _ in range(IN_CHAT.burst):
        await pacing.take(DM)
    await pacing.take("43")

    assert not watch.slept


async def test_all_chats_together_have_a_limit() -> None:
    """Many chats at once are served one after the other."""
    watch = Watch()
    pacing = watch.pacing()
    for n in range(2 * OVERALL.burst):
        await pacing.take(str(n))

    assert sum(watch.slept) == pytest.approx(OVERALL.burst * OVERALL.every, abs=0.05)


async def test_a_pause_that_telegram_wants_is_heeded() -> None:
    """After a flood nothing goes to that chat until the pause is over, and then it does."""
    watch = Watch()
    pacing = watch.pacing()
    pacing.hold(DM, timedelta(seconds=30))
    with pytest.raises(SendFailed) as failed:
        await pacing.take(DM)
    await pacing.take("43")
    watch.now += 30 - PATIENCE / 2
    await pacing.take(DM)

    assert failed.value.retry_after == timedelta(seconds=30)
    assert watch.slept == [PATIENCE / 2]


async def test_a_refused_message_costs_nothing() -> None:
    """Who was sent away has not used up anything: the chat is free when it was said to be."""
    watch = Watch()
    pacing = watch.pacing()
    pacing.hold(DM, timedelta(seconds=10))
    for _ in range(20):
        with pytest.raises(SendFailed):
            await pacing.take(DM)
    watch.now += 10
    await pacing.take(DM)

    assert not watch.slept
