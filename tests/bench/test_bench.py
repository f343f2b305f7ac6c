"""The bench cannot rot: a tiny run of everything, and a floor that does as much as the store."""

import json
from pathlib import Path

import pytest

import threadline
from bench.__main__ import main, write
from bench.bars import judge
from bench.caller import Caller
from bench.filling import is_moment
from bench.floor import Floor
from bench.parts import Choice, Judged, read_judged, run, write_judged
from bench.results import (
    TITLES,
    VALUES,
    Measured,
    Results,
    Value,
    gather,
    read_results,
    write_results,
)
from bench.rounds import Pace, measure
from bench.sites import POSTGRES, SQLITE, bare_connection, open_site
from bench.template import OWN, make_template
from bench.timing import Sample, Summary, percentile, summarise
from threadline.database.port import SqlValue

FILLED = 4
TINY = Pace(rounds=1, seconds=0.02, opens=1, long_messages=200)
MADE_UP = {
    ("sessions", "id"),
    ("arrivals", "message_id"),
    ("messages", "platform_id"),
    ("turns", "owner"),
}
MADE_UP_FOR_NEW_PEOPLE = {
    ("addresses", "chat"),
    ("senders", "id"),
    ("arrivals", "chat"),
    ("bindings", "route"),
}


def rows_of(where: str, table: str) -> list[dict[str, SqlValue]]:
    """Read a table; of moments and names, which never repeat, only whether they are there."""
    bare = bare_connection(where)
    columns = [str(name) for (name,) in bare.ask(f"SELECT name FROM pragma_table_info('{table}')")]
    rows = bare.ask(f"SELECT * FROM {table} ORDER BY {OWN[table] or 'session_key'}")
    bare.close()
    return sorted((plain(table, dict(zip(columns, row, strict=True))) for row in rows), key=repr)


def plain(table: str, row: dict[str, SqlValue]) -> dict[str, SqlValue]:
    """Replace what is different each time by whether it is there."""
    session = row.get("session_key", row.get("key"))
    is_new = isinstance(session, int) and session > FILLED + 1
    return {
        column: value is not None
        if is_moment(column)
        or column == "lease_until"
        or (table, column) in MADE_UP
        or (is_new and (table, column) in MADE_UP_FOR_NEW_PEOPLE)
        else value
        for column, value in row.items()
    }


async def filled_store(folder: Path) -> str:
    """Fill a small store."""
    folder.mkdir()
    template = await make_template(folder)
    with open_site(SQLITE, folder) as site:
        await site.fill(template, FILLED, long_messages=TINY.long_messages)
        return site.where(FILLED)


async def test_the_floor_writes_the_rows_that_the_verbs_write(tmp_path: Path) -> None:
    """A turn, an arrival and a new person leave the same rows, whether by the store or bare."""
    ours, bare = await filled_store(tmp_path / "ours"), await filled_store(tmp_path / "bare")
    async with threadline.open(ours) as store:
        caller = Caller(store)
        await caller.turn(0)
        await caller.arrive(1)
        await caller.begin()
    floor = Floor(bare_connection(bare))
    floor.turn(0)
    floor.arrive(1)
    floor.begin()
    floor.close()

    for table in OWN:
        assert rows_of(bare, table) == rows_of(ours, table), table


async def test_a_filled_store_is_sound(tmp_path: Path) -> None:
    """Rows that were copied in bulk pass the deepest check, and conversations go on in them."""
    where = await filled_store(tmp_path / "filled")

    async with threadline.open(where) as store:
        assert await store.check(deep=True) == []
        page = await store.sessions.list()
        assert [row.session.last_seq for row in page.rows].count(21) == FILLED
        caller = Caller(store)
        await caller.turn(FILLED - 1)
        latest = (await store.sessions.list(most=1)).rows[0].session
        seqs = [message.seq for message in await store.transcripts.read(latest.id)]
        assert seqs == list(range(1, 24))


