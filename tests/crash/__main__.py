"""Kill -9 under load, again and again: stores, gateways, bots; nothing is lost, nothing twice.

python -m tests.crash --kills 300
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.crash.gateway.killing import ServingVictim, serving_victim
from tests.crash.killing import Victim
from tests.crash.ledger import Problem, Trouble
from tests.crash.telegram.killing import telegram_victim
from tests.databases import Server

_WHOLE_EVERY = 25
MakeVictim: TypeAlias = Callable[[str, int], AbstractAsyncContextManager[ServingVictim]]


def main() -> int:
    """Read the wishes, kill, and tell how it went."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="so many of each kind")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--on", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--what", choices=tuple(_WHAT), default="all")
    wish = parser.parse_args()
    started, tallies = time.monotonic(), []
    for kill in _WHAT[wish.what]:
        with (
            tempfile.TemporaryDirectory(prefix="threadline-crash-") as folder,
            _stores(wish.on, Path(folder)) as stores,
        ):
            tallies.append(asyncio.run(kill(stores, wish.kills, wish.seed)))
    return _sum_up(tallies, time.monotonic() - started, wish.seed)


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


@dataclass(slots=True)
class Tally:
    """How the kills of one kind went."""

    kind: str
    kills: int
    seed: int
    acknowledged: int = 0
    answered: int = 0
    broken: Counter[Trouble] = field(default_factory=Counter)

    def take(self, problems: list[Problem], number: int) -> None:
        """Count what is wrong after a kill, and tell of it."""
        self.broken.update(problem.trouble for problem in problems)
        _report(problems, number, self.seed)
        _progress(
            f"{number}/{self.kills} kills of the {self.kind}, {self.acknowledged:,} acknowledged, "
            f"{self.broken.total()} problems"
        )


async def kill_stores(stores: list[str], kills: int, seed: int) -> Tally:
    """Kill whoever works on a store so many times."""
    victims = {where: Victim(where, seed) for where in stores}
    tally = Tally("store", kills, seed)
    for number in range(1, kills + 1):
        whole = number % _WHOLE_EVERY == 0 or number > kills - len(stores)
        problems = await victims[stores[number % len(stores)]].kill(whole=whole)
        tally.acknowledged = sum(victim.ledger.acknowledged for victim in victims.values())
        tally.take(problems, number)
    return tally


async def kill_gateways(stores: list[str], kills: int, seed: int) -> Tally:
    """Kill whole gateways so many times."""
    return await _kill_serving(stores, Tally("gateway", kills, seed), serving_victim)


async def kill_bots(stores: list[str], kills: int, seed: int) -> Tally:
    """Kill whole gateways with a Telegram bot so many times."""
    return await _kill_serving(stores, Tally("telegram", kills, seed), telegram_victim)


async def _kill_serving(stores: list[str], tally: Tally, victim_of: MakeVictim) -> Tally:
    """Kill gateways; now and then everything has to come to rest."""
    kills = tally.kills
    async with AsyncExitStack() as stack:
        victims = {
            where: await stack.enter_async_context(victim_of(where, tally.seed))
            for where in dict.fromkeys(stores)
        }
        for number in range(1, kills + 1):
            victim = victims[stores[number % len(stores)]]
            problems = await victim.kill()
            if number % _WHOLE_EVERY == 0 or number > kills - len(stores):
                problems += await victim.rest()
            seen = [one.exchange for one in victims.values()]
            tally.acknowledged = sum(len(exchange.acknowledged) for exchange in seen)
            tally.answered = sum(len(exchange.shown) for exchange in seen)
            tally.take(problems, number)
    return tally


_WHAT = {
    "store": (kill_stores,),
    "gateway": (kill_gateways,),
    "telegram": (kill_bots,),
    "all": (kill_stores, kill_gateways, kill_bots),
}


def _sum_up(tallies: list[Tally], seconds: float, seed: int) -> int:
    """Tell how it went, in one line; answer 1 if a promise was broken."""
    broken = sum((tally.broken for tally in tallies), Counter[Trouble]())
    print(
        f"\n{sum(tally.kills for tally in tallies)} kills ("
        + ", ".join(f"{tally.kills} of the {tally.kind}" for tally in tallies)
        + f"), {sum(tally.acknowledged for tally in tallies):,} acknowledged, "
        + "".join(f"{tally.answered:,} messages shown, " for tally in tallies if tally.answered)
        + f"{broken[Trouble.LOST]} lost, {broken[Trouble.DOUBLED]} doubled, "
        f"{broken[Trouble.DISORDER]} disordered ({seconds:.0f} s, seed {seed})"
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
