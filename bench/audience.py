"""A server that is followed: it says where it is found, and does what it is told line by line.

`turns 1000` has so many conversations answered, and tells how long that took; `change` makes one
event; `memory` tells how many megabytes it holds, and how many events there were since. Each is
answered with one line of JSON.
"""

import asyncio
import gc
import json
import sys
import time
from datetime import timedelta

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from bench.child import resident_megabytes
from bench.timing import percentile, watched_loop
from threadline.agents.echo import Echo
from threadline.assembly import open_database
from threadline.config import Config
from threadline.core.account import Account, TokenScope
from threadline.core.event import Cursor, EventKind
from threadline.core.inbound import Inbound
from threadline.core.session_patch import SessionPatch
from threadline.gateway.garbage_collector import settle_heap
from threadline.gateway.gateway import Gateway
from threadline.store import Store
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.request_limits import RequestGuard
from threadline.web.resources.app import make_api
from threadline.web.server import serve

AT_ONCE = 32
"""Messages that are on their way into the store at the same time."""


class Room:
    """The store that is followed, and its owner, who speaks."""

    def __init__(self, store: Store, owner: Account) -> None:
        """Let an owner speak in many conversations."""
        self._store = store
        self._owner = owner
        self._said = 0
        self._begin = Cursor("0.0")

    async def answer(self, turns: int) -> dict[str, float]:
        """Say something in so many conversations, and wait until all is answered."""
        self._begin = await self._store.feed.end()
        begin, ran = time.perf_counter(), time.process_time()
        first, self._said = self._said, self._said + turns
        async with watched_loop() as stalls:
            speaking = [self._speak(first + n) for n in range(AT_ONCE)]
            await asyncio.gather(self._wait(turns), *speaking)
        return {
            "seconds": time.perf_counter() - begin,
            "cpu": time.process_time() - ran,
            "loop_p99": percentile(stalls.all, 0.99),
            "loop": stalls.longest,
        }

    async def change(self) -> dict[str, float]:
        """Let one thing happen: a conversation gets another title."""
        self._begin = await self._store.feed.end()
        row = (await self._store.sessions(most=1)).rows[0]
        begin = time.perf_counter()
        await self._store.sessions.update(row.session.id, SessionPatch(title="Another title"))
        return {"seconds": time.perf_counter() - begin}

    async def count(self) -> int:
        """Count the events since something was to be done last."""
        count, page = 0, await self._store.feed.read(self._begin)
        while page.events:
            count += len(page.events)
            page = await self._store.feed.read(page.cursor)
        return count

    async def _speak(self, first: int) -> None:
        for thread in range(first, self._said, AT_ONCE):
            address = self._owner.place(str(thread))
            words = Inbound.text(
                "How are you?", address=address, sender=self._owner.sender, at=self._store.now()
            )
            await self._store.receive(words)

    async def _wait(self, turns: int) -> None:
        done = 0
        events = self._store.feed.follow(self._begin)
        async for event in events:
            done += event.kind is EventKind.TURN_DONE
            if done == turns:
                break
        await events.aclose()


async def run(where: str) -> None:
    """Serve until nobody says anything more."""
    async with Store(await open_database(where)) as store:
        owner = await store.owner_account()
        token = new_secret(TOKEN_PREFIX)
        scopes = frozenset({TokenScope.READ})
        await store.make_token(owner.key, "bench", scopes, hash_secret(token), None)
        gateway = Gateway(store, Echo(pause=timedelta(0)), [])
        api = make_api(gateway, store, Config())
        app = Starlette(routes=[Mount("/api", app=api)], middleware=[Middleware(RequestGuard)])
        async with serve(app, "127.0.0.1", 0) as url, gateway:
            tell({"url": url, "token": token})
            try:
                await obey(Room(store, owner))
            finally:
                api.state.feed.close()


async def obey(room: Room) -> None:
    """Do what is told line by line."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        what, _, count = line.strip().partition(" ")
        if what == "turns":
            tell(await room.answer(int(count)))
        elif what == "change":
            tell(await room.change())
        else:
            gc.collect()
            tell({"memory": resident_megabytes(), "events": await room.count()})


def tell(found: object) -> None:
    """Answer with one line."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    settle_heap()  # as `threadline serve` does
    asyncio.run(run(sys.argv[1]))
