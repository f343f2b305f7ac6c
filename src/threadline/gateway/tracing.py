"""Tracing: a span of OpenTelemetry for each turn, and its ids in every line of its log."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode
from structlog.contextvars import bound_contextvars

from threadline.core.turn import TurnState
from threadline.gateway.running import RunningTurn

_tracer = trace.get_tracer("threadline")


@contextmanager
def traced(turn: RunningTurn) -> Iterator[None]:
    """Put the ids of a turn on every log line and span within; never what was said in it."""
    ids = {"turn_id": turn.turn.id, "session_id": str(turn.turn.session_id)}
    attributes: dict[str, str | int] = {
        "threadline.turn.id": turn.turn.id,
        "threadline.session.id": str(turn.turn.session_id),
        "threadline.profile": turn.profile,
        "threadline.platform": turn.platform,
        "threadline.turn.attempts": turn.turn.attempts,
    }
    span = _tracer.start_span("turn", attributes=attributes)
    turn.when_closed(lambda: _close(span, turn.state))
    # An error may quote what was said, so it is not put on the span.
    with (
        bound_contextvars(**ids),
        trace.use_span(span, record_exception=False, set_status_on_exception=False),
    ):
        yield


def _close(span: Span, state: TurnState) -> None:
    """End a span when its turn ends, which may be before or after its agent does."""
    span.set_attribute("threadline.turn.state", state.value)
    if state in {TurnState.FAILED, TurnState.INTERRUPTED}:
        span.set_status(StatusCode.ERROR, state.value)
    span.end()
