"""Answers: words that a turn waits for, because its agent asked."""

from datetime import datetime

from threadline.core.address import Kind
from threadline.core.errors import Conflict
from threadline.core.inbound import Inbound
from threadline.core.message import Text, plain_text
from threadline.core.rank import Rank
from threadline.core.route import Route
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.sessions import questions
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.outcome import Arrival, Outcome
from threadline.sessions.arrivals.places import Place
from threadline.sessions.turns import pause
from threadline.storage.database import Row, Transaction


def answer_waiting(
    tx: Transaction,
    inbound: Inbound,
    place: Place,
    bound: Row,
    load: Row,
    *,
    rank: Rank | None,
    where: Route | None,
    rules: Rules,
    now: datetime,
) -> Arrival | None:
    """Take a message for the answer that a turn waits for; None: it is none, and has to queue.

    Without a rank nothing is an answer.
    """
    words = _plain_words(inbound)
    if bound["taken_at"] is not None and rank is not Rank.OWNER:
        return None  # They speak to the person who has taken over.
    if rank is None or load["held_state"] != TurnState.WAITING or not words:
        return None
    turn_id = TurnId(load.number("held_id"))
    who = questions.Respondent(
        address=place.address,
        sender_key=place.sender_key,
        person_key=place.person_key,
        rank=rank,
    )
    if not questions.may_answer(tx, turn_id, who, rules, is_theirs=True):
        return None
    pause.answer(tx, turn_id, words, now=now)
    return _note(tx, inbound, turn_id, bound, where)


def answer_beside(
    tx: Transaction,
    inbound: Inbound,
    place: Place,
    known: Row,
    *,
    rank: Rank | None,
    where: Route | None,
    now: datetime,
) -> Arrival | None:
    """Take a message for the answer to what a job or the background asked in a dm just before.

    None: something else was said there last. It is called before any session is locked.
    """
    if rank is None or not known.number("asked") or place.address.kind is not Kind.DM:
        return None
    words = _plain_words(inbound)
    if not words:
        return None
    asked = questions.find_last_said(tx, place.address_key)
    if asked is None:
        return None
    turn_id = TurnId(asked.number("turn_id"))
    try:
        pause.answer(tx, turn_id, words, now=now)
    except Conflict:
        return None  # Somebody was quicker.
    return _note(tx, inbound, turn_id, asked, where)


def _note(
    tx: Transaction, inbound: Inbound, turn_id: TurnId, session: Row, where: Route | None
) -> Arrival:
    key, id = session.number("key"), SessionId(session.text("id"))
    outcome.note(tx, inbound, Outcome.ANSWERED, session_key=key, turn_id=turn_id)
    return Arrival(outcome=Outcome.ANSWERED, session_id=id, turn_id=turn_id, route=where)


def _plain_words(inbound: Inbound) -> str:
    """Give the words of a message that is nothing but words, said to the agent."""
    if inbound.observed or not all(isinstance(part, Text) for part in inbound.parts):
        return ""
    return plain_text(inbound.parts).strip()
