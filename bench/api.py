"""`python -m bench.api`: pages of the API against the queries that they are made of.

The first page of the sidebar and the last page of a very long transcript are asked for as a
program does, in this process and without a socket: from the request to the last byte of JSON. Next
to each stands the bare query, run by the driver alone, and the same page as the store reads it.
"""

import asyncio
import json
import statistics
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

import threadline
from bench.bars import Bar, bar_table
from bench.caller import Caller
from bench.glance import Glance
from bench.rounds import tell
from bench.script import LONG_MESSAGES
from bench.sites import POSTGRES, ROOT, SQLITE, bare_connection, open_site, temporary_folder
from bench.template import make_template
from bench.timing import time_calls, time_floor
from threadline.agents.echo import Echo
from threadline.config import Config
from threadline.core.account import TokenScope
from threadline.gateway.gateway import Gateway
from threadline.sessions.store import Store
from threadline.web.api.app import make_api
from threadline.web.guard import Guard
from threadline.web.visiting import TOKEN_PREFIX, hash_secret, new_secret

SIZES = (1_000, 100_000)
QUICK_SIZES = (100, 1_000)
QUICK_LONG = 2_000
AGAINST_QUERY = 3.0
AGAINST_SMALL = 1.3
PAGES = {"sidebar": "first page of the sidebar", "transcript": "last page of a long transcript"}
ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How long one page takes, in milliseconds at the median."""

    database: str
    size: int
    page: str
    query: float
    """The query alone."""
    read: float
    """The store's reading of the same page."""
    answer: float
    """The whole request."""


class Program:
    """Asks the API for pages, with a token."""

    def __init__(self, client: httpx.AsyncClient, caller: Caller) -> None:
        self._client = client
        self._caller = caller

    async def sidebar(self) -> None:
        """Read the first page of the sidebar."""
        await self._read("/api/sessions")

    async def transcript(self) -> None:
        """Read the last page of the long transcript."""
        await self._read(f"/api/sessions/{self._caller.long_id}/messages")

    async def _read(self, path: str) -> None:
        answer = await self._client.get(path)
        if answer.status_code != 200 or len(answer.json()["items"]) != 50:
            raise ValueError(f"The page is not there: {answer.status_code}")


@asynccontextmanager
async def _serve(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a store in this process, without the limits that a program would meet."""
    secret, owner = new_secret(TOKEN_PREFIX), await store.owner_account()
    await store.make_token(owner.key, "bench", [TokenScope.READ], hash_secret(secret))
    api = make_api(Gateway(store, Echo(), []), store, Config())
    app = Starlette(routes=[Mount("/api", app=api)], middleware=[Middleware(Guard)])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app),
        base_url="http://localhost",
        headers={"Authorization": f"Bearer {secret}"},
        trust_env=False,
    ) as client:
        yield client
    api.state.feed.close()


async def measure(
    where: str, database: str, size: int, *, seconds: float, rounds: int = ROUNDS
) -> list[Found]:
    """Time both pages in turn with their queries, round by round."""
    bare = bare_connection(where)
    glance = Glance(bare)
    async with threadline.open(where) as store, _serve(store) as client:
        caller = Caller(store)
        await caller.find_long(size)
        program = Program(client, caller)
        ways = {
            "sidebar": (lambda _: glance.sessions(), caller.sessions, program.sidebar),
            "transcript": (
                lambda _: glance.transcript(size + 1),
                caller.transcript,
                program.transcript,
            ),
        }
        times: dict[str, list[tuple[float, ...]]] = {page: [] for page in ways}
        for _ in range(rounds):
            for page, (query, read, answer) in ways.items():
                halves = [statistics.median(time_floor(query, size, seconds).times)]
                for way in (read, answer):
                    sample = await time_calls(lambda _, way=way: way(), size, seconds)  # type: ignore[misc]
                    halves.append(statistics.median(sample.times))
                times[page].append(tuple(halves))
    bare.close()
    return [_found(database, size, page, halves) for page, halves in times.items()]


def _found(database: str, size: int, page: str, rounds: Sequence[tuple[float, ...]]) -> Found:
    query, read, answer = (statistics.median(one) for one in zip(*rounds, strict=True))
    return Found(database=database, size=size, page=page, query=query, read=read, answer=answer)


def judge(found: Sequence[Found]) -> list[Bar]:
    """Hold what was found against the bars: its query, and itself in a small store."""
    bars = []
    for large in found:
        bars.append(_bar(large, "its query", large.query, AGAINST_QUERY))
        small = min(
            (one for one in found if (one.database, one.page) == (large.database, large.page)),
            key=lambda one: one.size,
        )
        if small.size < large.size:
            beside = f"itself at {small.size:,}"
            bars.append(_bar(large, beside, small.answer, AGAINST_SMALL))
    return bars


def _bar(found: Found, beside: str, other: float, most: float) -> Bar:
    return Bar(
        bar=f"{PAGES[found.page]} over the API, against {beside}",
        database=found.database,
        wanted=f"≤ {most:.1f} ×",
        measured=f"{found.answer / other:.2f} ×",
        where=(
            f"{found.size:,} sessions: query {found.query:.2f}, store {found.read:.2f}, "
            f"answer {found.answer:.2f} ms"
        ),
        ok=found.answer <= most * other,
    )


def run(out: Path, databases: Sequence[str], *, quick: bool = False) -> list[Bar]:
    """Measure on these databases, write what was found, and answer the bars."""

    async def measured() -> list[Found]:
        found = []
        with temporary_folder() as folder:
            template = await make_template(folder)
            for name in databases:
                with open_site(name, folder) as site:
                    for size in QUICK_SIZES if quick else SIZES:
                        tell(f"{name}: pages of the API, {size:,} sessions")
                        long = QUICK_LONG if quick else LONG_MESSAGES
                        await site.fill(template, size, long_messages=long)
                        where = site.where(size)
                        if quick:
                            found += await measure(where, name, size, seconds=0.1, rounds=1)
                        else:
                            found += await measure(where, name, size, seconds=1.5)
        tell("")
        return found

    found = asyncio.run(measured())
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False)
    (out / "api.json").write_text(text + "\n", encoding="utf-8")
    return judge(found)


if __name__ == "__main__":
    chosen = [SQLITE, POSTGRES]
    print(bar_table(run(ROOT / "bench" / "results", chosen, quick="--quick" in sys.argv)))
