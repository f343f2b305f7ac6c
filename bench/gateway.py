"""`python -m bench.gateway`: the whole gateway under load, after a crash, and streaming."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from bench.bars import Bar, bar_table
from bench.child import READY
from bench.rounds import tell
from bench.serving import Service, start
from bench.sites import POSTGRES, ROOT, SQLITE, Site, open_site, temporary_folder
from bench.template import Template, make_template

LAG_MS = 50.0
GROWTH_MB = 10.0
"""How much more memory may be held after the last third of a load than after the first."""
_PATIENCE = 600
_LONG = 200

Found: TypeAlias = Mapping[str, float | list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much a gateway is given to do."""

    people: int = 1_000
    messages: int = 10
    interrupted: int = 1_000
    streams: int = 1_000
    seconds: float = 10.0
    """How long each answer is streamed."""
    sessions: int = 1_000
    """Sessions that the store holds before."""

    @property
    def crowd(self) -> str:
        """What is carried, in words."""
        return f"{self.people:,} conversations × {self.messages} messages"

    @property
    def crash(self) -> str:
        """What is picked up after a crash, in words."""
        return f"{self.interrupted:,} interrupted turns"

    @property
    def crush(self) -> str:
        """What is said at the same time, in words."""
        return f"{self.streams:,} turns streaming at once"


