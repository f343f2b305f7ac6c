"""Kill -9 under load, again and again: nothing lost, nothing twice.

python -m tests.crash --kills 300
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.crash.killing import Victim
from tests.crash.ledger import Problem, Trouble
from tests.databases import Server

_WHOLE_EVERY = 25


def main() -> int:
    """Read the wishes, kill, and tell how it went."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--on", choices=("sqlite", "postgres", "both"), default="both")
    wish = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="threadline-crash-") as folder,
        _stores(wish.on, Path(folder)) as stores,
    ):
        victims = [Victim(where, wish.seed) for where in stores]
        return asyncio.run(run(victims, wish.kills, wish.seed))


@contextmanager
def _stores(on: str, folder: Path) -> Iterator[list[str]]:
    """Make the stores; of three kills two are for SQLite, where there is more to break."""
    sqlite = str(folder / "crash.db")
    if on == "sqlite":
        yield [sqlite]
        return
    server = Server()
    try:
        postgres = server.url(server.create())
        yield [postgres] if on == "postgres" else [sqlite, sqlite, postgres]
    finally:
        server.stop()


async def run(victims: list[Victim], kills: int, seed: int) -> int:
    """Kill so many times; answer 1 if a promise was broken."""
    by_where = {victim.where: victim for victim in victims}
    line = [by_where[victim.where] for victim in victims]
    started, broken = time.monotonic(), Counter[Trouble]()
    for number in range(1, kills + 1):
        whole = number % _WHOLE_EVERY == 0 or number > kills - len(line)
        problems = await line[number % len(line)].kill(whole=whole)
        _report(problems, number, seed)
        broken.update(problem.trouble for problem in problems)
        said = sum(victim.ledger.acknowledged for victim in by_where.values())
        _progress(f"{number}/{kills} kills, {said:,} acknowledged, {broken.total()} problems")
    said = sum(victim.ledger.acknowledged for victim in by_where.values())
    print(
        f"\n{kills} kills, {said:,} acknowledged, {broken[Trouble.LOST]} lost, "
        f"{broken[Trouble.DOUBLED]} doubled"
        + (f", {broken[Trouble.DISORDER]} disordered" if broken[Trouble.DISORDER] else "")
        + f" ({time.monotonic() - started:.0f} s, seed {seed})"
    )
    return 1 if broken else 0


def _report(problems: list[Problem], number: int, seed: int) -> None:
    for problem in problems[:20]:
        print(f"\nkill {number}, --seed {seed}: {problem}", flush=True)


def _progress(text: str) -> None:
    if sys.stdout.isatty():
        print(f"\r{text}", end="", flush=True)
    elif text.partition("/")[0].endswith("0"):
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
