"""Stopping a turn, letting it wait for an answer, and answering it."""

import json
from collections.abc import Sequence
from datetime import datetime

from threadline.core.agent import Question
from threadline.core.approval import Approval
from threadline.core.errors import Conflict, Invalid, LeaseLost, NotFound
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.text import checked_id, checked_text, checked_type
from threadline.core.turn import HELD, Lease, OwnerId, TurnId, TurnState, checked_turn_id
from threadline.core.usage import Usage
from threadline.sessions.chronicle import Chronicle, chronicle_of, open_chronicle
from threadline.sessions.deliveries.owe import owe_reply
from threadline.sessions.turns.close import close_turn
from threadline.sessions.turns.finish import add_usage
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp

DENIED = Approval.DENIED.value
"""The answer that a question gets when nobody answers it."""

_SLICE = 20
_FOREVER = 2**62
MOST_TOOLS = 64
"""Tools that one question may ask leave for."""
_BY_PERSON = "Stopped."


def stop(tx: Transaction, turn_id: TurnId, *, now: datetime) -> bool:
    """Stop a turn for good, whoever runs it, and keep what it had said. False if it had ended."""
    row = _turn(tx, turn_id)
    with chronicle_of(tx, row.number("session_key"), now) as chronicle:
        stopped = close_turn(chronicle, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _BY_PERSON)
        if stopped:
            chronicle.interruptions = 0
            chronicle.touch()
        return stopped


def stop_session(tx: Transaction, id: SessionId, *, now: datetime) -> TurnId | None:
    """Stop the turn that a session has under way; None if there is none."""
    with open_chronicle(tx, id, now) as chronicle:
        for row in tx.all("list_unfinished", session_key=chronicle.key):
            turn_id = TurnId(row.number("id"))
            if TurnState(row.text("state")) in HELD:
                close_turn(chronicle, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _BY_PERSON)
                chronicle.interruptions = 0
                chronicle.touch()
                return turn_id
    return None


def wait(
    tx: Transaction,
    lease: Lease,
    question: Question,
    *,
    usage: Sequence[Usage] = (),
    deliver: bool = True,
    keep_owner: OwnerId | None,
    rules: Rules,
    now: datetime,
) -> None:
    """Let a turn wait for an answer; its worker keeps the lease, or lets go of it.

    The question is owed to whoever has to answer it, after what the turn said before.
    """
    asks = _checked_tools(question)
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        waiting = tx.one(
            "wait_turn",
            id=lease.turn_id,
            fence=lease.fence,
            question=question.text,
            asks=json.dumps(asks) if asks else None,
            owner=keep_owner,
            lease_until=None if keep_owner is None else stamp(now + rules.lease),
            now=stamp(now),
        )
        if waiting is None or waiting.number("session_key") != chronicle.key:
            raise LeaseLost(id=str(lease.turn_id))
        for spent in usage:
            add_usage(chronicle, lease.turn_id, spent)
        chronicle.tell(EventKind.TURN_WAITING, lease.turn_id)
        owe_reply(chronicle, lease.turn_id, waiting, question, deliver=deliver)


def _checked_tools(question: Question) -> list[str]:
    """Take a question that a database can keep; answer the tools it asks for, each once."""
    checked_text(checked_type(question, "question", Question).text, "question")
    asked = checked_type(question.tools, "tools that are asked for", tuple)
    tools = list(dict.fromkeys(checked_id(tool, "name of a tool") for tool in asked))
    if len(tools) > MOST_TOOLS:
        raise Invalid(f"One question can ask about at most {MOST_TOOLS} tools")
    return tools


def answer(
    tx: Transaction,
    turn_id: TurnId,
    words: str,
    *,
    asked_at: datetime | None = None,
    now: datetime,
) -> TurnState:
    """Answer a waiting turn: it runs on where its worker kept it, else it is queued again.

    `asked_at` names the question that is answered: any other one is left open.
    """
    checked_text(words, "answer")
    row = _turn(tx, turn_id)
    with chronicle_of(tx, row.number("session_key"), now) as chronicle:
        _require_question(tx, turn_id, asked_at)
        state = _answer(chronicle, turn_id, words, asked_before=_FOREVER)
        if state is None:
            raise Conflict("This turn is not waiting for an answer", id=str(turn_id))
        chronicle.touch()
        return state


def _require_question(tx: Transaction, turn_id: TurnId, asked_at: datetime | None) -> None:
    """Refuse an answer to a question that is over: nobody gives leave for what they have not seen.

    It is looked at under the lock, as the turn may just have asked anew.
    """
    row = _turn(tx, turn_id)
    is_waiting = TurnState(row.text("state")) is TurnState.WAITING
    if asked_at is not None and is_waiting and row.moment("asked_at") != asked_at:
        raise over(turn_id)


def over(turn_id: TurnId) -> Conflict:
    """Say that a turn asks something else than what was answered."""
    return Conflict(
        "That question is over; this turn now asks something else",
        id=str(turn_id),
        hint="Look at what it asks now, and answer that",
    )


def _answer(
    chronicle: Chronicle, turn_id: TurnId, words: str, *, asked_before: int
) -> TurnState | None:
    row = _turn(chronicle.tx, turn_id)
    state = TurnState.QUEUED if row["owner"] is None else TurnState.RUNNING
    answered = chronicle.tx.one(
        "answer_turn",
        id=turn_id,
        state=state,
        answer=words,
        asked_before=asked_before,
        now=chronicle.at,
    )
    if answered is None:
        return None
    chronicle.tell(EventKind(f"turn.{state}"), turn_id)
    return state


def deny_unanswered(tx: Transaction, *, rules: Rules, now: datetime) -> list[TurnId]:
    """Deny a slice of the questions that nobody answered in time."""
    before = stamp(now - rules.answer_within)
    denied = []
    for row in tx.all("list_stale_questions", before=before, most=_SLICE):
        turn_id = TurnId(row.number("id"))
        with chronicle_of(tx, row.number("session_key"), now) as chronicle:
            # Asked again under the lock: somebody may just have answered, and been asked anew.
            if _answer(chronicle, turn_id, DENIED, asked_before=before) is not None:
                denied.append(turn_id)
    return denied


def _turn(tx: Transaction, turn_id: TurnId) -> Row:
    row = tx.one("read_turn", id=checked_turn_id(turn_id))
    if row is None:
        raise NotFound("There is no such turn", id=str(turn_id))
    return row
