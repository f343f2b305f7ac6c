"""A server in a process of its own, which can be killed.

    python -m tests.web.feed.child <file> <how many conversations>

It says on standard output where it is found, with what token, and which conversations it holds. All
of them are spoken in, again and again, until the process is killed; with 0 nobody speaks.
"""

import asyncio
import itertools
import json
import os
import random
import sys
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from tests.crash.gateway.child import PACE, Teller
from tests.web.feed.feed_scenario import make_token
from threadline.config import Config
from threadline.core.account import Account
from threadline.core.inbound import Inbound
from threadline.core.session import SessionId
from threadline.database.sqlite import SqliteDatabase
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.store import Store
from threadline.web.request_limits import RequestGuard
from threadline.web.resources.app import make_api
from threadline.web.server import serve


async def speak(store: Store, owner: Account, thread: int, n: int) -> SessionId:
    """Say something in one conversation."""
    words = Inbound.text(
        f"question {n}", address=owner.place(str(thread)), sender=owner.sender, at=store.now()
    )
    arrival = await store.receive(words)
    assert arrival.session_id is not None
    return arrival.session_id


async def keep_speaking(store: Store, owner: Account, thread: int) -> None:
    """Say more and more in one conversation."""
    for n in itertools.count():
        await speak(store, owner, thread, n)
        await asyncio.sleep(0.2)


async def run(where: str, conversations: int) -> None:
    """Serve until somebody else decides on the end."""
    # Nobody says anything to us: if there is something to hear, our parent is gone.
    asyncio.get_running_loop().add_reader(0, os._exit, 1)
    database = SqliteDatabase(Path(where), durable=False)
    await database.open()
    store, agent = Store(database), Teller(random.Random(1), pause=0.004)
    owner = await store.owner_account()
    gateway = Gateway(store, agent, [], settings=GatewaySettings(pace=PACE))
    app = Starlette(
        routes=[Mount("/api", app=make_api(gateway, store, Config()))],
        middleware=[Middleware(RequestGuard)],
    )
    async with serve(app, "127.0.0.1", 0) as url, gateway:
        ids = [await speak(store, owner, thread, 0) for thread in range(conversations)]
        told = {"url": url, "token": await make_token(store, owner), "sessions": ids}
        os.write(1, json.dumps(told).encode() + b"\n")
        await asyncio.gather(
            gateway.wait(), *(keep_speaking(store, owner, n) for n in range(conversations))
        )


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], int(sys.argv[2])))
