"""A process that serves: carries a load, holds turns until it is killed, resumes them, streams.

It tells what it found as one line of JSON. Each way of serving is a fresh process, so that its
memory and its event loop are its own.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Concatenate, ParamSpec, TypeVar

from bench.child import READY, resident_megabytes
from bench.crowd import NAME, Crowd
from bench.sites import ROOT
from bench.timing import Stalls, percentile, watched_loop
from threadline.agents.echo import Echo
from threadline.assembly import open_database
from threadline.core.access import AccessRules
from threadline.core.agent import Agent, Output, Request, TextDelta
from threadline.core.session import SessionId
from threadline.database.port import Database, Transaction
from threadline.database.wrapper import DatabaseWrapper
from threadline.gateway.concurrency import CONCURRENCY
from threadline.gateway.garbage_collector import settle_heap
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.gateway.turn_pubsub import Delta, Happening, TurnBegun, TurnClosed, TurnPubSub
from threadline.store import Store
from threadline.store.turns.output import checkpoint

PATIENCE = timedelta(minutes=5)
PIECES = 10
"""Pieces in a second of an answer that is streamed."""
_PIECE = "and so on, "
_LOOK_AGAIN = 0.05


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a process is started to do."""

    way: str
    where: str
    people: int
    messages: int = 1
    seconds: float = 0.0
    """How long an answer is streamed."""
    since: float = 0.0
    """When it was started, by the clock that all processes share."""


class Timed(DatabaseWrapper):
    """A database that notes how long its checkpoints take, in milliseconds."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.checkpoints: list[float] = []

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        start = time.perf_counter()
        done = await super().write(verb, *args, **kwargs)
        if verb is checkpoint:
            self.checkpoints.append((time.perf_counter() - start) * 1000)
        return done


class Talker:
    """An agent that says so many pieces a second, until its time is over; None: for ever."""

    def __init__(self, seconds: float | None) -> None:
        self._pieces = None if seconds is None else int(seconds * PIECES)
        self.talking = 0
        """Turns that have begun to speak."""

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Begin at once, and go on."""
        self.talking += 1
        # Nobody speaks in step with all others.
        await asyncio.sleep(request.turn.id % 100 / 100 / PIECES)
        said = 0
        while self._pieces is None or said < self._pieces:
            yield TextDelta(text=_PIECE)
            said += 1
            await asyncio.sleep(1 / PIECES)


@asynccontextmanager
async def _served(
    service: Service, agent: Agent, crowd: Crowd, concurrency: int = CONCURRENCY
) -> AsyncIterator[tuple[Gateway, Timed]]:
    access = AccessRules(allow=[f"{NAME}:*"], per_minute=0)
    settings = GatewaySettings(access=access, concurrency=concurrency)
    timed = Timed(await open_database(service.where))
    async with Store(timed) as store:
        gateway = Gateway(store, agent, [crowd], settings=settings)
        async with gateway:
            yield gateway, timed


