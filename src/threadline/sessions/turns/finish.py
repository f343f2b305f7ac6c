"""Finishing: the last word of a turn, its usage, and what is owed to the person who asked."""

from collections.abc import Sequence
from datetime import datetime

from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind, NewMessage, Role, words
from threadline.core.text import checked_text, checked_type
from threadline.core.turn import Lease, TurnId, TurnState
from threadline.core.usage import Usage, billionths
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.deliveries.owe import owe_reply
from threadline.sessions.turns.close import keep_partial, take_chunks
from threadline.storage.database import Row, Transaction


def finish(
    tx: Transaction,
    lease: Lease,
    messages: Sequence[NewMessage] = (),
    *,
    usage: Sequence[Usage] = (),
    deliver: bool = True,
    now: datetime,
) -> None:
    """End a turn well: its last messages, its usage and the reply owed, all at once.

    Without messages, what was streamed since the last one becomes the answer.
    """
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        ended = _end(chronicle, lease, TurnState.DONE, None)
        streamed = take_chunks(chronicle, lease.turn_id) if ended.number("chunks") else ""
        if streamed and not messages:
            messages = [NewMessage(role=Role.ASSISTANT, parts=words(streamed))]
        chronicle.add(messages, lease.turn_id)
        chronicle.interruptions = 0
        _close(chronicle, lease.turn_id, ended, usage, deliver=deliver)


def fail(
    tx: Transaction,
    lease: Lease,
    why: str,
    *,
    usage: Sequence[Usage] = (),
    deliver: bool = True,
    now: datetime,
) -> None:
    """End a turn that went wrong: keep what was said, and show why in the transcript."""
    checked_text(why, "reason of the failure")
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        ended = _end(chronicle, lease, TurnState.FAILED, why)
        keep_partial(chronicle, lease.turn_id, MarkerKind.FAILED, why)
        chronicle.interruptions = 0
        _close(chronicle, lease.turn_id, ended, usage, deliver=deliver)


def _end(chronicle: Chronicle, lease: Lease, state: TurnState, error: str | None) -> Row:
    ended = chronicle.tx.one(
        "end_turn",
        id=lease.turn_id,
        fence=lease.fence,
        state=state,
        error=error,
        now=chronicle.at,
    )
    if ended is None or ended.number("session_key") != chronicle.key:
        raise LeaseLost(id=str(lease.turn_id))
    chronicle.tell(EventKind(f"turn.{state}"), lease.turn_id)
    return ended


def _close(
    chronicle: Chronicle, turn_id: TurnId, ended: Row, usage: Sequence[Usage], *, deliver: bool
) -> None:
    chronicle.touch()
    for spent in usage:
        add_usage(chronicle, turn_id, spent)
    owe_reply(chronicle, turn_id, ended, deliver=deliver)


def add_usage(chronicle: Chronicle, turn_id: TurnId | None, spent: Usage) -> None:
    """Record what a model spent on a task of this session."""
    checked_type(spent, "usage", Usage).checked_call()
    chronicle.tx.run(
        "add_usage",
        session_key=chronicle.key,
        turn_id=turn_id,
        at=chronicle.at,
        task=spent.task,
        provider=spent.provider,
        model=spent.model,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cache_read_tokens=spent.cache_read_tokens,
        cache_write_tokens=spent.cache_write_tokens,
        reasoning_tokens=spent.reasoning_tokens,
        prompt_tokens=spent.prompt_tokens,
        cost=None if spent.cost is None else billionths(spent.cost),
        cost_status=spent.cost_status,
    )


def spend(tx: Transaction, lease: Lease, usage: Sequence[Usage], *, now: datetime) -> None:
    """Record what a turn spent that was taken from its worker: it has to be paid all the same."""
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        turn = tx.one("read_turn", id=lease.turn_id)
        if turn is None or turn.number("fence") == lease.fence:
            return  # Whoever has this lease ended the turn, and recorded it then.
        for spent in usage:
            add_usage(chronicle, lease.turn_id, spent)
        chronicle.tell(EventKind.SESSION_CHANGED)
