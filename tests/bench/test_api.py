"""The bench of the API cannot rot: a tiny run of all of it, and bars that can be missed."""

import json
from dataclasses import replace
from pathlib import Path

from bench.api import (
    AGAINST_FLOOR,
    AGAINST_SMALL,
    MINIMAP_MS,
    PAGES,
    WAYS,
    Found,
    Load,
    judge,
    run,
)
from bench.sites import POSTGRES, SQLITE

TINY = Load(sizes=(8, 16), long_messages=200, seconds=0.01, rounds=1)


def test_a_tiny_run_measures_every_page_in_every_way(tmp_path: Path) -> None:
    """Each page is measured in each store of both databases, beside the queries it is made of."""
    bars = run(tmp_path, [SQLITE, POSTGRES], TINY)

    found = json.loads((tmp_path / "api.json").read_text(encoding="utf-8"))
    assert [(one["database"], one["size"], one["page"]) for one in found] == [
        (database, size, page)
        for database in (SQLITE, POSTGRES)
        for size in TINY.sizes
        for page in PAGES
    ]
    assert all(one[way] > 0 for one in found for way in WAYS)
    assert len(bars) == 2 * (3 * len(PAGES) + 1)


def test_each_bar_of_a_page_can_be_missed() -> None:
    """A page is held against its queries in both ways, and against itself in the small store."""
    small = Found(
        database=SQLITE,
        size=1,
        page="sidebar",
        query=1.0,
        thread=1.0,
        read=1.0,
        route=1.0,
        answer=1.0,
    )

    def missed(large: Found) -> list[bool]:
        return [not bar.ok for bar in judge([small, replace(large, size=2)])]

    assert missed(small) == [False, False, False]
    assert missed(replace(small, read=AGAINST_FLOOR + 0.1)) == [True, False, False]
    assert missed(replace(small, answer=AGAINST_FLOOR + 0.1)) == [False, True, True]
    assert missed(replace(small, answer=AGAINST_SMALL + 0.1)) == [False, False, True]
    slow = replace(small, page="minimap", route=MINIMAP_MS, answer=MINIMAP_MS + 1)
    assert [bar.ok for bar in judge([slow])] == [True, True, True, False]
