import logging
from collections.abc import AsyncIterator, Iterator

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.agent import Output, Request
from threadline.core.message import Role, say
from threadline.core.turn import TurnState
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.scripted_agent import Fails, Hangs, ScriptedAgent

SECRET = "the launch code is 1234"


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """Keep the spans of this process in memory; a provider is set once for a process."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield exporter
    exporter.shutdown()


async def spans_of(exporter: InMemorySpanExporter, turn_id: int | None) -> list[ReadableSpan]:
    def found() -> list[ReadableSpan]:
        spans = exporter.get_finished_spans()
        return [s for s in spans if (s.attributes or {}).get("threadline.turn.id") == turn_id]

    async def is_there() -> bool:
        return bool(found())

    await until(is_there, "the span has ended")
    return found()


async def test_a_turn_has_a_span(store: Store, exporter: InMemorySpanExporter) -> None:
    """A span tells which turn ran, where, and how it ended; never what was said."""
    exporter.clear()
    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(store, SECRET)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        (span,) = await spans_of(exporter, arrival.turn_id)

    assert span.attributes == {
        "threadline.turn.id": arrival.turn_id,
        "threadline.session.id": arrival.session_id,
        "threadline.profile": "main",
        "threadline.platform": "telegram",
        "threadline.turn.attempts": 1,
        "threadline.turn.state": "done",
    }
    assert SECRET not in span.to_json()


async def test_a_failure_shows_without_its_words(
    store: Store, exporter: InMemorySpanExporter
) -> None:
    """That a turn failed is on its span; what the error says may be secret, and is not."""
    exporter.clear()
    agent = ScriptedAgent()
    agent.will(Fails(SECRET))
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.FAILED)
        (span,) = await spans_of(exporter, arrival.turn_id)

    assert not span.status.is_ok
    assert SECRET not in span.to_json()


async def test_a_stopped_turn_says_so(store: Store, exporter: InMemorySpanExporter) -> None:
    """Also a turn that was taken from its agent ends with the state it really came to."""
    exporter.clear()
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None

        async def hangs() -> bool:
            return bool(agent.parked)

        await until(hangs, "the turn hangs")
        await store.turns.stop(arrival.turn_id)
        (span,) = await spans_of(exporter, arrival.turn_id)

    assert (span.attributes or {})["threadline.turn.state"] == "stopped"


class Logging:
    """An agent that notes what a line of its log would carry."""

    def __init__(self) -> None:
        self.bound: list[dict[str, object]] = []

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        logging.getLogger("agent").info("thinking")
        self.bound.append(dict(structlog.contextvars.get_contextvars()))
        yield say(Role.ASSISTANT, "ok")


async def test_every_line_of_a_log_carries_the_ids(store: Store) -> None:
    """Whatever is logged while a turn runs can be found by its turn and session."""
    agent = Logging()
    async with Worker(store, agent, pace=unhurried()):
        first = await tell(store, "hello", who="alice")
        second = await tell(store, "hello", who="bob")
        await becomes(store, first.turn_id, TurnState.DONE)
        await becomes(store, second.turn_id, TurnState.DONE)

    for arrival in (first, second):
        ids = {"turn_id": arrival.turn_id, "session_id": arrival.session_id}
        assert ids in agent.bound
    assert structlog.contextvars.get_contextvars() == {}


async def test_the_log_tells_of_a_turn(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """That it began, and how it ended; never what was said."""
    caplog.set_level(logging.DEBUG, "threadline.gateway")
    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(store, SECRET)
        await becomes(store, arrival.turn_id, TurnState.DONE)

    told = [one.getMessage() for one in caplog.records]
    assert f"Turn {arrival.turn_id} began" in told
    assert any(line.startswith(f"Turn {arrival.turn_id} is done after ") for line in told)
    assert SECRET not in "".join(told)
