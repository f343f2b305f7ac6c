"""The bench of the API cannot rot: a quick run of all of it, and bars that can be missed."""

import json
from pathlib import Path

from bench.api import AGAINST_QUERY, AGAINST_SMALL, PAGES, QUICK_SIZES, Found, judge, run
from bench.sites import SQLITE


def test_a_quick_run_measures_both_pages(tmp_path: Path) -> None:
    """Each page is measured in each store, beside its query and the store's reading of it."""
    bars = run(tmp_path, [SQLITE], quick=True)

    found = json.loads((tmp_path / "api.json").read_text(encoding="utf-8"))
    assert [(one["size"], one["page"]) for one in found] == [
        (size, page) for size in QUICK_SIZES for page in PAGES
    ]
    assert all(one["query"] > 0 and 0 < one["read"] < one["answer"] * 3 for one in found)
    assert len(bars) == 3 * len(PAGES)


def test_each_bar_of_a_page_can_be_missed() -> None:
    """A page is held against its query, and in the large store against the small one."""

    def missed(answer: float) -> list[bool]:
        small = Found(database=SQLITE, size=1, page="sidebar", query=1.0, read=1.0, answer=2.0)
        large = Found(database=SQLITE, size=2, page="sidebar", query=1.0, read=1.0, answer=answer)
        return [not bar.ok for bar in judge([small, large])]

    assert missed(2.0) == [False, False, False]
    assert missed(2.1 * AGAINST_SMALL) == [False, False, True]
    assert missed(AGAINST_QUERY + 0.1) == [False, True, True]
