"""Question replies: words that a turn waits for, because its agent asked."""

from datetime import timedelta

from threadline.core.access_level import AccessLevel
from threadline.core.address import Kind
from threadline.core.approval import Approval, read_answer
from threadline.core.errors import Conflict, Refused
from threadline.core.inbound import Inbound
from threadline.core.message import Text, plain_text
from threadline.core.route import Route
from threadline.core.turn import Turn, TurnState
from threadline.database.port import Transaction
from threadline.store import queries
from threadline.store.approvals import approvers, pending_questions
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.store.people.address_book import KnownAddress, KnownParties
from threadline.store.session_writer import SessionState
from threadline.store.sessions.reset_check import SessionLoad
from threadline.store.turns import stop_and_wait

_SECOND = timedelta(seconds=1)


def answer_waiting(
    tx: Transaction,
    inbound: Inbound,
    place: KnownAddress,
    bound: SessionState,
    load: SessionLoad,
    *,
    rank: AccessLevel | None,
    where: Route | None,
) -> Arrival | None:
    """Take a message for the answer that a turn waits for; None: it is none, and has to queue.

    Without a rank nothing is an answer.
    """
    words = _plain_words(inbound)
    if bound.taken_at is not None and rank is not AccessLevel.OWNER:
        return None  # They speak to the person who has taken over.
    turn_id = load.held_id
    if rank is None or turn_id is None or load.held_state is not TurnState.WAITING or not words:
        return None
    who = pending_questions.Respondent(
        address=place.address,
        sender_key=place.sender_key,
        person_key=place.person_key,
        rank=rank,
    )
    if not pending_questions.may_answer(tx, turn_id, who, is_theirs=True):
        return None
    turn = queries.read_turn(tx, turn_id)
    if is_blind(turn, inbound, words) or not _may_say(tx, turn, inbound, rank):
        return None
    stop_and_wait.answer(tx, turn_id, words, asked_at=turn.asked_at)
    _note_words(tx, inbound, turn, words)
    return _note(tx, inbound, turn, bound.key, where)


def answer_beside(
    tx: Transaction,
    inbound: Inbound,
    place: KnownAddress,
    known: KnownParties,
    *,
    rank: AccessLevel | None,
    where: Route | None,
) -> Arrival | None:
    """Take a message for the answer to what a job or the background asked in a dm just before.

    None: something else was said there last. It is called before any session is locked.
    """
    if rank is None or not known.asked or place.address.kind is not Kind.DM:
        return None
    words = _plain_words(inbound)
    if not words:
        return None
    asked = pending_questions.find_last_said(tx, place.address_key)
    if asked is None:
        return None
    turn = queries.read_turn(tx, asked.turn_id)
    if is_blind(turn, inbound, words) or not _may_say(tx, turn, inbound, rank):
        return None
    try:
        stop_and_wait.answer(tx, turn.id, words, asked_at=turn.asked_at)
    except Conflict:
        return None  # Somebody was quicker.
    _note_words(tx, inbound, turn, words)
    return _note(tx, inbound, turn, asked.session_key, where)


def is_blind(turn: Turn, inbound: Inbound, words: str) -> bool:
    """Return whether a yes was written before the tools were asked about, as a late message is."""
    is_yes = bool(turn.asks) and read_answer(words)[0] is Approval.APPROVED
    # Some platforms give only the second in which something was written.
    return is_yes and turn.asked_at is not None and inbound.at + _SECOND < turn.asked_at


def _may_say(tx: Transaction, turn: Turn, inbound: Inbound, rank: AccessLevel) -> bool:
    """Return whether words of a sender answer what a turn asks: they may say yes, too."""
    try:
        approvers.require_approver(tx, turn, inbound, rank)
    except Refused:
        return False
    return True


def _note_words(tx: Transaction, inbound: Inbound, turn: Turn, words: str) -> None:
    """Write down an answer in words: all but a plain yes is a no."""
    approval = read_answer(words)[0] or Approval.DENIED
    approvers.note_decision(tx, inbound, turn, approval)


def _note(
    tx: Transaction,
    inbound: Inbound,
    turn: Turn,
    session_key: int,
    where: Route | None,
) -> Arrival:
    deduplication.record_outcome(
        tx, inbound, InboundOutcome.ANSWERED, session_key=session_key, turn_id=turn.id
    )
    return Arrival(
        outcome=InboundOutcome.ANSWERED,
        session_id=turn.session_id,
        turn_id=turn.id,
        route=where,
    )


def _plain_words(inbound: Inbound) -> str:
    """Give the words of a message that is nothing but words, said to the agent."""
    if inbound.observed or not all(isinstance(part, Text) for part in inbound.parts):
        return ""
    return plain_text(inbound.parts).strip()
