"""`python -m bench.feed`: many follow over HTTP while turns run, and more who only wait."""

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
_PATIENCE = 600
_FRAME, _AT = b"event: event\n", b'"at":"'
_MOMENT = len("2026-01-31T18:45:00.000000Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How many follow, and how much happens."""

    followers: int = 500
    turns: int = 1_000
    idle: int = 3_000


QUICK = Load(followers=50, turns=100, idle=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What was found."""

    load: Load
    seconds: float
    events: int
    lag_p50: float
    lag_p99: float
    lag: float
    missed: int
    """Events that one was told and another was not."""
    loop_p99: float
    growth: float
    idle: float
    """Kilobytes of memory for each who only waits."""


class Ear:
    """Somebody who follows, and notes how late the oldest and newest event of each piece are."""

    def __init__(self) -> None:
        """Begin with nothing heard."""
        self.events = 0
        self.lags: list[float] = []
        self.has_begun = asyncio.Event()

    async def listen(self, url: str, token: str) -> None:
        """Follow until the server ends it."""
        at = urlsplit(url)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        head = f"GET /api/feed HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {token}\r\n"
        writer.write(f"{head}\r\n".encode())
        try:
            while piece := await reader.read(1 << 18):
                self._hear(piece)
        finally:
            writer.close()

    def _hear(self, piece: bytes) -> None:
        if b"event: snapshot" in piece:
            self.has_begun.set()
        elif b"event: reload" in piece:
            raise RuntimeError("Somebody was too slow")
        self.events += piece.count(_FRAME)
        now = time.time()
        for place in {piece.find(_AT), piece.rfind(_AT)} - {-1}:
            begin = place + len(_AT)
            moment = piece[begin : begin + _MOMENT].decode()
            if len(moment) == _MOMENT:
                self.lags.append((now - datetime.fromisoformat(moment).timestamp()) * 1000)


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
        process.kill()
        await process.communicate()


@asynccontextmanager
async def listening(server: Served, count: int) -> AsyncIterator[Sequence[Ear]]:
    """Let so many follow."""
    ears = [Ear() for _ in range(count)]
    tasks = []
    try:
        for ear in ears:
            tasks.append(asyncio.create_task(ear.listen(server.url, server.token)))
            await asyncio.wait_for(ear.has_begun.wait(), _PATIENCE)
        yield ears
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def measure(folder: Path, load: Load) -> Followed:
    """Measure both, each with a server of its own."""
    allow_files(load.idle)
    tell(f"{load.followers:,} follow while {load.turns:,} turns run")
    async with served(folder / "turns.db") as server, listening(server, load.followers) as ears:
        await server.ask("turns 20")  # what is made once is made now
        await _until_even(ears)
        for ear in ears:
            ear.lags.clear()
        before, heard = (await server.ask("memory"))["memory"], ears[0].events
        ran = await server.ask(f"turns {load.turns}")
        await _until_even(ears)
        growth = (await server.ask("memory"))["memory"] - before
        lags = [lag for ear in ears for lag in ear.lags]
        counts = [ear.events for ear in ears]
    tell(f"{load.idle:,} only wait")
    async with served(folder / "idle.db") as server:
        async with listening(server, 10):
            empty = (await server.ask("memory"))["memory"]
        async with listening(server, load.idle):
            full = (await server.ask("memory"))["memory"]
    tell("")
    return Followed(
        load=load,
        seconds=ran["seconds"],
        events=counts[0] - heard,
        lag_p50=percentile(lags, 0.50),
        lag_p99=percentile(lags, 0.99),
        lag=max(lags),
        missed=max(counts) - min(counts),
        loop_p99=ran["loop_p99"],
        growth=growth,
        idle=(full - empty) * 1024 / load.idle,
    )


async def _until_even(ears: Sequence[Ear]) -> None:
    """Wait until nobody hears anything any more."""
    before = -1
    while (now := sum(ear.events for ear in ears)) != before:
        before = now
        await asyncio.sleep(1)


def judge(found: Followed) -> list[Bar]:
    """Hold what was found against the bars."""
    load = found.load
    many = f"{load.followers:,} followers, {load.turns:,} turns"

    def bar(name: str, measured: float, most: float, unit: str, where: str = many) -> Bar:
        return Bar(
            bar=name,
            database=SQLITE,
            wanted=f"≤ {most:.0f}{unit}",
            measured=f"{measured:.0f}{unit}",
            where=where,
            ok=measured <= most,
        )

    return [
        bar("lag of the live feed, p99", found.lag_p99, LAG_MS, " ms"),
        bar("events that a follower missed", found.missed, 0, ""),
        bar("memory after the turns, more than before", found.growth, GROWTH_MB, " MB"),
        bar("memory of a follower who waits", found.idle, IDLE_KB, " KB", f"{load.idle:,} idle"),
    ]


def run(out: Path, *, quick: bool = False) -> list[Bar]:
    """Measure, and write what was found."""
    with temporary_folder() as folder:
        found = asyncio.run(measure(folder, QUICK if quick else Load()))
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(found), indent=1)
    (out / "feed.json").write_text(f"{text}\n", encoding="utf-8")
    return judge(found)


if __name__ == "__main__":
    print(bar_table(run(ROOT / "bench" / "results", quick="--quick" in sys.argv)))
