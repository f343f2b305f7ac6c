"""The background: something is done in a session of its own, beside the conversation."""

from datetime import datetime

from threadline.core.inbound import Inbound
from threadline.core.message import NewMessage, Part, Role, plain_text
from threadline.core.rules import Rules
from threadline.core.session import Cause, SessionId, TitleSource
from threadline.core.text import first_words
from threadline.core.turn import TurnId
from threadline.sessions import views
from threadline.sessions.arrivals.places import look_up, remember
from threadline.sessions.conversations import NewId, Seat, begin_session
from threadline.sessions.people.aliases import rename
from threadline.storage.database import Transaction, expect


def begin_beside(
    tx: Transaction,
    inbound: Inbound,
    parts: tuple[Part, ...],
    *,
    parent: SessionId | None,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> tuple[SessionId, TurnId]:
    """Begin a session that belongs to whoever asks, and queue a turn that answers where they did.

    No route is bound to it: the conversation there goes on as it was.
    """
    named = rename(tx, inbound)
    place = remember(tx, named, inbound.address, look_up(tx, named, inbound.address), now)
    before = None
    if parent is not None:
        before = expect(tx, "read_seat", key=views.session_row(tx, parent).number("key"))
    seat = Seat(
        profile=place.profile,
        platform=inbound.address.platform,
        kind=inbound.address.kind,
        address_key=place.address_key,
        sender_key=place.sender_key,
    )
    opening = begin_session(
        tx,
        seat,
        before,
        Cause.BACKGROUND,
        rules=rules,
        now=now,
        new_id=new_id,
        title=first_words(plain_text(parts)),
        titled_by=TitleSource.FIRST_WORDS,
    )
    with opening.chronicle as chronicle:
        turn_id = chronicle.queue_turn(place.address_key, inbound=inbound)
        if place.greeting is not None:
            chronicle.keep(place.greeting, turn_id)
        message = NewMessage(role=Role.USER, parts=parts)
        chronicle.keep(message, turn_id, place.sender_key, inbound=inbound)
    return chronicle.id, turn_id
