"""Rounds: every measurement on every size, floor and store in turn, again and again."""

import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import threadline
from bench.caller import Caller
from bench.child import Errand, Return, send
from bench.floor import Floor
from bench.glance import Glance
from bench.script import LONG_MESSAGES
from bench.sites import Site, bare_connection, open_site, temporary_folder
from bench.template import Template, make_template
from bench.timing import Sample, time_calls, time_floor, watched_loop

OURS, FLOOR = "ours", "floor"
CALLERS = 64

Key: TypeAlias = tuple[str, int, str, str]
"""Database, sessions, measurement, and whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long and how often to measure."""

    rounds: int = 3
    seconds: float = 1.5
    opens: int = 6
    long_messages: int = LONG_MESSAGES


QUICK = Pace(rounds=1, seconds=0.4, opens=3, long_messages=2_000)


@dataclass(slots=True)
class Findings:
    """Everything that was measured."""

    samples: dict[Key, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    values: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    idle_stall: float = 0.0
    """The longest delay of an event loop with nothing to do: the noise of the machine."""


def measure(databases: Sequence[str], sizes: Sequence[int], pace: Pace) -> Findings:
    """Fill a store of each size on each database, and measure them in turn."""
    findings = Findings()
    findings.idle_stall = asyncio.run(_idle(pace.seconds))
    with temporary_folder() as folder:
        template = asyncio.run(make_template(folder))
        for name in databases:
            with open_site(name, folder) as site:
                for size in sizes:
                    tell(f"{name}: filling {size:,} sessions")
                    asyncio.run(_fill(site, template, size, pace, findings))
                for number in range(pace.rounds):
                    for size in sizes:
                        tell(f"{name}: round {number + 1} of {pace.rounds}, {size:,} sessions")
                        asyncio.run(_round(site, size, pace, findings))
    tell("")
    return findings


def tell(what: str) -> None:
    """Say on standard error how far we are."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    end = "" if sys.stderr.isatty() else "\n"
    sys.stderr.write(f"{start}{what}{end}" if what else start)
    sys.stderr.flush()


async def _idle(seconds: float) -> float:
    async with watched_loop() as stalls:
        await asyncio.sleep(seconds)
    return stalls.latest


async def _fill(site: Site, template: Template, size: int, pace: Pace, findings: Findings) -> None:
    await site.fill(template, size, long_messages=pace.long_messages)
    messages = len(template["messages"]) * size + pace.long_messages
    findings.values[site.name, size, "bytes", OURS].append(site.bytes_of(size) / messages)
    async with threadline.open(site.where(size)) as store:
        grave = [finding.what for finding in await store.check() if finding.grave]
        if grave or len((await store.sessions()).rows) != min(size + 1, 50):
            raise RuntimeError(f"The filled store is not sound: {grave}")
        await Caller(store).turn(size - 1)


async def _round(site: Site, size: int, pace: Pace, findings: Findings) -> None:
    where, samples = site.where(size), findings.samples

    def note(name: str, who: str, sample: Sample) -> None:
        samples[site.name, size, name, who].append(sample)

    note("open", FLOOR, _time_bare_opens(where, size, pace))
    note("open", OURS, await _time_opens(where, size, pace))
    await _blocks(where, size, pace, note)
    for who in (FLOOR, OURS):
        errands = [
            Errand(where=where, size=size, seconds=pace.seconds, is_floor=who == FLOOR, part=part)
            for part in (0, 1)
        ]
        returns = await asyncio.to_thread(send, errands)
        note("two_processes", who, _together(returns))
        findings.values[site.name, size, "memory", who] += [one.rss for one in returns]


async def _blocks(
    where: str, size: int, pace: Pace, note: Callable[[str, str, Sample], None]
) -> None:
    """Measure what happens inside one process: each floor right beside the store."""
    seconds, short = pace.seconds, pace.seconds / 2
    bare = bare_connection(where)
    floor, glance = Floor(bare), Glance(bare)
    async with threadline.open(where) as store:
        caller = Caller(store)
        await caller.find_long(size)
        note("arrival", FLOOR, time_floor(floor.arrive, size, seconds))
        note("arrival", OURS, await time_calls(caller.arrive, size, seconds))
        settle(where)
        note("turn", FLOOR, time_floor(floor.turn, size, seconds))
        note("turn", OURS, await time_calls(caller.turn, size, seconds))
        note("turn_64", OURS, await time_calls(caller.turn, size, seconds, CALLERS))
        note("new_session", FLOOR, time_floor(lambda _: floor.begin(), size, short))
        note("new_session", OURS, await time_calls(lambda _: caller.begin(), size, short))
        settle(where)
        note("transcript", FLOOR, time_floor(lambda _: glance.transcript(size + 1), size, short))
        note("transcript", OURS, await time_calls(lambda _: caller.transcript(), size, short))
        note("list", FLOOR, time_floor(lambda _: glance.sessions(), size, short))
        note("list", OURS, await time_calls(lambda _: caller.sessions(), size, short))
    floor.close()


def settle(where: str) -> None:
    """Clear the line, so that the next block finds the sessions idle."""
    bare = bare_connection(where)
    bare.begin()
    bare.run("UPDATE turns SET state = 'stopped', ended_at = queued_at WHERE state = 'queued'")
    bare.commit()
    bare.close()


def _together(returns: Sequence[Return]) -> Sample:
    stalls = [one.sample.stall for one in returns if one.sample.stall is not None]
    return Sample(
        times=[time for one in returns for time in one.sample.times],
        seconds=max(one.sample.seconds for one in returns),
        stall=max(stalls, default=None),
    )


def _time_bare_opens(where: str, size: int, pace: Pace) -> Sample:
    sample = Sample()
    for number in range(pace.opens):
        start = time.perf_counter()
        floor = Floor(bare_connection(where))
        floor.arrive(number % size)
        _add(sample, start)
        floor.close()
    settle(where)
    return sample


async def _time_opens(where: str, size: int, pace: Pace) -> Sample:
    sample = Sample()
    for number in range(pace.opens):
        start = time.perf_counter()
        async with threadline.open(where) as store:
            await Caller(store).arrive(number % size)
            _add(sample, start)
    settle(where)
    return sample


def _add(sample: Sample, start: float) -> None:
    took = time.perf_counter() - start
    sample.times.append(took * 1000)
    sample.seconds += took
