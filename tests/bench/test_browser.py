"""The bench of the web app cannot rot: a tiny run of all of it, and bars that can be missed."""

import json
from dataclasses import replace
from pathlib import Path

from bench.browser import PAINT_MS, STREAM_MB, Felt, Load, judge, run


def test_a_tiny_crowd_is_felt(tmp_path: Path) -> None:
    """Every number of a run is told."""
    bars = run(tmp_path, Load(sessions=50, rounds=1, lines=40))

    found = json.loads((tmp_path / "browser.json").read_text(encoding="utf-8"))
    assert found["interactions"] > 0
    assert found["paint_ms"] > 0
    assert found["opened_ms"] > 0
    assert len(bars) == 2


def test_bars_can_be_missed() -> None:
    """A bar is reached up to its number, and missed beyond it."""
    felt = Felt(
        sessions=1,
        interactions=1,
        paint_ms=PAINT_MS,
        opened_ms=1.0,
        streamed_seconds=1.0,
        stream_mb=STREAM_MB,
    )

    assert [bar.ok for bar in judge(felt)] == [True, True]
    slow = replace(felt, paint_ms=PAINT_MS + 1, stream_mb=STREAM_MB + 1)
    assert [bar.ok for bar in judge(slow)] == [False, False]
