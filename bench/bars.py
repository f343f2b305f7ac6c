"""Bars: what the numbers have to be, and whether they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.results import TITLES, Results
from bench.sites import SQLITE

STALL_MS = {"sqlite": 20.0, "postgres": 50.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar, at the place where it was hardest to reach."""

    bar: str
    database: str
    wanted: str
    measured: str
    where: str
    ok: bool


def judge(results: Results) -> list[Bar]:
    """Hold the results against all bars."""
    return [bar for database in results.databases for bar in _judged(results, database)]


def _judged(results: Results, database: str) -> Iterator[Bar]:
    sizes = results.sizes
    yield _most(
        "a turn by one caller, against its floor",
        database,
        3.0,
        [(_floor_ratio(results, database, size), f"{size:,} sessions") for size in sizes],
    )
    yield _crowd(results, database)
    yield from _growth(results, database)
    memory = [results.value(database, size, "memory").ours for size in (sizes[0], sizes[-1])]
    grown = memory[1] - memory[0]
    yield Bar(
        bar="memory at the largest size, more than at the smallest",
        database=database,
        wanted="≤ 25 MB",
        measured=f"{grown:.1f} MB",
        where=f"{sizes[0]:,} → {sizes[-1]:,} sessions",
        ok=grown <= 25,
    )
    yield _stall(results, database)


def _floor_ratio(results: Results, database: str, size: int) -> float:
    found = results.find(database, size, "turn")
    return found.ours.p50 / found.floor.p50 if found.floor is not None else 0.0


def _crowd(results: Results, database: str) -> Bar:
    """Many callers against one: the bare one on SQLite, our own on PostgreSQL."""
    ratios = []
    for size in results.sizes:
        alone, crowd = results.find(database, size, "turn"), results.find(database, size, "turn_64")
        beside = alone.floor if database == SQLITE and alone.floor is not None else alone.ours
        ratios.append((crowd.ours.rate / beside.rate, f"{size:,} sessions"))
    ratio, where = min(ratios)
    least, whose = (1.5, "the floor's") if database == SQLITE else (2.0, "our own")
    return Bar(
        bar=f"throughput of 64 callers, against {whose} one caller",
        database=database,
        wanted=f"≥ {least:.1f} ×",
        measured=f"{ratio:.2f} ×",
        where=where,
        ok=ratio >= least,
    )


def _growth(results: Results, database: str) -> Iterator[Bar]:
    small, large = results.sizes[0], results.sizes[-1]
    for share, most in (("p50", 1.3), ("p99", 3.0)):
        ratios = [
            (
                getattr(results.find(database, large, name).ours, share)
                / getattr(results.find(database, small, name).ours, share),
                title,
            )
            for name, title in TITLES.items()
        ]
        yield _most(
            f"{share} at {large:,} sessions, against itself at {small:,}", database, most, ratios
        )


def _stall(results: Results, database: str) -> Bar:
    most = STALL_MS[database]
    stalls = [
        (one.ours.stall, f"{TITLES[one.name]}, {one.sessions:,} sessions")
        for one in results.measured
        if one.database == database and one.ours.stall is not None
    ]
    stall, where = max(stalls)
    return Bar(
        bar="the longest stall of the event loop",
        database=database,
        wanted=f"≤ {most:.0f} ms",
        measured=f"{stall:.1f} ms",
        where=where,
        ok=stall <= most,
    )


def _most(bar: str, database: str, most: float, ratios: Sequence[tuple[float, str]]) -> Bar:
    ratio, where = max(ratios)
    return Bar(
        bar=bar,
        database=database,
        wanted=f"≤ {most:.1f} ×",
        measured=f"{ratio:.2f} ×",
        where=where,
        ok=ratio <= most,
    )


def bar_table(bars: Sequence[Bar]) -> str:
    """Show the bars as a table in Markdown."""
    lines = [
        "| bar | database | wanted | measured (worst) | where | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {bar.bar} | {bar.database} | {bar.wanted} | {bar.measured} | {bar.where} | "
        f"{'ok' if bar.ok else 'MISSED'} |"
        for bar in bars
    ]
    return "\n".join(lines)
