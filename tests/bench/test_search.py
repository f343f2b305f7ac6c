"""The bench of the search cannot rot: a tiny run of all of it."""

import json
from pathlib import Path

import pytest

from bench.search import MEMBER_MOST, OWNER_MOST, Report, Timed, judge, main


def test_a_tiny_run_measures_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every sort of question is asked in all three ways, and written down with its bars."""
    assert main(["--messages", "1999", "--out", str(tmp_path)]) == 0

    found = json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))
    assert found["messages"] == 2000
    assert len(found["timed"]) == 6
    assert all(
        one["plain"] > 0 and one["owner"] > 0 and one["member"] > 0 for one in found["timed"]
    )
    assert sum(one["hits"] for one in found["timed"]) > 0
    assert found["index_bytes"] > 0
    assert "against plain FTS5" in capsys.readouterr().out


def test_a_missed_bar_is_told() -> None:
    """The worst sort of question decides, for the owner, for a member, and for the room."""

    def bars(owner: float, member: float, room: float) -> list[bool]:
        timed = [
            Timed(sort="a", hits=1, plain=1.0, owner=1.0, member=1.0),
            Timed(sort="b", hits=1, plain=1.0, owner=owner, member=member),
        ]
        report = Report(
            messages=1, index_bytes=room, indexed_per_second=1, slice_p99=1, timed=timed, part=1
        )
        return [bar.ok for bar in judge(report)]

    assert bars(OWNER_MOST, MEMBER_MOST, 300) == [True, True, True]
    assert bars(OWNER_MOST + 1, MEMBER_MOST + 1, 600) == [False, False, False]
