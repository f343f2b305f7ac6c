"""`python -m bench.search`: the search at many messages, against plain FTS5 in the same run."""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, product
from pathlib import Path

import apsw

from bench.bars import Bar, bar_table
from bench.rounds import tell
from bench.sites import ROOT, SQLITE, temporary_folder
from threadline.core.address import Address, Kind, Sender
from threadline.core.person import Viewer
from threadline.core.settings import Settings
from threadline.database.sqlite import SqliteDatabase
from threadline.database.sqlite.connection import READER_CACHE_KIB
from threadline.store import Store
from threadline.store.search.index import index_some

MESSAGES = 2_000_000
QUICK_MESSAGES = 2_000
LINES = 20
"""Messages of a session."""
MEMBERS = 1_000
LENGTH = 200
WORDS = 60_000
ROUNDS = 3
OWNER_MOST, MEMBER_MOST = 2.0, 5.0
INDEX_BYTES_MOST = 450
"""What 900 bytes of a message leave for the index; the rest of the store takes about as much."""
_BULK = 2_000

_PLAIN = """
SELECT m.key, m.text, snippet(plain, 0, '[', ']', '…', 16) FROM plain
JOIN messages m ON m.key = plain.rowid
WHERE plain MATCH ? ORDER BY plain.rank LIMIT 50
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Milliseconds of one sort of question, by plain FTS5, for the owner, and for a member."""

    sort: str
    hits: int
    plain: float
    owner: float
    member: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that was measured."""

    messages: int
    index_bytes: float
    indexed_per_second: float
    slice_p99: float
    timed: Sequence[Timed]
    part: float
    """Milliseconds of a search for a part of words, by the owner."""


class Words:
    """Words as a language has them: some very often, most of them seldom."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        syllables = ["".join(pair) for pair in product("bcdfghjklmnprstvwz", "aeiou")]
        made: dict[str, None] = {}
        while len(made) < WORDS:
            length = self.random.choice((1, 1, 2, 2, 2, 3, 3, 4))
            made["".join(self.random.choices(syllables, k=length))] = None
            made[f"{len(made)}"] = None
        self.words = sorted(made, key=lambda word: len(word) + self.random.random() * 4)
        self._weights = list(accumulate(1 / (place + 3) for place in range(len(self.words))))

    def text(self) -> str:
        """Make a message of about two hundred characters."""
        said = self.random.choices(self.words, cum_weights=self._weights, k=LENGTH // 3)
        return " ".join(said)[:LENGTH]


def questions(words: Words, texts: Sequence[str]) -> dict[str, list[str]]:
    """Make some questions of each sort."""
    pick = words.words
    pairs = [text.split()[3:5] for text in texts]
    return {
        "a word in every third message": [pick[place] for place in (2, 4, 6)],
        "a common word": [pick[place] for place in (100, 150, 200)],
        "a rare word": [pick[place] for place in (20_000, 25_000, 30_000)],
        "two words": [f"{pick[place]} {pick[place * 9]}" for place in (40, 60, 80)],
        "a phrase": [f'"{one} {other}"' for one, other in pairs],
        "the beginning of a word": [f"{pick[place][:4]}*" for place in (3_000, 5_000, 7_000)],
    }


async def measure(folder: Path, messages: int) -> Report:
    """Fill two files with the same messages, and ask both of them the same."""
    words = Words()
    path, plain_path = folder / "store.db", folder / "plain.db"
    database = SqliteDatabase(path, durable=False)
    await database.open()
    messages -= messages % -_BULK
    tell(f"filling {messages:,} messages")
    samples = await asyncio.to_thread(_fill, path, plain_path, words, messages)
    before = _size(path)
    store = Store(database, Settings())
    try:
        tell("indexing")
        rate, p99 = await _index(store, messages)
        grown = _size(path) - before
        plain = _connected(plain_path)
        asked = questions(words, samples)
        timed = [await _time_sort(store, plain, sort, some) for sort, some in asked.items()]
        part = await _median(lambda: store.search(f"*{words.words[9_000][1:5]}*", asker=OWNER))
        plain.close()
    finally:
        await store.close()
    return Report(
        messages=messages,
        index_bytes=grown / messages,
        indexed_per_second=rate,
        slice_p99=p99,
        timed=timed,
        part=part,
    )


OWNER = Viewer.owner()
MEMBER = Viewer(address=Address(platform="telegram", kind=Kind.DM, chat="1"), sender=Sender(id="1"))


def _fill(path: Path, plain_path: Path, words: Words, messages: int) -> list[str]:
    """Write sessions of a thousand members; answer a few texts."""
    store, plain = _connected(path), _connected(plain_path)
    plain.execute("CREATE TABLE messages (key INTEGER PRIMARY KEY, text TEXT)")
    plain.execute(
        "CREATE VIRTUAL TABLE plain USING fts5 (text, content = messages, content_rowid = key)"
    )
    for member in range(1, MEMBERS + 1):
        place = (member, f"{member}")
        store.execute(
            "INSERT INTO addresses (key, platform, account, kind, chat, thread) "
            "VALUES (?, 'telegram', '', 'dm', ?, '')",
            place,
        )
        store.execute(
            "INSERT INTO senders (key, platform, id, first_seen_at) VALUES (?, 'telegram', ?, 0)",
            place,
        )
    texts: list[str] = []
    for first in range(0, messages, _BULK):
        with store, plain:
            rows = [(key, words.text()) for key in range(first + 1, first + _BULK + 1)]
            _write_sessions(store, rows)
            plain.executemany("INSERT INTO messages VALUES (?, ?)", rows)
            plain.executemany("INSERT INTO plain (rowid, text) VALUES (?, ?)", rows)
        texts = texts or [text for _, text in rows[:3]]
    store.close()
    plain.close()
    return texts


def _write_sessions(store: apsw.Connection, rows: Sequence[tuple[int, str]]) -> None:
    sessions = sorted({key // LINES for key, _ in rows})
    store.executemany(
        "INSERT OR IGNORE INTO sessions (key, id, profile, platform, kind, address_key, "
        "sender_key, cause, opened_at, last_activity_at, last_seq) "
        "VALUES (?, ?, 'main', 'telegram', 'dm', ?, ?, 'first', 0, ?, ?)",
        (
            (key + 1, f"s{key}", key % MEMBERS + 1, key % MEMBERS + 1, key, LINES)
            for key in sessions
        ),
    )
    store.executemany(
        "INSERT INTO messages (key, session_key, seq, role, text, at) VALUES (?, ?, ?, ?, ?, 0)",
        (
            (key, key // LINES + 1, key % LINES + 1, ("user", "assistant")[key % 2], text)
            for key, text in rows
        ),
    )


async def _index(store: Store, messages: int) -> tuple[float, float]:
    """Index everything; answer lines a second, and the 99th percentile of a slice in ms."""
    times: list[float] = []
    began = time.perf_counter()
    is_more = True
    while is_more:
        start = time.perf_counter()
        _, is_more = await store.database.write(index_some)
        times.append((time.perf_counter() - start) * 1000)
        if len(times) % 500 == 0:
            tell(f"indexing: {len(times) * 64:,} of {messages:,}")
    seconds = time.perf_counter() - began
    return messages / seconds, sorted(times)[int(len(times) * 0.99)]


async def _time_sort(
    store: Store, plain: apsw.Connection, sort: str, asked: Sequence[str]
) -> Timed:
    tell(f"asking for {sort}")
    times: dict[str, list[float]] = {"plain": [], "owner": [], "member": []}
    hits = 0
    for question in asked:
        ways = {
            "plain": lambda question=question: asyncio.to_thread(_ask_plain, plain, question),
            "owner": lambda question=question: store.search(question, asker=OWNER),
            "member": lambda question=question: store.search(question, asker=MEMBER),
        }
        (count,) = plain.execute(
            "SELECT count(*) FROM plain WHERE plain MATCH ?", (_fts(question),)
        ).fetchall()[0]
        hits += int(str(count))
        for name, way in ways.items():
            times[name].append(await _median(way))
    return Timed(
        sort=sort,
        hits=hits // len(asked),
        **{name: statistics.median(found) for name, found in times.items()},
    )


def _fts(question: str) -> str:
    return question if question[-1] in '*"' else " AND ".join(question.split())


def _ask_plain(plain: apsw.Connection, question: str) -> list[object]:
    return list(plain.execute(_PLAIN, (_fts(question),)))


async def _median(ask: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        await ask()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[1:])


def _connected(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(10_000)
    for pragma in ("journal_mode = wal", "synchronous = off", f"cache_size = -{READER_CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def _size(path: Path) -> int:
    connection = _connected(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    return path.stat().st_size


def judge(report: Report) -> Iterator[Bar]:
    """Hold the report against the bars."""
    at = f"{report.messages:,} messages"
    for who, most in (("owner", OWNER_MOST), ("member", MEMBER_MOST)):
        ratio, where = max((getattr(one, who) / one.plain, one.sort) for one in report.timed)
        yield Bar(
            bar=f"a search by {'the owner' if who == 'owner' else 'a member'}, against plain FTS5",
            database=SQLITE,
            wanted=f"≤ {most:.1f} ×",
            measured=f"{ratio:.2f} ×",
            where=f"{where}, {at}",
            ok=ratio <= most,
        )
    yield Bar(
        bar="bytes that the index adds to a message",
        database=SQLITE,
        wanted=f"≤ {INDEX_BYTES_MOST}",
        measured=f"{report.index_bytes:.0f}",
        where=f"{LENGTH} characters, {at}",
        ok=report.index_bytes <= INDEX_BYTES_MOST,
    )


def table(report: Report) -> str:
    """Show the report in Markdown."""
    lines = ["| question | hits | plain FTS5 | the owner | a member |", "|---|--:|--:|--:|--:|"]
    lines += [
        f"| {one.sort} | {one.hits:,} | {one.plain:.2f} ms | {one.owner:.2f} ms "
        f"| {one.member:.2f} ms |"
        for one in report.timed
    ]
    lines.append(f"| a part of a word | | | {report.part:.2f} ms | |")
    lines.append(
        f"\n{report.indexed_per_second:,.0f} messages indexed in a second, in slices of 64; "
        f"a slice takes at most {report.slice_p99:.1f} ms (99 %)."
    )
    return "\n".join(lines)


def run(messages: int, out: Path) -> list[Bar]:
    """Measure, show what was found, and write it down."""
    with temporary_folder() as folder:
        report = asyncio.run(measure(folder, messages))
    bars = list(judge(report))
    found = {**asdict(report), "bars": [asdict(bar) for bar in bars]}
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (out / "search.json").write_text(text + "\n", encoding="utf-8")
    print(f"\n{table(report)}\n\n{bar_table(bars)}")
    return bars


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; answer 1 only if a bar was missed and that was said to matter."""
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--strict", action="store_true", help="fail if a bar is missed")
    chosen = parser.parse_args(arguments)
    bars = run(chosen.messages, chosen.out)
    return 1 if chosen.strict and not all(bar.ok for bar in bars) else 0


if __name__ == "__main__":
    sys.exit(main())
