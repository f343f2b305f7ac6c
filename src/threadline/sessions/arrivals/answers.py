"""Answers: words that a turn waits for, because its agent asked."""

from datetime import datetime

from threadline.core.address import Kind
from threadline.core.inbound import Inbound
from threadline.core.message import Text, plain_text
from threadline.core.route import Route, is_multi_user
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
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
    where: Route,
    rules: Rules,
    now: datetime,
) -> Arrival | None:
    """Take a message for the answer that a turn waits for; None: it is none, and has to queue."""
    words = _plain_words(inbound)
    if load["held_state"] != TurnState.WAITING or not words:
        return None
    turn_id = TurnId(load.number("held_id"))
    if not _may_answer(tx, place, turn_id, rules):
        return None
    pause.answer(tx, turn_id, words, now=now)
    key = bound.number("key")
    outcome.note(tx, inbound, Outcome.ANSWERED, session_key=key, turn_id=turn_id)
    return Arrival(
        outcome=Outcome.ANSWERED,
        session_id=SessionId(bound.text("id")),
        turn_id=turn_id,
        route=where,
    )


def _plain_words(inbound: Inbound) -> str:
    """Give the words of a message that is nothing but words, said to the agent."""
    if inbound.observed or not all(isinstance(part, Text) for part in inbound.parts):
        return ""
    return plain_text(inbound.parts).strip()


def _may_answer(tx: Transaction, place: Place, turn_id: TurnId, rules: Rules) -> bool:
    """Tell whether the question was for them: where several speak, for whoever was answered."""
    if place.address.kind is Kind.DM:
        return True
    if place.sender_key is None:
        return False
    if not is_multi_user(place.address, rules.scopes_for(place.address.platform)):
        return True
    return any(
        row["sender_key"] == place.sender_key
        or (place.person_key is not None and row["person_key"] == place.person_key)
        for row in tx.all("list_askers", turn_id=turn_id)
    )
