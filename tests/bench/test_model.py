"""The bench of turns with a model cannot rot: a quick run of all of it, and bars."""

import json
from pathlib import Path

from bench.model import OVERHEAD_MS, TURNS, Found, judge, run


def test_a_quick_run_measures_turns_and_calls(tmp_path: Path) -> None:
    """Every turn has a bare call beside it, and every message on the platform is answered."""
    bars = run(tmp_path, quick=True)

    found = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert len(found["turns"]) == len(found["calls"]) == 2 * TURNS
    assert len(found["shown"]) == 5
    assert min(found["turns"] + found["calls"] + found["shown"]) > 0
    assert [bar.database for bar in bars] == ["sqlite", "sqlite"]


def test_the_bar_of_a_turn_can_be_missed() -> None:
    """What a turn adds to its call is held against the bar, at the median of each."""

    def missed(turns: list[float]) -> bool:
        return not judge(Found(turns=turns, calls=[1.0, 2.0, 9.0], shown=[1.0]))[0].ok

    assert not missed([2.0, 2.0 + OVERHEAD_MS, 90.0])
    assert missed([2.0, 2.1 + OVERHEAD_MS, 90.0])
