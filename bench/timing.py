"""Timing: samples of an operation, and how long the event loop stood still meanwhile."""

import asyncio
import gc
import random
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field

TICK = 0.002
WARM_UP = 10


@dataclass(slots=True, kw_only=True)
class Sample:
    """What one block of measuring found: milliseconds of each operation."""

    times: list[float] = field(default_factory=list)
    seconds: float = 0.0
    stall: float | None = None
    """The longest delay of the event loop while this process ran, in milliseconds."""
    late: float | None = None
    """The longest delay by the clock, whatever the machine did meanwhile."""

    @property
    def rate(self) -> float:
        """Operations in a second."""
        return len(self.times) / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The median of the rounds, and their spread."""

    p50: float
    p95: float
    p99: float
    p50_least: float
    p50_most: float
    rate: float
    rate_least: float
    rate_most: float
    count: int
    rounds: int
    stall: float | None
    late: float | None

    def as_dict(self) -> dict[str, float | int | None]:
        """Give plain values, fit for JSON."""
        return asdict(self)


def percentile(times: Sequence[float], share: float) -> float:
    """Answer the time that this share of the operations did not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def summarise(samples: Sequence[Sample]) -> Summary:
    """Put the rounds of one measurement together."""
    halves = [percentile(sample.times, 0.50) for sample in samples]
    rates = [sample.rate for sample in samples]
    stalls = [sample.stall for sample in samples if sample.stall is not None]
    lates = [sample.late for sample in samples if sample.late is not None]

    def middle(share: float) -> float:
        return statistics.median(percentile(sample.times, share) for sample in samples)

    return Summary(
        p50=middle(0.50),
        p95=middle(0.95),
        p99=middle(0.99),
        p50_least=min(halves),
        p50_most=max(halves),
        rate=statistics.median(rates),
        rate_least=min(rates),
        rate_most=max(rates),
        count=sum(len(sample.times) for sample in samples),
        rounds=len(samples),
        stall=max(stalls, default=None),
        late=max(lates, default=None),
    )


class Stalls:
    """The delays seen so far, in milliseconds."""

    def __init__(self) -> None:
        self.all: list[float] = []
        """While this process ran: what the machine did to all of its processes is not ours."""
        self.longest = 0.0
        self.latest = 0.0
        """By the clock, whoever was to blame."""


@asynccontextmanager
async def watched_loop() -> AsyncIterator[Stalls]:
    """Let a task tick beside the work, and note how late it is at worst."""
    stalls = Stalls()

    async def tick() -> None:
        while True:
            due, ran = time.perf_counter() + TICK, time.process_time()
            await asyncio.sleep(TICK)
            late, ran = time.perf_counter() - due, time.process_time() - ran
            stalls.all.append(min(late, ran) * 1000)
            stalls.longest = max(stalls.longest, stalls.all[-1])
            stalls.latest = max(stalls.latest, late * 1000)

    # What the last block left behind is not this one's to clear away.
    gc.collect()
    ticker = asyncio.create_task(tick())
    await asyncio.sleep(TICK)
    try:
        yield stalls
    finally:
        ticker.cancel()
        await asyncio.gather(ticker, return_exceptions=True)


async def time_calls(
    operation: Callable[[int], Awaitable[object]], size: int, seconds: float, callers: int = 1
) -> Sample:
    """Repeat an operation on conversations chosen at random, by one or many callers at once."""
    sample = Sample()
    callers = min(callers, size)

    async def call(who: int, over: float, times: list[float] | None) -> None:
        mine = random.Random(time.perf_counter_ns() + who)
        # Each caller has conversations of its own: those with its number modulo all callers.
        most = (size - who + callers - 1) // callers
        done = 0
        while time.perf_counter() < over or done == 0:
            number = mine.randrange(most) * callers + who
            start = time.perf_counter_ns()
            await operation(number)
            if times is not None:
                times.append((time.perf_counter_ns() - start) / 1e6)
            done += 1

    async def all_callers(span: float, times: list[float] | None) -> None:
        over = time.perf_counter() + span
        await asyncio.gather(*(call(who, over, times) for who in range(callers)))

    await all_callers(seconds / WARM_UP, None)
    async with watched_loop() as stalls:
        start = time.perf_counter()
        await all_callers(seconds, sample.times)
        sample.seconds = time.perf_counter() - start
    sample.stall, sample.late = stalls.longest, stalls.latest
    return sample


def time_floor(operation: Callable[[int], object], size: int, seconds: float) -> Sample:
    """Repeat a bare operation on conversations chosen at random, in a straight loop."""
    sample = Sample()
    chosen = random.Random(time.perf_counter_ns())
    for span, times in ((seconds / WARM_UP, []), (seconds, sample.times)):
        gc.collect()
        begin = time.perf_counter()
        while time.perf_counter() - begin < span or not times:
            number = chosen.randrange(size)
            start = time.perf_counter_ns()
            operation(number)
            times.append((time.perf_counter_ns() - start) / 1e6)
        sample.seconds = time.perf_counter() - begin
    return sample
