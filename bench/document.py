"""The document: the results for readers, in Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from bench.bars import bar_table
from bench.gateway import Served, served_table
from bench.parts import Judged
from bench.results import TITLES, VALUES, Measured, Results
from bench.serving import PIECES
from bench.timing import Summary

_NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}

_HOW = """\
## How it is measured

- **The floor** is the driver by itself (apsw, psycopg) on the same file or server with the same
  settings: the same inserts and updates in the same number of durable commits, in a straight loop
  with prepared statements, without looking anything up, checking or deciding. For reads it is the
  query alone. A test holds the rows that both leave behind against each other.
- **Durable** means `synchronous=FULL` with a write-ahead log on SQLite, and `fsync` and
  `synchronous_commit` on PostgreSQL, on a real disk.
- **A whole turn** is `arrive`, `claim`, `append` and `finish` with usage and the reply owed: four
  calls, four durable commits. Messages have 200 characters.
- **Every store is filled** with so many sessions of ten turns (20 messages and a note for the
  agent), spread over two months, and one session of {long:,} messages. The rows are copies of what
  the verbs write, and lie in the file in the order of their time. Only the events of the last seven
  days are there, as in a store that is pruned. After the filling the store checks itself, lists
  sessions and carries out a turn.
- **Sessions are chosen at random** from all of them, which is harder than life, where most messages
  go to a few.
- **Rounds**: floor and store take turns, size after size, and again. Shown is the median of the
  rounds; the spread of the p50 between rounds stands in brackets.
- **The event loop** is watched by a task that wants to wake every 2 ms while the store is used;
  a stall is how late it woke at worst, as far as this process ran meanwhile. By the clock alone it
  was up to {late:.1f} ms late, and with nothing to do {idle:.1f} ms: the machine's own pauses.
- **Memory** is what a fresh process holds after it opened the store, carried out turns, listed
  sessions and read a transcript; its floor is a process with the same modules loaded that does the
  same by the driver alone. **Disk** is the size of the whole store divided by the number of
  messages: turns, usage, deliveries, arrivals and indexes included; 200 bytes of it are the text.
- **The gateway** is the real one, in a fresh process: inbox, worker, outbox, scheduler and hooks,
  with the echo agent, which never rests, and a simulated platform on which answers grow. Everybody
  writes all their messages without waiting for an answer. **Arrival to durable** is what a platform
  waits for before it may forget a message, with many of them at a time. **A crash** is `kill -9` of
  a process in which so many answers grow; the next one is timed from its start, loading included.
  **Streaming** is {pieces} pieces a second in each turn, a listener for each, an edit a second on
  the platform, and a checkpoint a second for all.
- **A turn with a model** goes through store, worker and model agent to a provider on the loopback
  that answers at once, in pieces; **the bare call** is pydantic-ai with the same model, the same
  words and the same history. They take turns, in conversations of ten. **First words** are timed
  from a message on a simulated platform to the first part of its answer there.
- **Pages over HTTP** are asked for on one connection that is kept open, without a browser. Their
  floor are the very queries that they are made of, every row fetched by the driver alone: the store
  is held against them in a thread, which no program with an event loop can do without, and the
  answer against a bare route of the same server that asks them in a thread and gives their rows as
  JSON. It looks up no token, checks no permission and has no types.

Run it yourself: `make bench`. All numbers are in `bench/results`, where it writes them too.
"""


def write_document(
    results: Results,
    judged: Mapping[str, Judged],
    images: Sequence[tuple[str, str]],
    served: Sequence[Served] = (),
) -> str:
    """Write the page; images are pairs of a caption and a path."""
    return "\n".join(_page(results, judged, images, served))


def _page(
    results: Results,
    judged: Mapping[str, Judged],
    images: Sequence[tuple[str, str]],
    served: Sequence[Served],
) -> Iterator[str]:
    machine, versions = results.machine, results.versions
    yield "# Benchmarks\n"
    yield "This page is written by `make bench`.\n"
    yield (
        f"On {machine['cores']} cores ({machine['processor']}), "
        f"{machine['memory_gb']} GB, {machine['system']} {machine['release']}; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + ".\n"
    )
    days = ", ".join(f"{name} {one.at}" for name, one in judged.items())
    yield f"Each part is measured by itself (`python -m bench --parts …`); latest: {days}.\n"
    yield "## Bars\n"
    yield bar_table([bar for one in judged.values() for bar in one.bars]) + "\n"
    for database in results.databases:
        yield f"## {_NAMES[database]}\n"
        yield _times(results, database) + "\n"
        yield _rates(results, database) + "\n"
        yield _values(results, database) + "\n"
        for caption, path in images:
            if database in path:
                yield f"![{caption}]({path})\n"
    if served:
        yield "## The gateway\n"
        yield served_table(served) + "\n"
    yield _HOW.format(
        idle=results.idle_stall,
        late=max((one.ours.late or 0.0 for one in results.measured), default=0.0),
        long=results.long_messages,
        pieces=PIECES,
    )


def _times(results: Results, database: str) -> str:
    titles = ["operation", "sessions", "p50 ms", "p95", "p99", "floor p50 ms", "p95", "p99"]
    rows = [
        _time_row(title, results.find(database, size, name))
        for name, title in TITLES.items()
        for size in results.sizes
    ]
    return _table([*titles, "ours / floor", "longest stall ms"], rows)


def _time_row(title: str, one: Measured) -> list[str]:
    floor = [""] * 4 if one.floor is None else _numbers(one.floor)
    if one.floor is not None:
        floor.append(f"{one.ours.p50 / one.floor.p50:.1f}")
    stall = "" if one.ours.stall is None else f"{one.ours.stall:.1f}"
    return [title, f"{one.sessions:,}", *_numbers(one.ours), *floor, stall]


def _numbers(found: Summary) -> list[str]:
    middle = f"{found.p50:.2f} ({found.p50_least:.2f}–{found.p50_most:.2f})"
    return [middle, f"{found.p95:.2f}", f"{found.p99:.2f}"]


def _rates(results: Results, database: str) -> str:
    rows = []
    for size in results.sizes:
        turn = results.find(database, size, "turn")
        crowd = results.find(database, size, "turn_64")
        two = results.find(database, size, "two_processes")
        found = (turn.floor, turn.ours, crowd.ours, two.floor, two.ours)
        numbers = ["" if one is None else f"{one.rate:,.0f}" for one in found]
        rows.append(["turns in a second", f"{size:,}", *numbers])
    titles = ["floor, one caller", "ours, one caller", "ours, 64 callers"]
    return _table(["", "sessions", *titles, "floor, two processes", "ours, two processes"], rows)


def _values(results: Results, database: str) -> str:
    rows = []
    for name, (title, unit) in VALUES.items():
        for size in results.sizes:
            one = results.value(database, size, name)
            floor = "" if one.floor is None else f"{one.floor:,.0f} {unit}"
            rows.append([title, f"{size:,}", f"{one.ours:,.0f} {unit}", floor])
    return _table(["", "sessions", "ours", "floor"], rows)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---", *["--:"] * (len(titles) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
