"""`python -m bench.feed`: many follow over HTTP while turns run, and more who only wait.

The server is a process of its own, and those who follow are in this one. They share the machine, so
they do little: they count what they are told, and read when the oldest and the newest event of each
piece were written. How late an event is counts from there, so the commit is part of it.
"""

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from bench.bars import Bar, bar_table
from bench.rounds import tell
from bench.sites import ROOT, SQLITE, temporary_folder
from bench.timing import percentile
from threadline.web.connections import allow_files

LAG_MS = 500.0
GROWTH_MB = 40.0
"""How much more memory the server may hold after all turns than before them, with everybody."""
IDLE_KB = 60.0
"""How much memory somebody may take who only waits."""
WARM_UP = 20
_AT_ONCE = 32
"""Followers that begin at the same time."""
_PATIENCE = 600
_BEGUN, _LOST, _FRAME, _AT = b": snapshot", b"event: reload", b"event: event\n", b'"at":"'
_KEPT = len(_FRAME) - 1
"""Bytes that are looked at again with the next piece: no mark is whole in them that is counted."""
_MOMENT = len("2026-01-31T18:45:00.000000Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many follow, and how much happens."""

    followers: int = 500
    turns: int = 1_000
    idle: int = 3_000


QUICK = Load(followers=50, turns=100, idle=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """What was found while turns ran: milliseconds, megabytes, seconds."""

    seconds: float
    cpu: float
    """How long the server made a processor work."""
    events: int
    lag_p50: float
    lag_p99: float
    lag: float
    missed: int
    """Events that somebody was not told, or told twice."""
    reloads: int
    loop_p99: float
    before: float
    """Memory of the server when everybody followed."""
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """What was found while everybody only waited, and then one thing happened."""

    each: float
    """Kilobytes of memory for each."""
    lag_p99: float
    missed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What was found."""

    load: Load
    busy: Busy
    idle: Idle


class Ear(asyncio.Protocol):
    """Somebody who follows, and notes how late they hear."""

    def __init__(self, request: bytes) -> None:
        """Begin with nothing heard."""
        self._request = request
        self._last = b""
        self.has_begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.forget()

    def forget(self) -> None:
        """Count from now on."""
        self.events = self.reloads = 0
        self.lags: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the feed."""
        self._transport = transport
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Hear something; where one piece ends and the next begins means nothing."""
        now, heard = time.time(), self._last + data
        if not self.has_begun.done() and _BEGUN in heard:
            self.has_begun.set_result(None)
        self.events += heard.count(_FRAME)
        self.reloads += heard.count(_LOST)
        for place in {heard.find(_AT), heard.rfind(_AT)} - {-1}:
            begin = place + len(_AT)
            moment = heard[begin : begin + _MOMENT].decode("ascii")
            if len(moment) == _MOMENT:
                self.lags.append((now - datetime.fromisoformat(moment).timestamp()) * 1000)
        self._last = heard[-_KEPT:]

    def connection_lost(self, exc: Exception | None) -> None:
        """Let nobody wait for somebody who cannot follow."""
        if not self.has_begun.done():
            self.has_begun.set_exception(exc or ConnectionError("The feed was not answered"))

    def close(self) -> None:
        """Hear no more."""
        self._transport.close()


class Served:
    """A server in a process of its own."""

    def __init__(self, process: Process) -> None:
        """Speak with a process."""
        self._process = process
        self.url = self.token = ""

    async def ask(self, what: str = "") -> dict[str, float]:
        """Tell it to do something, and read what came of it."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("The server cannot be spoken with")
        if what:
            self._process.stdin.write(f"{what}\n".encode())
        async with asyncio.timeout(_PATIENCE):
            found: dict[str, float] = json.loads(await self._process.stdout.readline())
        return found


@asynccontextmanager
async def served(where: Path) -> AsyncIterator[Served]:
    """Let a server run for as long as this lasts."""
    command = [sys.executable, "-m", "bench.audience", str(where)]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE)
    try:
        server = Served(process)
        begun = await server.ask()
        server.url, server.token = str(begun["url"]), str(begun["token"])
        yield server
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def listening(server: Served, count: int) -> AsyncIterator[Sequence[Ear]]:
    """Let so many follow, some of them at a time."""
    at, loop = urlsplit(server.url), asyncio.get_running_loop()
    host, port = at.hostname or "", at.port or 80
    head = f"GET /api/feed HTTP/1.1\r\nHost: {at.netloc}\r\n"
    request = f"{head}Authorization: Bearer {server.token}\r\n\r\n".encode()

    async def begin() -> Ear:
        _, ear = await loop.create_connection(lambda: Ear(request), host, port)
        await asyncio.wait_for(ear.has_begun, _PATIENCE)
        return ear

    ears: list[Ear] = []
    try:
        while more := min(count - len(ears), _AT_ONCE):
            ears += await asyncio.gather(*(begin() for _ in range(more)))
        yield ears
    finally:
        for ear in ears:
            ear.close()


async def measure(folder: Path, load: Load) -> Followed:
    """Measure both, each with a server of its own."""
    allow_files(load.idle)
    tell(f"{load.followers:,} follow while {load.turns:,} turns run")
    async with served(folder / "turns.db") as server:
        busy = await _run_turns(server, load)
    tell(f"{load.idle:,} only wait")
    async with served(folder / "idle.db") as server:
        idle = await _wait(server, load.idle)
    tell("")
    return Followed(load=load, busy=busy, idle=idle)


async def _run_turns(server: Served, load: Load) -> Busy:
    async with listening(server, load.followers) as ears:
        await server.ask(f"turns {WARM_UP}")  # what is made once is made now
        await _settle(server, ears)
        before = (await server.ask("memory"))["memory"]
        ran = await server.ask(f"turns {load.turns}")
        lags, missed, reloads = await _settle(server, ears)
        after = await server.ask("memory")
    return Busy(
        seconds=ran["seconds"],
        cpu=ran["cpu"],
        events=int(after["events"]),
        lag_p50=percentile(lags, 0.50),
        lag_p99=percentile(lags, 0.99),
        lag=max(lags),
        missed=missed,
        reloads=reloads,
        loop_p99=ran["loop_p99"],
        before=before,
        after=after["memory"],
    )


async def _wait(server: Served, count: int) -> Idle:
    async with listening(server, min(count, 10)) as ears:
        await server.ask(f"turns {WARM_UP}")
        await _settle(server, ears)
        empty = (await server.ask("memory"))["memory"]
        async with listening(server, count) as waiting:
            full = (await server.ask("memory"))["memory"]
            await server.ask("change")
            lags, missed, reloads = await _settle(server, waiting)
    each = (full - empty) * 1024 / count
    return Idle(each=each, lag_p99=percentile(lags, 0.99), missed=missed + reloads)


async def _settle(server: Served, ears: Sequence[Ear]) -> tuple[list[float], int, int]:
    """Wait until nobody hears anything any more; answer lags, misses and reloads, and forget."""
    before = -1
    while (now := sum(ear.events for ear in ears)) != before:
        before = now
        await asyncio.sleep(1)
    events = (await server.ask("memory"))["events"]
    lags = [lag for ear in ears for lag in ear.lags]
    missed = int(max(abs(ear.events - events) for ear in ears))
    reloads = sum(ear.reloads for ear in ears)
    for ear in ears:
        ear.forget()
    return lags, missed, reloads


def judge(found: Followed) -> list[Bar]:
    """Hold what was found against the bars."""
    load, busy, idle = found.load, found.busy, found.idle
    many = f"{load.followers:,} followers, {load.turns:,} turns"
    few = f"{load.idle:,} followers, 1 event"

    def bar(name: str, measured: float, most: float, unit: str, where: str) -> Bar:
        return Bar(
            bar=name,
            database=SQLITE,
            wanted=f"≤ {most:.0f}{unit}",
            measured=f"{measured:.0f}{unit}",
            where=where,
            ok=measured <= most,
        )

    grown = busy.after - busy.before
    return [
        bar("lag of the live feed, p99", busy.lag_p99, LAG_MS, " ms", many),
        bar("events that a follower missed", busy.missed + busy.reloads, 0, "", many),
        bar("memory after the turns, more than before", grown, GROWTH_MB, " MB", many),
        bar("lag of the live feed, p99", idle.lag_p99, LAG_MS, " ms", few),
        bar("events that a follower missed", idle.missed, 0, "", few),
        bar("memory of a follower who waits", idle.each, IDLE_KB, " KB", few),
    ]


def run(out: Path, load: Load | None = None, *, quick: bool = False) -> list[Bar]:
    """Measure, write what was found, and answer the bars."""
    with temporary_folder() as folder:
        found = asyncio.run(measure(folder, load or (QUICK if quick else Load())))
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(found), indent=1)
    (out / "feed.json").write_text(f"{text}\n", encoding="utf-8")
    return judge(found)


if __name__ == "__main__":
    print(bar_table(run(ROOT / "bench" / "results", quick="--quick" in sys.argv)))
