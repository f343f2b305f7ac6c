"""The bench of the feed cannot rot: a tiny run of all of it, and bars that can be missed."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.feed import GROWTH_MB, IDLE_KB, LAG_MS, Busy, Ear, Followed, Idle, Load, judge, run

TINY = Load(followers=5, turns=10, idle=12)


def test_a_tiny_audience_hears_everything(tmp_path: Path) -> None:
    """Everybody is told each event once, whether they hear much or wait for one thing."""
    bars = run(tmp_path, TINY)

    found = json.loads((tmp_path / "feed.json").read_text(encoding="utf-8"))
    assert found["busy"]["events"] == 6 * TINY.turns
    assert 0 < found["busy"]["lag_p50"] <= found["busy"]["lag_p99"] <= found["busy"]["lag"]
    assert found["busy"]["cpu"] > 0
    assert found["idle"]["lag_p99"] > 0
    assert [bar.measured for bar in bars if bar.wanted == "≤ 0"] == ["0", "0"]


def made_up() -> Followed:
    """Make results that reach every bar."""
    busy = Busy(
        seconds=9.0,
        cpu=5.0,
        events=60,
        lag_p50=100.0,
        lag_p99=LAG_MS,
        lag=2 * LAG_MS,
        missed=0,
        reloads=0,
        loop_p99=10.0,
        before=100.0,
        after=100.0 + GROWTH_MB,
    )
    return Followed(load=TINY, busy=busy, idle=Idle(each=IDLE_KB, lag_p99=LAG_MS, missed=0))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("busy", "lag_p99", LAG_MS + 1),
        ("busy", "missed", 1),
        ("busy", "reloads", 1),
        ("busy", "after", 101.0 + GROWTH_MB),
        ("idle", "lag_p99", LAG_MS + 1),
        ("idle", "missed", 1),
        ("idle", "each", IDLE_KB + 1),
    ],
)
def test_each_bar_of_the_feed_can_be_missed(part: str, name: str, value: float) -> None:
    """One number that is too high is one bar that is missed."""
    found = made_up()
    assert all(bar.ok for bar in judge(found))

    worse = replace(found, **{part: replace(getattr(found, part), **{name: value})})

    assert sum(not bar.ok for bar in judge(worse)) == 1


async def test_an_ear_counts_what_comes_in_any_pieces() -> None:
    """An event counts once wherever it is cut, and how late it is counts from its own moment."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    event = f'event: event\nid: 0.1\ndata: {{"kind":"turn.done","at":"{at}"}}\n\n'.encode()
    told = b"event: snapshot\n\n" + event + event + b"event: reload\n\n"

    for size in (7, 40, len(told)):
        ear = Ear(b"")
        for begin in range(0, len(told), size):
            ear.data_received(told[begin : begin + size])
        assert ear.has_begun.done()
        assert (ear.events, ear.reloads) == (2, 1), size
        assert all(0 <= lag < 60_000 for lag in ear.lags)


async def test_an_ear_that_is_not_answered_fails() -> None:
    """Nobody waits for somebody who cannot follow."""
    ear = Ear(b"")
    ear.connection_lost(None)

    with pytest.raises(ConnectionError):
        await ear.has_begun
