"""`python -m bench.model`: what a turn adds to the bare call of a model, and how soon it is seen.

The model is a double on the loopback that answers at once, so that everything else is ours. The
same words go the same way twice: through store, worker and agent, and by pydantic-ai alone.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic_ai import Agent as BareAgent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model

import threadline
from bench.bars import Bar, bar_table
from bench.rounds import tell
from bench.script import ANSWER, QUESTION, new_name, spoken
from bench.sites import ROOT, SQLITE, temporary_folder
from bench.timing import percentile
from tests.doubles.providers import ProviderDouble, Reply, Says
from threadline.agents.model import open_model_agent
from threadline.agents.model.models import make_model, open_http
from threadline.agents.settings import Api, ModelSettings, Provider
from threadline.core.access import AccessRules
from threadline.core.agent import Agent
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.gateway.turn_pubsub import Happening, TurnClosed
from threadline.gateway.worker import Worker
from threadline.platforms.simulated import Simulated
from threadline.store import Store

OVERHEAD_MS = 5.0
"""How much longer a turn may take than the call that it is about."""
TURNS = 10
"""Turns of one conversation: each reads all that was said before it."""
CHUNKS = 20
"""Pieces in which an answer is streamed."""
_PATIENCE = 60
_NAME = "double:gpt-4o"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, in milliseconds."""

    turns: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    """The bare calls, one beside each turn."""
    shown: list[float] = field(default_factory=list)
    """From a message on the platform to the first words of its answer there."""

    @property
    def overhead(self) -> float:
        """How much longer a turn takes than a call, at the median of each."""
        return statistics.median(self.turns) - statistics.median(self.calls)


class Line:
    """A conversation with the agent, through store and worker."""

    def __init__(self, store: Store, worker: Worker) -> None:
        self._store = store
        self._name = new_name()
        self._closed = asyncio.Event()
        self._worker = worker

    def hear(self, happening: Happening) -> None:
        """Notice that a turn is over."""
        if isinstance(happening, TurnClosed):
            if happening.error:
                raise RuntimeError(happening.error)
            self._closed.set()

    async def say(self) -> None:
        """Say something, and wait until the answer is on disk."""
        self._closed.clear()
        with self._worker.live.attend(self.hear):
            await self._store.receive(spoken(self._name, self._name, new_name()))
            await asyncio.wait_for(self._closed.wait(), _PATIENCE)


class Call:
    """The same conversation, by pydantic-ai alone."""

    def __init__(self, model: Model) -> None:
        self._agent = BareAgent(model)
        self._said: list[ModelMessage] = []

    async def say(self) -> None:
        """Say something, and hear the answer to its end."""
        async with self._agent.run_stream(QUESTION, message_history=self._said) as run:
            async for _ in run.stream_text(delta=True, debounce_by=None):
                pass
        self._said = run.all_messages()


@asynccontextmanager
async def _open(folder: Path) -> AsyncIterator[tuple[Store, Agent, Model]]:
    """Open a store, and an agent and a bare model that speak with the same double."""
    async with AsyncExitStack() as stack:
        double = await stack.enter_async_context(ProviderDouble())
        double.answers(lambda _: Reply(Says(ANSWER, chunks=CHUNKS)))
        url = f"{double.url}/local/v1"
        provider = Provider(name="double", api=Api.OPENAI_CHAT, base_url=url)
        settings = ModelSettings(model=_NAME, providers={"double": provider})
        agent = await stack.enter_async_context(open_model_agent(settings))
        http = await stack.enter_async_context(open_http())
        store = await stack.enter_async_context(threadline.open(str(folder / "model.sqlite")))
        yield store, agent, make_model(settings, _NAME, http=http)


async def _time(say: Line | Call) -> float:
    start = time.perf_counter()
    await say.say()
    return (time.perf_counter() - start) * 1000


async def _converse(found: Found, store: Store, agent: Agent, model: Model, talks: int) -> None:
    """Hold the same conversations in both ways, turn by turn; the first one is not counted."""
    async with Worker(store, agent) as worker:
        for number in range(talks + 1):
            line, call = Line(store, worker), Call(model)
            for _ in range(TURNS):
                turn, bare = await _time(line), await _time(call)
                if number:
                    found.turns.append(turn)
                    found.calls.append(bare)


async def _show(found: Found, store: Store, agent: Agent, messages: int) -> None:
    """Write on a platform, and look how soon something is there."""
    platform = Simulated("crowd")
    access = AccessRules(allow=["crowd:*"], per_minute=0)
    settings = GatewaySettings(access=access, titles=False)
    async with Gateway(store, agent, [platform], settings=settings):
        for number in range(messages + 1):
            person = platform.person(f"p{number}")
            start = time.perf_counter()
            person.writes(QUESTION)
            await platform.until(lambda: len(platform.seen(person.dm)) > 1)  # noqa: B023 - now
            if number:
                found.shown.append((time.perf_counter() - start) * 1000)


def judge(found: Found) -> list[Bar]:
    """Hold what was found against the bars."""
    overhead, call = found.overhead, statistics.median(found.calls)
    seen = statistics.median(found.shown)
    return [
        Bar(
            bar="a turn with a model, more than the bare call, p50",
            database=SQLITE,
            wanted=f"≤ {OVERHEAD_MS:.0f} ms",
            measured=f"{overhead:.1f} ms",
            where=f"{statistics.median(found.turns):.1f} against {call:.1f} ms",
            ok=overhead <= OVERHEAD_MS,
        ),
        Bar(
            bar="message to first words of its answer on a platform, p50",
            database=SQLITE,
            wanted="told",
            measured=f"{seen:.1f} ms",
            where=f"p99 {percentile(found.shown, 0.99):.1f} ms; the model answers at once",
            ok=True,
        ),
    ]


def run(out: Path, *, quick: bool = False) -> list[Bar]:
    """Measure, write what was found, and answer the bars."""
    talks, messages = (2, 5) if quick else (20, 100)
    found = Found()

    async def measure() -> None:
        with temporary_folder() as folder:
            async with _open(folder) as (store, agent, model):
                tell(f"{SQLITE}: {talks} × {TURNS} turns with a model")
                await _converse(found, store, agent, model, talks)
                tell(f"{SQLITE}: {messages} answers of a model are seen")
                await _show(found, store, agent, messages)

    asyncio.run(measure())
    tell("")
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**asdict(found), "overhead": found.overhead}, indent=1)
    (out / "model.json").write_text(text + "\n", encoding="utf-8")
    return judge(found)


if __name__ == "__main__":
    print(bar_table(run(ROOT / "bench" / "results", quick="--quick" in sys.argv)))
