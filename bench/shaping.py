"""`python -m bench.shaping`: branching and undoing, in a short and in a very long session."""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import threadline
from bench.bars import Bar, bar_table
from bench.rounds import tell
from bench.script import ANSWER, QUESTION, new_name, spoken
from bench.sites import POSTGRES, ROOT, SQLITE, open_site, temporary_folder
from bench.template import make_template
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.search.search import index_all

SHORT, LONG = 100, 100_000
QUICK_LONG = 1_000
MOST = 2.0
_ROUNDS = 40
_PIECE = 1_000


async def measure(store: Store, database: str, long: int) -> list[Bar]:
    """Time each way to change a transcript in both sessions, turn by turn."""
    short_id, long_id = await _session(store, SHORT), await _session(store, long)
    await index_all(store.database)
    operations: dict[str, Callable[[SessionId, int], Awaitable[object]]] = {
        "branch at the end": lambda id, _: store.transcripts.branch(id),
        "branch in the middle": lambda id, length: store.transcripts.branch(id, at=length // 2),
        "undo and redo": lambda id, _: _there_and_back(store, id),
    }
    bars = []
    for name, operation in operations.items():
        tell(f"{database}: {name}")
        times: dict[SessionId, list[float]] = {short_id: [], long_id: []}
        for _ in range(_ROUNDS):
            for id, length in ((short_id, SHORT), (long_id, long)):
                begin = time.perf_counter()
                await operation(id, length)
                times[id].append((time.perf_counter() - begin) * 1000)
        short_ms, long_ms = (statistics.median(times[id]) for id in (short_id, long_id))
        bars.append(
            Bar(
                bar=f"{name}: {long:,} lines against {SHORT}",
                database=database,
                wanted=f"≤ {MOST:.1f} ×",
                measured=f"{long_ms / short_ms:.2f} ×",
                where=f"{long_ms:.2f} against {short_ms:.2f} ms",
                ok=long_ms <= MOST * short_ms,
            )
        )
    tell("")
    return bars


async def _session(store: Store, lines: int) -> SessionId:
    name = new_name()
    arrival = await store.receive(spoken(name, name, name))
    if arrival.session_id is None or arrival.turn_id is None:
        raise ValueError("There is no session")
    await store.turns.stop(arrival.turn_id)
    pair = [say(Role.USER, QUESTION), say(Role.ASSISTANT, ANSWER)]
    for _ in range(0, lines, _PIECE):
        await store.transcripts.record(arrival.session_id, pair * (min(lines, _PIECE) // 2))
    return arrival.session_id


async def _there_and_back(store: Store, id: SessionId) -> None:
    await store.transcripts.undo(id)
    await store.transcripts.redo(id)


def run(out: Path, databases: Sequence[str], *, quick: bool = False) -> list[Bar]:
    """Measure on these databases, write what was found, and answer the bars."""

    async def measured() -> list[Bar]:
        bars = []
        with temporary_folder() as folder:
            template = await make_template(folder)
            for name in databases:
                with open_site(name, folder) as site:
                    await site.fill(template, SHORT, long_messages=SHORT)
                    async with threadline.open(site.where(SHORT)) as store:
                        bars += await measure(store, name, QUICK_LONG if quick else LONG)
        return bars

    bars = asyncio.run(measured())
    found = [{"bar": bar.bar, "database": bar.database, "where": bar.where} for bar in bars]
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (out / "shaping.json").write_text(text + "\n", encoding="utf-8")
    print(bar_table(bars))
    return bars


if __name__ == "__main__":
    run(ROOT / "bench" / "results", [SQLITE, POSTGRES], quick="--quick" in sys.argv)
