"""`python -m bench.api`: pages of the API against the queries that they are made of.

The floor is what every program has to do that reads a page: the very queries that the page is made
of, every row fetched by the driver alone. The store is held against them in a thread, which no
program with an event loop can do without; the answer over HTTP against a route that asks them in a
thread and gives their rows as JSON, by the same server and over the same kind of connection. What
answers is the application as it is served, with everything that stands before the API.
"""

import asyncio
import json
import statistics
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import threadline
from bench.bare import Bare
from bench.bars import Bar, bar_table
from bench.caller import Caller
from bench.glance import Asked, overhear
from bench.line import Line, open_line
from bench.rounds import tell
from bench.script import LONG_MESSAGES
from bench.sites import POSTGRES, ROOT, SQLITE, bare_connection, open_site, temporary_folder
from bench.template import make_template
from bench.timing import time_calls, time_floor
from threadline.agents.echo import Echo
from threadline.config import Config
from threadline.core.account import TokenScope
from threadline.core.minimap import BUCKETS
from threadline.core.session import SessionId
from threadline.core.session_list import SessionFilter
from threadline.database.port import Transaction
from threadline.gateway.garbage_collector import settle_heap
from threadline.gateway.gateway import Gateway
from threadline.store import Store
from threadline.store.queries import transcript
from threadline.store.sessions.session_list import list_sessions
from threadline.store.transcripts.minimap import minimap
from threadline.web.app import WebApp
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.server import make_app, serve

