"""The nursery: has everything loaded, and lets one gateway after the other be born and killed.

    python -m tests.crash.gateway.child

Each line on standard input is JSON: the store, the URL of an exchange, a seed and perhaps a step.
A whole gateway is born of it, which serves until it is killed. On standard output it says `born`
with its process id, then `ready` with its name as an owner; the nursery says `died`, and how.
"""

import asyncio
import json
import logging
import os
import random
import sys
from collections.abc import AsyncIterator
from datetime import timedelta

from tests.crash.deadly import DeadlyDatabase, Fate, step_from
from tests.crash.gateway.exchange import PLATFORMS
from tests.crash.gateway.wire import Wire
from threadline.assembly import open_database
from threadline.core.access import AccessRules
from threadline.core.agent import Output, Piece, Request
from threadline.core.message import Role, say
from threadline.gateway.gateway import Gateway
from threadline.gateway.pace import Pace
from threadline.gateway.settings import GatewaySettings
from threadline.sessions.store import Store

PACE = Pace(checkpoint=timedelta(milliseconds=30), recover=timedelta(milliseconds=500))
SETTINGS = GatewaySettings(
    access=AccessRules(
        allow=[f"{name}:*" for name in PLATFORMS],
        chats=[f"{name}:*" for name in PLATFORMS],
        per_minute=0,
    ),
    pace=PACE,
)


class Teller:
    """Answers with words that can be told apart: each names its question, attempt and place."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Say a line at once and another piece by piece; some answers take several messages."""
        asked = next(m for m in reversed(request.history) if m.role is Role.USER)
        words = [f"{asked.text}/{request.turn.attempts}/{k}" for k in range(self._length())]
        half = len(words) // 2
        for word in words[:half]:
            yield Piece(text=f"{word} ")
            await asyncio.sleep(self._dice.random() * 0.01)
        yield say(Role.ASSISTANT, " ".join(words[:half]))
        for word in words[half:]:
            yield Piece(text=f"{word} ")
            await asyncio.sleep(self._dice.random() * 0.01)

    def _length(self) -> int:
        return self._dice.choice([4, 6, 8, 25, 40])


async def serve(where: str, url: str, seed: int, wanted: str | None) -> None:
    """Serve until the end, which somebody else decides on."""
    # Nobody says anything more to us: if there is something to hear, our parent is gone.
    asyncio.get_running_loop().add_reader(0, os._exit, 1)
    step = None if wanted is None else step_from(wanted)
    database = await open_database(where)
    if step is not None:
        database = DeadlyDatabase(database, step)
    fate = Fate(step)
    platforms = [Wire(name, url, fate) for name in PLATFORMS]
    store, agent = Store(database), Teller(random.Random(seed))
    async with Gateway(store, agent, platforms, settings=SETTINGS) as gateway:
        tell("ready", store.owner)
        await gateway.wait()


def tell(what: str, which: object) -> None:
    """Say one thing, in one atomic write to the pipe."""
    os.write(1, f"{what} {which}\n".encode())


def bear(errand: str) -> None:
    """Let a gateway live, and tell how it died."""
    child = os.fork()
    if child == 0:
        tell("born", os.getpid())
        asyncio.run(serve(*json.loads(errand)))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    tell("died", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    for line in sys.stdin:
        bear(line)
