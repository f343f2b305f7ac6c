"""Finishing: the last word of a turn, its usage, and what is owed to the person who asked."""

from collections.abc import Sequence

from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind, NewMessage, Role, words
from threadline.core.turn import Lease, TurnId, TurnState
from threadline.core.usage import Usage, billionths
from threadline.core.validation import checked_text, checked_type
from threadline.database.port import Transaction
from threadline.store.deliveries.create import TurnPlace, create_reply
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.turns.terminate import keep_partial, take_chunks


class _EndedTurn(TurnPlace, frozen=True, kw_only=True):
    """A turn that just ended."""

    chunks: int
    """Pieces of streamed output that no message holds yet."""


def finish(
    tx: Transaction,
    lease: Lease,
    messages: Sequence[NewMessage] = (),
    *,
    usage: Sequence[Usage] = (),
    deliver: bool = True,
) -> None:
    """End a turn well: its last messages, its usage and the reply owed, all at once.

    Without messages, what was streamed since the last one becomes the answer.
    """
    with write_session(tx, lease.session_id) as writer:
        ended = _end(writer, lease, TurnState.DONE, None)
        streamed = take_chunks(writer, lease.turn_id) if ended.chunks else ""
        if streamed and not messages:
            messages = [NewMessage(role=Role.ASSISTANT, parts=words(streamed))]
        writer.add(messages, lease.turn_id)
        writer.interruptions = 0
        _close(writer, lease.turn_id, ended, usage, deliver=deliver)


def fail(
    tx: Transaction, lease: Lease, why: str, *, usage: Sequence[Usage] = (), deliver: bool = True
) -> None:
    """End a turn that went wrong: keep what was said, and show why in the transcript."""
    checked_text(why, "reason of the failure")
    with write_session(tx, lease.session_id) as writer:
        ended = _end(writer, lease, TurnState.FAILED, why)
        keep_partial(writer, lease.turn_id, MarkerKind.FAILED, why)
        writer.interruptions = 0
        _close(writer, lease.turn_id, ended, usage, deliver=deliver)


def _end(writer: SessionWriter, lease: Lease, state: TurnState, error: str | None) -> _EndedTurn:
    ended = writer.tx.one(
        "end_turn",
        _EndedTurn,
        id=lease.turn_id,
        session_key=writer.key,
        fence=lease.fence,
        state=state,
        error=error,
        now=writer.at,
    )
    if ended is None:
        raise LeaseLost(id=str(lease.turn_id))
    writer.tell(EventKind(f"turn.{state}"), lease.turn_id)
    return ended


def _close(
    writer: SessionWriter,
    turn_id: TurnId,
    ended: TurnPlace,
    usage: Sequence[Usage],
    *,
    deliver: bool,
) -> None:
    writer.touch()
    for spent in usage:
        add_usage(writer, turn_id, spent)
    create_reply(writer, turn_id, ended, deliver=deliver)


def add_usage(writer: SessionWriter, turn_id: TurnId | None, spent: Usage) -> None:
    """Record what a model spent on a task of this session."""
    checked_type(spent, "usage", Usage).checked_call()
    writer.tx.run(
        "add_usage",
        session_key=writer.key,
        turn_id=turn_id,
        at=writer.at,
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


def spend(tx: Transaction, lease: Lease, usage: Sequence[Usage]) -> None:
    """Record what a turn spent that was taken from its worker: it has to be paid all the same."""
    with write_session(tx, lease.session_id) as writer:
        fence = tx.one("read_fence", int, id=lease.turn_id)
        if fence is None or fence == lease.fence:
            return  # Whoever has this lease ended the turn, and recorded it then.
        for spent in usage:
            add_usage(writer, lease.turn_id, spent)
        writer.tell(EventKind.SESSION_CHANGED)