AGAINST_FLOOR = 3.0
AGAINST_SMALL = 1.3
MINIMAP_MS = 40.0
PAGES = {
    "sidebar": "first page of the sidebar",
    "transcript": "last page of a long transcript",
    "middle": "a page in its middle",
    "minimap": "its minimap",
}
WAYS = ("query", "thread", "read", "route", "answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How large the stores are, and for how long each page is asked for in each way.

    Many short rounds, so that all ways meet alike what the machine does besides.
    """

    sizes: Sequence[int] = (1_000, 100_000)
    long_messages: int = LONG_MESSAGES
    seconds: float = 0.2
    rounds: int = 9


QUICK = Load(sizes=(100, 1_000), long_messages=2_000, seconds=0.1, rounds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How long one page takes, in milliseconds at the median."""

    database: str
    size: int
    page: str
    query: float
    """The queries alone, by the driver."""
    thread: float
    """The same in a thread, for somebody who awaits them."""
    read: float
    """The store's reading of the same page."""
    route: float
    """The queries in a thread behind a bare route, their rows as JSON over HTTP."""
    answer: float
    """The answer of the API over HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What is asked in each way for each page."""

    bare: Bare
    asked: Mapping[str, Asked]
    reads: Mapping[str, Callable[[], Awaitable[object]]]
    paths: Mapping[str, str]

    def look(self, page: str) -> list[list[tuple[object, ...]]]:
        """Ask the queries of a page, by the driver alone."""
        return [list(self.bare.look(query, values)) for query, values in self.asked[page]]

    def routes(self) -> list[Route]:
        """Answer a bare route for each page."""

        async def show(request: Request) -> Response:
            rows = await asyncio.to_thread(self.look, request.path_params["page"])
            return Response(json.dumps(rows), media_type="application/json")

        return [Route("/{page}", show)]


async def _open_desk(where: str, store: Store, size: int) -> Desk:
    caller = Caller(store)
    await caller.find_long(size)
    id = caller.long_id or SessionId("")
    half = (await store.sessions.get(id)).last_seq // 2
    verbs: dict[str, Callable[[Transaction], object]] = {
        "sidebar": lambda tx: list_sessions(tx, SessionFilter(), profile="main"),
        "transcript": lambda tx: transcript(tx, id),
        "middle": lambda tx: transcript(tx, id, before=half),
        "minimap": lambda tx: minimap(tx, id, BUCKETS),
    }
    reads: dict[str, Callable[[], Awaitable[object]]] = {
        "sidebar": store.sessions,
        "transcript": partial(store.transcripts.read, id),
        "middle": partial(store.transcripts.read, id, before=half),
        "minimap": partial(store.minimap, id),
    }
    paths = {
        "sidebar": "/api/sessions",
        "transcript": f"/api/sessions/{id}/messages",
        "middle": f"/api/sessions/{id}/messages?before={half}",
        "minimap": f"/api/sessions/{id}/minimap",
    }
    asked = await overhear(where, verbs)
    return Desk(bare=bare_connection(where), asked=asked, reads=reads, paths=paths)


@asynccontextmanager
async def _serve(store: Store, desk: Desk) -> AsyncIterator[tuple[str, str]]:
    """Serve all that is served, and a bare application; gives where each is."""
    gateway = Gateway(store, Echo(), [])
    site = WebApp(gateway, store, Config())
    app, plain = make_app(gateway, site=site), Starlette(routes=desk.routes())
    async with serve(app, "127.0.0.1", 0) as ours, serve(plain, "127.0.0.1", 0) as bare:
        yield ours, bare
        site.close()


async def _make_token(store: Store) -> str:
    """Make somebody who has not asked for anything yet: nobody may ask as often as we do."""
    secret, owner = new_secret(TOKEN_PREFIX), await store.owner_account()
    await store.make_token(owner.key, "bench", [TokenScope.READ], hash_secret(secret))
    return secret


async def measure(where: str, database: str, size: int, load: Load) -> list[Found]:
    """Time every way to each page in turn, round by round."""
    async with threadline.open(where) as store:
        desk = await _open_desk(where, store, size)
        async with _serve(store, desk) as (ours, bare):
            settle_heap()  # as `threadline serve` does
            times: dict[str, list[tuple[float, ...]]] = {page: [] for page in PAGES}
            for _ in range(load.rounds):
                for page, found in times.items():
                    token = await _make_token(store)
                    # A server lets go of a line that is silent for long, so each block has its own.
                    async with open_line(ours, token) as api, open_line(bare, token) as plain:
                        timed = await _time_page(
                            desk, page, api, plain, size=size, seconds=load.seconds
                        )
                        found.append(timed)
        desk.bare.close()
    return [_found(database, size, page, found) for page, found in times.items()]


async def _time_page(
    desk: Desk, page: str, api: Line, plain: Line, *, size: int, seconds: float
) -> tuple[float, ...]:
    ways: list[Callable[[int], Awaitable[object]]] = [
        lambda _: asyncio.to_thread(desk.look, page),
        lambda _: desk.reads[page](),
        lambda _: plain.get(f"/{page}"),
        lambda _: api.get(desk.paths[page]),
    ]
    query = time_floor(lambda _: desk.look(page), size, seconds)
    timed = [query, *[await time_calls(way, size, seconds) for way in ways]]
    return tuple(statistics.median(one.times) for one in timed)


def _found(database: str, size: int, page: str, rounds: Sequence[tuple[float, ...]]) -> Found:
    middle = (statistics.median(one) for one in zip(*rounds, strict=True))
    return Found(database=database, size=size, page=page, **dict(zip(WAYS, middle, strict=True)))


def judge(found: Sequence[Found]) -> list[Bar]:
    """Hold what was found against the bars: its queries, and itself in a small store."""
    bars = []
    for database, page in dict.fromkeys((one.database, one.page) for one in found):
        ours = [one for one in found if (one.database, one.page) == (database, page)]
        read = max(ours, key=lambda one: one.read / one.thread)
        answer = max(ours, key=lambda one: one.answer / one.route)
        small, large = min(ours, key=lambda one: one.size), max(ours, key=lambda one: one.size)
        bars += [
            _bar(read, "by the store, against its queries", read.read / read.thread, AGAINST_FLOOR),
            _bar(
                answer,
                "over HTTP, against a bare route",
                answer.answer / answer.route,
                AGAINST_FLOOR,
            ),
            _bar(
                large,
                f"over HTTP, against itself at {small.size:,}",
                large.answer / small.answer,
                AGAINST_SMALL,
            ),
        ]
        if page == "minimap":
            bars.append(_slowest(max(ours, key=lambda one: one.answer)))
    return bars


def _bar(found: Found, what: str, ratio: float, most: float) -> Bar:
    return Bar(
        bar=f"{PAGES[found.page]} {what}",
        database=found.database,
        wanted=f"≤ {most:.1f} ×",
        measured=f"{ratio:.2f} ×",
        where=_where(found),
        ok=ratio <= most,
    )


def _slowest(found: Found) -> Bar:
    return Bar(
        bar=f"{PAGES[found.page]} over HTTP",
        database=found.database,
        wanted=f"≤ {MINIMAP_MS:.0f} ms",
        measured=f"{found.answer:.1f} ms",
        where=_where(found),
        ok=found.answer <= MINIMAP_MS,
    )


def _where(found: Found) -> str:
    return (
        f"{found.size:,} sessions: queries {found.query:.2f}, in a thread {found.thread:.2f}, "
        f"store {found.read:.2f}, bare route {found.route:.2f}, answer {found.answer:.2f} ms"
    )


def run(out: Path, databases: Sequence[str], load: Load) -> list[Bar]:
    """Measure on these databases, write what was found, and answer the bars."""

    async def measured() -> list[Found]:
        found = []
        with temporary_folder() as folder:
            template = await make_template(folder)
            for name in databases:
                with open_site(name, folder) as site:
                    for size in load.sizes:
                        tell(f"{name}: pages of the API, {size:,} sessions")
                        await site.fill(template, size, long_messages=load.long_messages)
                        found += await measure(site.where(size), name, size, load)
        tell("")
        return found

    found = asyncio.run(measured())
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(one) for one in found], indent=1, ensure_ascii=False)
    (out / "api.json").write_text(text + "\n", encoding="utf-8")
    return judge(found)


if __name__ == "__main__":
    chosen = [name for name in (SQLITE, POSTGRES) if name in sys.argv] or [SQLITE, POSTGRES]
    load = QUICK if "--quick" in sys.argv else Load()
    print(bar_table(run(ROOT / "bench" / "results", chosen, load)))
