"""Stopping a turn, letting it wait for an answer, and answering it."""

import json
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.agent import Question
from threadline.core.approval import Approval
from threadline.core.errors import Conflict, Invalid, LeaseLost, NotFound
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.session import SessionId
from threadline.core.turn import HELD, Awaits, Lease, OwnerId, TurnId, TurnState, checked_turn_id
from threadline.core.usage import Usage
from threadline.core.validation import checked_id, checked_text, checked_type
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.approvals.approvers import (
    ask_elsewhere,
    note_expiry,
    plan_question,
    tell_expired,
)
from threadline.store.deliveries.create import TurnPlace, create_reply
from threadline.store.queries import read_turn, session_state
from threadline.store.session_writer import SessionWriter, write_session, write_session_by_key
from threadline.store.turns.finish import add_usage
from threadline.store.turns.terminate import UnfinishedTurn, close_turn

DENIED = Approval.DENIED.value
"""The answer that a question gets when nobody answers it."""

_SLICE = 20
_FOREVER = 2**62
MOST_TOOLS = 64
"""Tools that one question may ask leave for."""
_BY_PERSON = "Stopped."


class _WaitingTurn(Struct, frozen=True, kw_only=True):
    """What an answer to the question of a turn depends on."""

    session_key: int
    state: TurnState
    owner: OwnerId | None
    asked_at: datetime | None


class _StaleQuestion(Struct, frozen=True, kw_only=True):
    """A turn that nobody answered."""

    id: TurnId
    session_key: int
    address_key: int


def stop(tx: Transaction, turn_id: TurnId) -> bool:
    """Stop a turn for good, whoever runs it, and keep what it had said. False if it had ended."""
    with write_session_by_key(tx, _waiting_turn(tx, turn_id).session_key) as writer:
        stopped = close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _BY_PERSON)
        if stopped:
            writer.interruptions = 0
            writer.touch()
        return stopped


def stop_session(tx: Transaction, id: SessionId) -> TurnId | None:
    """Stop the turn that a session has under way; None if there is none."""
    with write_session(tx, id) as writer:
        for turn in tx.all("list_unfinished", UnfinishedTurn, session_key=writer.key):
            if turn.state in HELD:
                close_turn(writer, turn.id, TurnState.STOPPED, MarkerKind.STOPPED, _BY_PERSON)
                writer.interruptions = 0
                writer.touch()
                return turn.id
    return None


def wait(
    tx: Transaction,
    lease: Lease,
    question: Question,
    *,
    usage: Sequence[Usage] = (),
    deliver: bool = True,
    keep_owner: OwnerId | None,
) -> None:
    """Let a turn wait for an answer; its worker keeps the lease, or lets go of it.

    The question is owed to whoever has to answer it, after what the turn said before.
    """
    asks = _checked_tools(question)
    profile = session_state(tx, lease.session_id).profile
    plan = plan_question(tx, lease.turn_id, question, profile=profile)
    with write_session(tx, lease.session_id) as writer:
        waiting = tx.one(
            "wait_turn",
            TurnPlace,
            id=lease.turn_id,
            session_key=writer.key,
            fence=lease.fence,
            question=question.text,
            asks=_pack_asks(asks, plan.awaits),
            owner=keep_owner,
            lease_until=None if keep_owner is None else stamp(tx.now + tx.settings.lease),
            now=stamp(tx.now),
        )
        if waiting is None:
            raise LeaseLost(id=str(lease.turn_id))
        for spent in usage:
            add_usage(writer, lease.turn_id, spent)
        writer.tell(EventKind.TURN_WAITING, lease.turn_id)
        create_reply(writer, lease.turn_id, waiting, plan.question, deliver=deliver)
    ask_elsewhere(tx, lease.turn_id, plan, question)


def _pack_asks(tools: Sequence[str], awaits: Awaits | None) -> str | None:
    """Write the tools that a turn asks about, and who has to approve them; None: it names none."""
    if not tools:
        return None
    return json.dumps(tools if awaits is None else {"tools": tools, "awaits": awaits})


def _checked_tools(question: Question) -> list[str]:
    """Take a question that a database can keep; answer the tools it asks for, each once."""
    checked_text(checked_type(question, "question", Question).text, "question")
    asked = checked_type(question.tools, "tools that are asked for", tuple)
    tools = list(dict.fromkeys(checked_id(tool, "name of a tool") for tool in asked))
    if len(tools) > MOST_TOOLS:
        raise Invalid(f"One question can ask about at most {MOST_TOOLS} tools")
    return tools


def answer(
    tx: Transaction, turn_id: TurnId, words: str, *, asked_at: datetime | None = None
) -> TurnState:
    """Answer a waiting turn: it runs on where its worker kept it, else it is queued again.

    `asked_at` names the question that is answered: any other one is left open.
    """
    checked_text(words, "answer")
    with write_session_by_key(tx, _waiting_turn(tx, turn_id).session_key) as writer:
        _require_question(tx, turn_id, asked_at)
        state = _answer(writer, turn_id, words, asked_before=_FOREVER)
        if state is None:
            raise Conflict("This turn is not waiting for an answer", id=str(turn_id))
        writer.touch()
        return state


def _require_question(tx: Transaction, turn_id: TurnId, asked_at: datetime | None) -> None:
    """Refuse an answer to a question that is over: nobody gives leave for what they have not seen.

    It is looked at under the lock, as the turn may just have asked anew.
    """
    turn = _waiting_turn(tx, turn_id)
    is_waiting = turn.state is TurnState.WAITING
    if asked_at is not None and is_waiting and turn.asked_at != asked_at:
        raise over(turn_id)


def over(turn_id: TurnId) -> Conflict:
    """Say that a turn asks something else than what was answered."""
    return Conflict(
        "That question is over; this turn now asks something else",
        id=str(turn_id),
        hint="Look at what it asks now, and answer that",
    )


def _answer(
    writer: SessionWriter, turn_id: TurnId, words: str, *, asked_before: int
) -> TurnState | None:
    is_kept = _waiting_turn(writer.tx, turn_id).owner is not None
    state = TurnState.RUNNING if is_kept else TurnState.QUEUED
    is_answered = writer.tx.exists(
        "answer_turn",
        id=turn_id,
        state=state,
        answer=words,
        asked_before=asked_before,
        now=writer.at,
    )
    if not is_answered:
        return None
    writer.tell(EventKind(f"turn.{state}"), turn_id)
    return state


def deny_unanswered(tx: Transaction) -> list[TurnId]:
    """Deny a slice of the questions that nobody answered in time."""
    before = stamp(tx.now - tx.settings.answer_within)
    denied = []
    for stale in tx.all("list_stale_questions", _StaleQuestion, before=before, most=_SLICE):
        with write_session_by_key(tx, stale.session_key) as writer:
            # Asked again under the lock: somebody may just have answered, and been asked anew.
            turn = read_turn(tx, stale.id)
            is_denied = _answer(writer, stale.id, DENIED, asked_before=before) is not None
            profile = writer.session.profile
        if is_denied:
            denied.append(stale.id)
            if turn.awaits is Awaits.APPROVER:
                at = expect(tx, "read_place", Address, key=stale.address_key)
                tell_expired(tx, turn, at, profile=profile)
            if turn.asks:
                note_expiry(tx, turn)
    return denied


def _waiting_turn(tx: Transaction, turn_id: TurnId) -> _WaitingTurn:
    turn = tx.one("find_waiting_turn", _WaitingTurn, id=checked_turn_id(turn_id))
    if turn is None:
        raise NotFound("There is no such turn", id=str(turn_id))
    return turn
