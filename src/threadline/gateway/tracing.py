"""Tracing: a span of OpenTelemetry for each turn, and its ids in every line of its log."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode
from structlog.contextvars import bound_contextvars

from threadline.core.delivery import Delivery
from threadline.core.turn import TurnState
from threadline.gateway.running_turn import RunningTurn

log = logging.getLogger("threadline.gateway")

_tracer = trace.get_tracer("threadline")


@contextmanager
def traced(turn: RunningTurn) -> Iterator[None]:
    """Put the ids of a turn on every log line and span within; never what was said in it."""
    ids: dict[str, str | int] = {"turn_id": turn.turn.id, "session_id": str(turn.turn.session_id)}
    attributes: dict[str, str | int] = {
        "threadline.turn.id": turn.turn.id,
        "threadline.session.id": str(turn.turn.session_id),
        "threadline.profile": turn.profile,
        "threadline.platform": turn.platform,
        "threadline.turn.attempts": turn.turn.attempts,
    }
    span = _tracer.start_span("turn", attributes=attributes)
    turn.when_closed(lambda: _close(span, turn, ids))
    # An error may quote what was said, so it is not put on the span.
    with (
        bound_contextvars(**ids),
        trace.use_span(span, record_exception=False, set_status_on_exception=False),
    ):
        log.debug("Turn %s began", turn.turn.id)
        yield


@contextmanager
def logged_for(delivery: Delivery) -> Iterator[None]:
    """Put the ids of a delivery, and of the turn it comes from, on every log line within."""
    session_id = None if delivery.session_id is None else str(delivery.session_id)
    ids = {
        "delivery_id": delivery.id,
        "platform": delivery.address.platform,
        "turn_id": delivery.turn_id,
        "session_id": session_id,
    }
    with bound_contextvars(**{name: id for name, id in ids.items() if id is not None}):
        yield


def _close(span: Span, turn: RunningTurn, ids: Mapping[str, str | int]) -> None:
    """End a span when its turn ends, which may be before or after its agent does."""
    state = turn.state
    with bound_contextvars(**ids):
        log.info("Turn %s is %s after %.1f s", turn.turn.id, state.value, turn.seconds)
    span.set_attribute("threadline.turn.state", state.value)
    if state in {TurnState.FAILED, TurnState.INTERRUPTED}:
        span.set_status(StatusCode.ERROR, state.value)
    span.end()
