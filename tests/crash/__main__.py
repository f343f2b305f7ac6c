"""Kill -9 under load, again and again: stores, gateways and bots, on SQLite and PostgreSQL.

Gateways are also killed in moments that are worse than others:

{moments}

After each kill, and when everything has come to rest, what users were shown is compared with the
store. The run ends with a table, and with exit code 1 if anything was lost (acknowledged, but
neither answered nor in the transcript), doubled (answered twice), unmarked (shown again without a
mark) or disordered; with 2 if the time was over before all kills were made. No root is needed, and
all processes that were started are ended.

    make crash KILLS=300                                about an hour on two cores
    make crash KILLS=20 ARGS="--what disk --on sqlite"  one moment on one database
    make crash KILLS=50 ARGS="--seed 7"                 the same choices as another run
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.crash.acknowledged import Problem, Trouble
from tests.crash.gateway.invariants import late_repeats
from tests.crash.gateway.kill_runs import ServingVictim
from tests.crash.gateway.moments import MOMENTS, open_scene, settle, strike
from tests.crash.gateway.takeover import percentile
from tests.crash.kill_runs import Victim
from tests.crash.telegram.killing import telegram_victim
from tests.crash.verify import looking
from tests.databases import Server

STORE, TELEGRAM, GATEWAY, ALL = "store", "telegram", "gateway", "all"
SQLITE, POSTGRES, BOTH = "sqlite", "postgres", "both"
_WHOLE_EVERY = 25
"""After so many kills everything has to come to rest, and all promises are checked."""
_SAY_EVERY = 10.0
"""Seconds between two lines of progress where the output is no terminal."""
_COLUMNS = ("kills", "acknowledged", "shown", "late", *Trouble, "takeover p50", "p99")


@dataclass(slots=True)
class Tally:
    """The outcome of one moment on one database."""

    moment: str
    database: str
    wanted: int
    seed: int
    kills: int = 0
    acknowledged: int = 0
    shown: int = 0
    late: int = 0
    """Messages of stopped processes that arrived after another process had sent them, marked."""
    broken: Counter[Trouble] = field(default_factory=Counter)
    takeovers: list[float] = field(default_factory=list)
    _found: set[str] = field(default_factory=set)

    def take(self, problems: list[Problem]) -> None:
        """Count what is wrong and was not found before, and print it."""
        problems = [problem for problem in problems if problem.what not in self._found]
        self._found.update(problem.what for problem in problems)
        self.broken.update(problem.trouble for problem in problems)
        for problem in problems[:20]:
            where = f"{self.moment} on {self.database}, kill {self.kills}, --seed {self.seed}"
            print(f"\n{where}: {str(problem)[:1000]}", flush=True)

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of its row."""
        taken = self.takeovers
        spans = [f"{percentile(taken, p):.2f} s" for p in (50, 99)] if taken else ["", ""]
        counts = (self.kills, self.acknowledged, self.shown, self.late)
        troubles = [str(self.broken[trouble]) for trouble in Trouble]
        return *(f"{count:,}" for count in counts), *troubles, *spans


Run: TypeAlias = Callable[[str, Tally], AsyncGenerator[None, None]]
"""Kills as often as a tally wants; yields after each kill."""


async def kill_stores(where: str, tally: Tally) -> AsyncGenerator[None, None]:
    """Kill processes that work on a store directly."""
    victim = Victim(where, tally.seed)
    while tally.kills < tally.wanted:
        tally.kills += 1
        whole = tally.kills % _WHOLE_EVERY == 0 or tally.kills == tally.wanted
        problems = await victim.kill(whole=whole)
        tally.acknowledged = victim.ledger.acknowledged
        tally.take(problems)
        yield


async def kill_bots(where: str, tally: Tally) -> AsyncGenerator[None, None]:
    """Kill gateways with a Telegram bot."""
    make: AbstractAsyncContextManager[ServingVictim] = telegram_victim(where, tally.seed)
    async with make as victim:
        while tally.kills < tally.wanted:
            tally.kills += 1
            problems = await victim.kill()
            if tally.kills % _WHOLE_EVERY == 0 or tally.kills == tally.wanted:
                problems += await victim.rest()
            tally.acknowledged = len(victim.exchange.acknowledged)
            tally.shown = len(victim.exchange.shown)
            tally.take(problems)
            yield


async def kill_gateways(where: str, tally: Tally) -> AsyncGenerator[None, None]:
    """Kill gateways in one of the moments."""
    moment, rested_at = MOMENTS[tally.moment], 0
    async with open_scene(moment, where, tally.seed) as scene:
        while tally.kills < tally.wanted:
            problems = await strike(moment, scene)
            tally.kills = scene.victim.kills
            if tally.kills - rested_at >= _WHOLE_EVERY or tally.kills >= tally.wanted:
                rested_at = tally.kills
                problems += await settle(moment, scene)
            tally.acknowledged = len(scene.exchange.acknowledged)
            tally.shown = len(scene.exchange.shown)
            with looking(where) as look:
                tally.late = len(late_repeats(look, scene.exchange.shown))
            tally.takeovers = scene.takeovers
            tally.take(problems)
            yield