def test_a_tiny_run_writes_everything(tmp_path: Path) -> None:
    """One run leaves numbers for all measurements, a page with a row for each, and plots."""
    databases = [SQLITE, POSTGRES]
    results = gather(measure(databases, [8], TINY), 1.0, TINY.long_messages)
    write_results(results, tmp_path / "out")
    judged = {"store": Judged(at="2026-01-31", bars=judge(results))}
    write(judged, tmp_path / "out", tmp_path / "docs")

    assert read_results(tmp_path / "out") == results
    found = json.loads((tmp_path / "out" / "store.json").read_text(encoding="utf-8"))
    for one, names in (("measured", TITLES), ("values", VALUES)):
        seen = {(row["database"], row["name"]) for row in found[one]}
        assert seen == {(database, name) for database in databases for name in names}
    assert all(one["ours"]["p99"] >= one["ours"]["p50"] > 0 for one in found["measured"])
    page = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert all(title in page for title in TITLES.values())
    images = list((tmp_path / "docs" / "images").iterdir())
    assert len(images) == 2 * len(databases)
    for image in images:
        assert f"images/{image.name}" in page
        assert image.stat().st_size < 100_000


def made_up(database: str, factor: float) -> Results:
    """Make results in which the larger store is slower by a factor."""

    def summary(time: float, rate: float) -> Summary:
        sample = Sample(times=[time] * 10, seconds=10 / rate, stall=time)
        return summarise([sample])

    measured = [
        Measured(
            database=database,
            sessions=sessions,
            name=name,
            ours=summary(slowness, 250.0 if name == "turn_64" else 100.0),
            floor=None if name == "turn_64" else summary(0.5, 150.0),
        )
        for sessions, slowness in ((1_000, 1.0), (100_000, factor))
        for name in TITLES
    ]
    values = [
        Value(database=database, sessions=sessions, name=name, unit="MB", ours=ours, floor=None)
        for sessions, ours in ((1_000, 40.0), (100_000, 40.0 + factor))
        for name in VALUES
    ]
    return Results(
        at="2026-01-01",
        machine={},
        versions={},
        seconds=1.0,
        idle_stall=0.1,
        long_messages=200,
        measured=measured,
        values=values,
    )


@pytest.mark.parametrize(
    ("factor", "missed"),
    [(1.2, 0), (1.4, 1), (1.6, 2), (3.5, 3), (22.0, 4), (30.0, 5), (60.0, 5)],
)
def test_bars_are_missed_one_after_the_other(factor: float, missed: int) -> None:
    """The slower the larger store, the more bars are missed: p50, floor, p99, stall, memory."""
    assert sum(not bar.ok for bar in judge(made_up(SQLITE, factor))) == missed


def test_postgres_may_stall_longer() -> None:
    """On PostgreSQL the loop may stand still for 50 ms; many callers are held to our own one."""
    bars = {bar.bar: bar for bar in judge(made_up(POSTGRES, 22.0))}

    assert bars["the longest stall of the event loop"].ok
    assert bars["throughput of 64 callers, against our own one caller"].measured == "2.50 ×"


def test_percentiles_count_from_below() -> None:
    """Of a hundred times the p99 is the hundredth, and of one it is that one."""
    assert percentile([float(n) for n in range(1, 101)], 0.99) == 100.0
    assert percentile([7.0], 0.5) == 7.0


def test_what_is_not_measured_again_is_kept(tmp_path: Path) -> None:
    """A run of one part leaves the bars of the others as they were, with their days."""
    earlier = {"store": Judged(at="2026-01-31", bars=judge(made_up(SQLITE, 1.2)))}
    write_judged(earlier, tmp_path)

    judged = run(Choice(databases=[], sizes=[], out=tmp_path), ["browser", "feed"])

    assert list(judged) == ["store", "feed", "browser"]
    assert judged["store"] == read_judged(tmp_path)["store"] == earlier["store"]
    assert judged["feed"].bars == []


@pytest.mark.parametrize(
    "arguments", [["--databases", "oracle"], ["--sizes", "1"], ["--parts", "luck"]]
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown database or a store without sessions ends with a sentence, before any work."""
    with pytest.raises(SystemExit):
        main(arguments)

    assert "argument --" in capsys.readouterr().err