async def carry(service: Service) -> dict[str, object]:
    """Let everybody write many messages, and wait until all are answered."""
    crowd = Crowd(service.people, service.messages)
    wanted, memory = service.people * service.messages, []
    async with _served(service, _echo(), crowd), watched_loop() as stalls:
        start = time.perf_counter()
        for third in (1, 2, 3):
            await crowd.until(_reached(crowd, wanted * third // 3), PATIENCE)
            memory.append(resident_megabytes())
        seconds = time.perf_counter() - start
    return {
        "rate": wanted / seconds,
        "lost": wanted - crowd.answers,
        "misfits": crowd.misfits,
        "take_p50": percentile(crowd.takes, 0.50),
        "take_p99": percentile(crowd.takes, 0.99),
        "memory": memory,
        **_lag(stalls),
    }


async def hold(service: Service) -> dict[str, object]:
    """Begin to answer everybody, say so, and go on until somebody kills this process."""
    agent, crowd = Talker(None), Crowd(service.people, 1, ahead=service.people)
    async with _served(service, agent, crowd, service.people) as (_, timed):
        while agent.talking < service.people:
            await asyncio.sleep(_LOOK_AGAIN)
        seen = len(timed.checkpoints)
        while len(timed.checkpoints) == seen:
            await asyncio.sleep(_LOOK_AGAIN)
        print(READY, flush=True)
        await asyncio.sleep(PATIENCE.total_seconds())
    raise RuntimeError("Nobody killed this process")


async def resume(service: Service) -> dict[str, object]:
    """Pick up what was cut off; tell how long it took to be ready, and to have answered all."""
    crowd = Crowd(service.people, 1, ahead=0)
    async with watched_loop() as stalls, _served(service, _echo(), crowd) as (gateway, _):
        if not gateway.is_ready:
            raise RuntimeError("The gateway did not become ready")
        ready = time.monotonic() - service.since
        await crowd.until(_reached(crowd, service.people), PATIENCE)
        answered = time.monotonic() - service.since
    return {"ready": ready, "answered": answered, "misfits": crowd.misfits, **_lag(stalls)}


async def stream(service: Service) -> dict[str, object]:
    """Let everybody be answered at the same time, slowly, while somebody listens to each."""
    agent = Talker(service.seconds)
    crowd = Crowd(service.people, 1, ahead=service.people)
    async with _served(service, agent, crowd, service.people) as (gateway, timed):
        memory, together = [resident_megabytes()], 0
        audience = Audience(gateway.worker.live)
        async with watched_loop() as stalls:
            with gateway.worker.live.attend(audience.hear):
                while audience.ended < service.people:
                    await asyncio.sleep(_LOOK_AGAIN)
                    memory.append(resident_megabytes())
                    together = max(together, len(gateway.worker.running))
    return {
        "memory": max(memory) - memory[0],
        "together": together,
        "lost": service.people * int(service.seconds * PIECES) - audience.pieces,
        "checkpoints": len(timed.checkpoints),
        "checkpoint_p50": percentile(timed.checkpoints, 0.50),
        "checkpoint_p99": percentile(timed.checkpoints, 0.99),
        **_lag(stalls),
    }


class Audience:
    """Somebody for each session who listens to it, as a terminal or a web page would."""

    def __init__(self, live: TurnPubSub) -> None:
        self._live = live
        self._listening: set[asyncio.Task[None]] = set()
        self.pieces = 0
        """Pieces that were heard by their listener."""
        self.ended = 0
        """Turns that were heard to their end."""

    def hear(self, happening: Happening) -> None:
        """Send a listener to every turn that begins."""
        if isinstance(happening, TurnBegun) and happening.lease is not None:
            task = asyncio.create_task(self._listen(happening.lease.session_id))
            self._listening.add(task)
            task.add_done_callback(self._listening.discard)

    async def _listen(self, session_id: SessionId) -> None:
        with self._live.listen(session_id) as listener:
            async for happening in listener:
                if isinstance(happening, Delta):
                    self.pieces += happening.text.count(_PIECE)
                elif isinstance(happening, TurnClosed):
                    self.ended += 1
                    return


def _echo() -> Echo:
    return Echo(pause=timedelta(0))


def _reached(crowd: Crowd, answers: int) -> Callable[[], bool]:
    return lambda: crowd.answers >= answers


def _lag(stalls: Stalls) -> dict[str, object]:
    return {
        "lag_p99": percentile(stalls.all, 0.99),
        "lag": stalls.longest,
        "late": stalls.latest,
    }


WAYS = {way.__name__: way for way in (carry, hold, resume, stream)}


def start(service: Service) -> "subprocess.Popen[str]":
    """Start a process that serves in one of the ways."""
    told = json.dumps(asdict(replace(service, since=time.monotonic())))
    command = [sys.executable, "-m", "bench.serving", told]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    given = Service(**json.loads(sys.argv[1]))
    settle_heap()  # as `threadline serve` does
    print(json.dumps(asyncio.run(WAYS[given.way](given))))