class Progress:
    """Prints how far a run is, how fast, and how long it will take."""

    def __init__(self, wanted: int, minutes: float) -> None:
        """Begin with nothing done."""
        self._wanted = wanted
        self._began = self._said = time.monotonic()
        self._over = self._began + minutes * 60

    @property
    def seconds(self) -> float:
        """The time since the beginning."""
        return time.monotonic() - self._began

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._over

    def say(self, done: int, tally: Tally, broken: int) -> None:
        """Print it, in place on a terminal, else now and then."""
        rate = done / max(self.seconds, 0.001)
        left = max(self._wanted - done, 0) / max(rate, 0.001) / 60
        text = (
            f"{done}/{self._wanted} kills ({tally.moment} on {tally.database}), "
            f"{rate * 60:.0f} a minute, about {left:.0f} min left, {broken} problems"
        )
        if sys.stdout.isatty():
            print(f"\r\033[K{text}", end="", flush=True)
        elif time.monotonic() - self._said >= _SAY_EVERY or done >= self._wanted:
            self._said = time.monotonic()
            print(text, flush=True)


def main() -> int:
    """Read the options, kill, and print the table."""
    options = _parse()
    tallies = _plan(options)
    progress = Progress(sum(tally.wanted for tally in tallies), options.minutes)
    with (
        tempfile.TemporaryDirectory(prefix="threadline-crash-") as folder,
        _server(options.on) as server,
    ):
        for number, tally in enumerate(tallies):
            if tally.database == SQLITE:
                where = str(Path(folder) / f"{number}.db")
            else:
                assert server is not None
                where = server.url(server.create())
            asyncio.run(_run(where, tally, tallies, progress))
    return _sum_up(tallies, progress)


def _parse() -> argparse.Namespace:
    moments = "\n".join(f"  {name:10} {moment.text}" for name, moment in MOMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.crash",
        description=(__doc__ or "").replace("{moments}", moments),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--kills",
        type=int,
        default=300,
        help="kills of stores, of bots and of gateways each; those of gateways are spread evenly "
        "over their moments, and all over the databases (default: %(default)s)",
    )
    parser.add_argument(
        "--what",
        choices=(ALL, STORE, TELEGRAM, GATEWAY, *MOMENTS),
        default=ALL,
        help="all, one kind, or one moment, which then gets all kills (default: %(default)s)",
    )
    parser.add_argument("--on", choices=(SQLITE, POSTGRES, BOTH), default=BOTH)
    parser.add_argument(
        "--seed",
        type=int,
        default=random.SystemRandom().randrange(10**6),
        help="repeats the choices of another run; what a kill hits depends on the machine too",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=180.0,
        help="stop after so long, with exit code 2 (default: %(default)s)",
    )
    return parser.parse_args()


def _plan(options: argparse.Namespace) -> list[Tally]:
    """Spread the kills over kinds, moments and databases."""
    databases = (SQLITE, POSTGRES) if options.on == BOTH else (options.on,)
    kinds: list[tuple[str, ...]] = {
        ALL: [(STORE,), tuple(MOMENTS), (TELEGRAM,)],
        GATEWAY: [tuple(MOMENTS)],
    }.get(options.what, [(options.what,)])
    return [
        Tally(moment, database, -(-options.kills // (len(kind) * len(databases))), options.seed)
        for kind in kinds
        for moment in kind
        for database in databases
    ]


@contextmanager
def _server(on: str) -> Iterator[Server | None]:
    if on == SQLITE:
        yield None
        return
    server = Server()
    try:
        yield server
    finally:
        server.stop()


async def _run(where: str, tally: Tally, tallies: list[Tally], progress: Progress) -> None:
    """Kill as often as a tally wants, or until the time is up."""
    run: Run = {STORE: kill_stores, TELEGRAM: kill_bots}.get(tally.moment, kill_gateways)
    async with aclosing(run(where, tally)) as kills:
        async for _ in kills:
            done = sum(one.kills for one in tallies)
            progress.say(done, tally, sum(one.broken.total() for one in tallies))
            if progress.is_over:
                return


def _sum_up(tallies: list[Tally], progress: Progress) -> int:
    """Print the table; return the exit code."""
    rows = [("moment", "database", *_COLUMNS)]
    rows += [(tally.moment, tally.database, *tally.cells) for tally in tallies]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print()
    for row in rows:
        cells = zip(row, widths, strict=True)
        print(
            "  ".join(
                cell.ljust(w) if n < 2 else cell.rjust(w) for n, (cell, w) in enumerate(cells)
            )
        )
    broken = sum((tally.broken for tally in tallies), Counter[Trouble]())
    kills = sum(tally.kills for tally in tallies)
    verdicts = ", ".join(f"{broken[trouble]} {trouble}" for trouble in Trouble)
    print(f"\n{kills} kills in {progress.seconds:.0f} s, seed {tallies[0].seed}: {verdicts}")
    if broken:
        return 1
    if any(tally.kills < tally.wanted for tally in tallies):
        print("The time was over before all kills were made. Raise --minutes.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
