"""The bench of the gateway cannot rot: a tiny run of everything, and bars that can be missed."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.crowd import Crowd
from bench.gateway import Load, Served, judge, run, served_table
from bench.sites import SQLITE
from tests.databases import FAST, on
from threadline.core.platform import Outgoing
from threadline.store import Store

TINY = Load(people=3, messages=2, interrupted=3, streams=3, seconds=2.5, sessions=4)


def test_a_tiny_gateway_serves_in_every_way(tmp_path: Path) -> None:
    """Everybody is answered in order, also after a kill, and every piece is heard."""
    (served,) = run(tmp_path, [SQLITE], load=TINY)

    wanted = {bar.bar: bar.measured for bar in judge(served) if bar.wanted == "≤ 0"}
    assert list(wanted.values()) == ["0", "0", "0"]
    assert served.streamed["together"] == TINY.streams
    assert (tmp_path / "gateway.json").stat().st_size > 0
    assert len(served_table([served]).splitlines()) == 13


def made_up() -> Served:
    """Make results that reach every bar."""
    lag = {"lag_p99": 1.0, "lag": 49.0, "late": 90.0}
    return Served(
        database=SQLITE,
        load=TINY,
        carried={"lost": 0, "misfits": 0, "memory": [60.0, 64.0, 69.0], **lag},
        resumed={"misfits": 0, **lag},
        streamed={"lost": 0, **lag},
    )


@pytest.mark.parametrize(
    ("way", "name", "value"),
    [
        ("carried", "lost", 1),
        ("carried", "misfits", 1),
        ("carried", "memory", [60.0, 64.0, 71.0]),
        ("carried", "lag", 51.0),
        ("resumed", "misfits", 1),
        ("resumed", "lag", 51.0),
        ("streamed", "lost", 1),
        ("streamed", "lag", 51.0),
    ],
)
def test_each_bar_of_the_gateway_can_be_missed(
    way: str, name: str, value: float | list[float]
) -> None:
    """One number that is too high is one bar that is missed."""
    served = made_up()
    assert all(bar.ok for bar in judge(served))

    worse = replace(served, **{way: {**getattr(served, way), name: value}})  # type: ignore[arg-type]

    assert sum(not bar.ok for bar in judge(worse)) == 1


@on(FAST)
async def test_the_crowd_notices_a_wrong_answer(store: Store) -> None:
    """An answer that comes twice or too early is counted, and half an answer is none yet."""
    crowd = Crowd(1, 3)
    address = crowd.person("p0").dm

    async def show(note: int, count: int) -> None:
        text = f"You said “note {note}”. That is message {count} of our conversation."
        await crowd.send(Outgoing(address=address, text=text, key=text), store.attachments.read)

    await crowd.send(Outgoing(address=address, text="You said", key="0"), store.attachments.read)
    assert (crowd.answers, crowd.misfits) == (0, 0)
    await show(1, 1)
    assert (crowd.answers, crowd.misfits) == (1, 0)
    await show(1, 1)
    assert (crowd.answers, crowd.misfits) == (2, 1)
    await show(2, 2)
    assert (crowd.answers, crowd.misfits) == (3, 2)


async def test_the_crowd_takes_edits_of_what_another_process_showed() -> None:
    """A message that is not here can read differently all the same."""
    crowd = Crowd(1, 1, ahead=0)
    address = crowd.person("p0").dm

    await crowd.edit(address, "77", "You said “note 1”. That is message 1 of our conversation.")

    assert (crowd.answers, crowd.misfits) == (1, 0)