QUICK = Load(people=50, messages=4, interrupted=50, streams=50, seconds=2.0, sessions=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What was found on one database."""

    database: str
    load: Load
    carried: Found
    resumed: Found
    streamed: Found


def measure(site: Site, template: Template, load: Load) -> Served:
    """Let a gateway serve in every way, each on a store of its own."""
    stores = []
    for number in range(3):
        asyncio.run(site.fill(template, load.sessions + number, long_messages=_LONG))
        stores.append(site.where(load.sessions + number))
    people, messages = load.people, load.messages
    tell(f"{site.name}: a gateway carries {people:,} × {messages} messages")
    carried = _ended(Service(way="carry", where=stores[0], people=people, messages=messages))
    tell(f"{site.name}: a gateway is killed with {load.interrupted:,} turns")
    _kill(Service(way="hold", where=stores[1], people=load.interrupted))
    resumed = _ended(Service(way="resume", where=stores[1], people=load.interrupted))
    tell(f"{site.name}: a gateway streams {load.streams:,} turns")
    streamed = _ended(
        Service(way="stream", where=stores[2], people=load.streams, seconds=load.seconds)
    )
    return Served(
        database=site.name, load=load, carried=carried, resumed=resumed, streamed=streamed
    )


def _ended(service: Service) -> Found:
    """Let a process serve to its end, and read what it found."""
    with start(service) as child:
        try:
            told, _ = child.communicate(timeout=_PATIENCE)
        finally:
            child.kill()
    found: Found = json.loads(told)
    return found


def _kill(service: Service) -> None:
    """Kill a process in the middle of everything."""
    with start(service) as child:
        try:
            if child.stdout is None or child.stdout.readline().strip() != READY:
                raise RuntimeError("The gateway did not begin to answer everybody")
        finally:
            child.kill()


def judge(served: Served) -> list[Bar]:
    """Hold what was found on one database against the bars."""
    load, carried, resumed = served.load, served.carried, served.resumed
    crowd, crash, streams = load.crowd, load.crash, load.crush
    megabytes = _numbers(carried, "memory")

    def bar(name: str, measured: float, most: float, where: str, unit: str = "") -> Bar:
        return Bar(
            bar=name,
            database=served.database,
            wanted=f"≤ {most:.0f}{unit}",
            measured=f"{measured:.1f}{unit}" if unit else f"{measured:.0f}",
            where=where,
            ok=measured <= most,
        )

    wrong = _number(carried, "lost") + _number(carried, "misfits")
    bars = [
        bar("answers lost, doubled or out of order", wrong, 0, crowd),
        bar("answers doubled or wrong after a crash", _number(resumed, "misfits"), 0, crash),
        bar("pieces that no listener heard", _number(served.streamed, "lost"), 0, streams),
        bar(
            "memory after the last third, more than after the first",
            megabytes[-1] - megabytes[0],
            GROWTH_MB,
            crowd,
            " MB",
        ),
    ]
    for found, where in ((carried, crowd), (resumed, crash), (served.streamed, streams)):
        bars.append(
            bar("the longest lag of a gateway", _number(found, "lag"), LAG_MS, where, " ms")
        )
    return bars


def _numbers(found: Found, name: str) -> list[float]:
    value = found[name]
    return value if isinstance(value, list) else [value]


def _number(found: Found, name: str) -> float:
    return _numbers(found, name)[0]


def served_table(all_served: Sequence[Served]) -> str:
    """Show what was found as a table in Markdown."""
    lines = ["| | " + " | ".join(one.database for one in all_served) + " |"]
    lines.append("| --- |" + " --: |" * len(all_served))
    rows = zip(*(_rows(one) for one in all_served), strict=True)
    lines += [f"| {row[0][0]} | " + " | ".join(shown for _, shown in row) + " |" for row in rows]
    return "\n".join(lines)


def _rows(served: Served) -> list[tuple[str, str]]:
    load = served.load
    carried, resumed, streamed = served.carried, served.resumed, served.streamed
    memory = " / ".join(f"{one:.0f}" for one in _numbers(carried, "memory"))

    def times(found: Found, name: str) -> str:
        return f"{_number(found, f'{name}_p50'):.1f} / {_number(found, f'{name}_p99'):.1f}"

    def lag(found: Found) -> str:
        p99, longest, late = (_number(found, name) for name in ("lag_p99", "lag", "late"))
        return f"{p99:.1f} / {longest:.1f} / {late:.1f}"

    return [
        (f"{load.crowd}: messages in a second, end to end", f"{_number(carried, 'rate'):,.0f}"),
        ("arrival to durable, ms, p50 / p99", times(carried, "take")),
        ("lag, ms, p99 / longest / by the clock", lag(carried)),
        ("memory after each third, MB", memory),
        (f"{load.crash}: start of the process to ready, s", f"{_number(resumed, 'ready'):.2f}"),
        ("start of the process to all answered, s", f"{_number(resumed, 'answered'):.2f}"),
        ("lag, ms, p99 / longest / by the clock", lag(resumed)),
        (f"{load.crush}: most of them together", f"{_number(streamed, 'together'):,.0f}"),
        ("checkpoint of all, ms, p50 / p99", times(streamed, "checkpoint")),
        ("lag, ms, p99 / longest / by the clock", lag(streamed)),
        ("memory for a turn, KB", f"{_number(streamed, 'memory') * 1024 / load.streams:.0f}"),
    ]


def run(out: Path, databases: Sequence[str], *, load: Load) -> list[Served]:
    """Measure on these databases, and write what was found."""
    all_served = []
    with temporary_folder() as folder:
        template = asyncio.run(make_template(folder))
        for name in databases:
            with open_site(name, folder) as site:
                all_served.append(measure(site, template, load))
    tell("")
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(one) for one in all_served], indent=1, ensure_ascii=False)
    (out / "gateway.json").write_text(text + "\n", encoding="utf-8")
    return all_served


def read_served(out: Path) -> list[Served]:
    """Read what the latest run found, if there was one."""
    file = out / "gateway.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return [Served(**{**one, "load": Load(**one["load"])}) for one in found]


if __name__ == "__main__":
    chosen = [name for name in (SQLITE, POSTGRES) if name in sys.argv] or [SQLITE, POSTGRES]
    found = run(ROOT / "bench" / "results", chosen, load=QUICK if "--quick" in sys.argv else Load())
    print(served_table(found))
    print(bar_table([bar for one in found for bar in judge(one)]))
