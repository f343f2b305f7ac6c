"""The nursery: has everything loaded, and lets one gateway after the other be born and killed.

    python -m tests.crash.gateway.child

Each line on standard input is JSON: the store, the URL of an exchange, a seed, perhaps a step, and
perhaps options: `conditions` (the file that says how much room the disk has, and the time), `lease`
and `recover` (seconds), `queue_cap`, and `stop`: the step in which the process stops itself, and is
`late` if what it was about to say is said before it looks at its lease again.
A whole gateway is born of it, which serves until it is killed. On standard output it says `born`
with its process id, then `ready` with its name as an owner; the nursery says `died`, and how.
"""

import asyncio
import json
import logging
import os
import random
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import apsw
from msgspec.structs import replace

from tests.crash.dying_database import DeadlyDatabase, Fate, Pause, Step, step_from
from tests.crash.gateway.chat_platform import PLATFORMS
from tests.crash.gateway.conditions import Conditions, LimitedDisk
from tests.crash.gateway.remote_platform import Wire
from threadline.assembly import open_database
from threadline.core.access import AccessRules
from threadline.core.agent import Output, Question, Request, TextDelta
from threadline.core.database_url import is_server
from threadline.core.message import Role, say
from threadline.core.platform import Platform
from threadline.core.settings import Settings
from threadline.database.port import Database
from threadline.database.sqlite import SqliteDatabase
from threadline.gateway.gateway import Gateway
from threadline.gateway.intervals import Intervals
from threadline.gateway.settings import GatewaySettings
from threadline.store import Store

PACE = Intervals(checkpoint=timedelta(milliseconds=30), recover=timedelta(milliseconds=500))
SETTINGS = GatewaySettings(
    access=AccessRules(
        allow=[f"{name}:*" for name in PLATFORMS],
        chats=[f"{name}:*" for name in PLATFORMS],
        per_minute=0,
    ),
    pace=PACE,
)

YIELDED, LIVE = "ask and let go", "ask and wait"
QUESTIONS = (YIELDED, LIVE)
"""What somebody says to be asked back, in one way or the other."""
MAY_I = "May I?"


class Teller:
    """Answers with words that can be told apart: each names its question, attempt and place."""

    def __init__(self, dice: random.Random, pause: float = 0.01) -> None:
        self._dice = dice
        self._pause = pause

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Say a line at once and another piece by piece; some answers take several messages."""
        asked = next(m for m in reversed(request.history) if m.role is Role.USER)
        if asked.text in QUESTIONS:
            async for output in _ask(asked.text, request):
                yield output
            return
        words = [f"{asked.text}/{request.turn.attempts}/{k}" for k in range(self._length())]
        half = len(words) // 2
        for word in words[:half]:
            yield TextDelta(text=f"{word} ")
            await asyncio.sleep(self._dice.random() * self._pause)
        yield say(Role.ASSISTANT, " ".join(words[:half]))
        for word in words[half:]:
            yield TextDelta(text=f"{word} ")
            await asyncio.sleep(self._dice.random() * self._pause)

    def _length(self) -> int:
        return self._dice.choice([4, 6, 8, 25, 40])


async def _ask(how: str, request: Request) -> AsyncIterator[Output]:
    """Ask leave for something, and say what was answered."""
    answer = request.turn.answer
    if how == LIVE:
        answer = await request.ask(Question(text=MAY_I))
    elif answer is None:
        yield Question(text=MAY_I)
    yield say(Role.ASSISTANT, f"I was told: {answer}")


async def serve(
    where: str, url: str, seed: int, wanted: str | None, options: dict[str, Any] | None = None
) -> None:
    """Serve the two platforms of an exchange."""
    step = None if wanted is None else step_from(wanted)
    options = options or {}
    fate = Fate(step)
    if "stop" in options:
        fate = Pause(step_from(options["stop"]), between_writes=lambda: _between_writes(where))
    platforms = [Wire(name, url, fate, is_late="late" in options) for name in PLATFORMS]
    pace = PACE
    if "recover" in options:
        pace = replace(pace, recover=timedelta(seconds=options["recover"]))
    settings = replace(SETTINGS, pace=pace)
    await serve_on(platforms, where, Teller(random.Random(seed)), step, settings, options)


async def _open(where: str, options: Mapping[str, Any]) -> Database:
    """Open the database; one in a file has the disk and the clock of the conditions."""
    if "conditions" not in options or is_server(where):
        return await open_database(where)
    conditions = Conditions(Path(options["conditions"]))
    disk = LimitedDisk(conditions)
    database = SqliteDatabase(Path(where), vfs=disk.name, clock=conditions.now)
    await database.open()
    return database


def _between_writes(where: str) -> None:
    """Wait until nothing writes to a database file: one who is stopped while it does blocks all."""
    connection = apsw.Connection(where)
    connection.set_busy_timeout(60_000)
    connection.execute("BEGIN IMMEDIATE; ROLLBACK")
    connection.close()


def _rules(options: Mapping[str, Any]) -> Settings:
    rules = Settings()
    if "lease" in options:
        rules = replace(rules, lease=timedelta(seconds=options["lease"]))
    if "queue_cap" in options:
        rules = replace(rules, queue_cap=options["queue_cap"])
    return rules


async def serve_on(
    platforms: Sequence[Platform],
    where: str,
    agent: Teller,
    step: Step | None,
    settings: GatewaySettings,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Serve until the end, which somebody else decides on."""
    # Nobody says anything more to us: if there is something to hear, our parent is gone.
    asyncio.get_running_loop().add_reader(0, os._exit, 1)
    database = await _open(where, options)
    if step is not None:
        database = DeadlyDatabase(database, step)
    store = Store(database, _rules(options))
    async with Gateway(store, agent, platforms, settings=settings) as gateway:
        tell("ready", store.owner)
        await gateway.wait()


def tell(what: str, which: object) -> None:
    """Say one thing, in one atomic write to the pipe."""
    os.write(1, f"{what} {which}\n".encode())


def bear(errand: str, serve: Callable[..., Coroutine[None, None, None]] = serve) -> None:
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
