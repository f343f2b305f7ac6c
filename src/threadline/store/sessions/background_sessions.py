"""The background: something is done in a session of its own, beside the conversation."""

from threadline.core.inbound import Inbound
from threadline.core.message import NewMessage, Part, Role, plain_text
from threadline.core.session import Cause, SessionId, TitleSource
from threadline.core.turn import TurnId
from threadline.core.validation import first_words
from threadline.database.port import Transaction, expect
from threadline.store import queries
from threadline.store.people.address_book import look_up, upsert_address
from threadline.store.people.aliases import resolve_inbound
from threadline.store.session_writer import SessionState
from threadline.store.sessions.bindings import SessionOwner, create_unbound_session


def create_background_session(
    tx: Transaction, inbound: Inbound, parts: tuple[Part, ...], *, parent: SessionId | None
) -> tuple[SessionId, TurnId]:
    """Begin a session that belongs to whoever asks, and queue a turn that answers where they did.

    No route is bound to it: the conversation there goes on as it was.
    """
    named = resolve_inbound(tx, inbound)
    place = upsert_address(tx, named, inbound.address, look_up(tx, named, inbound.address))
    before = None
    if parent is not None:
        before = expect(tx, "read_seat", SessionState, key=queries.session_key(tx, parent))
    seat = SessionOwner(
        profile=place.profile,
        platform=inbound.address.platform,
        kind=inbound.address.kind,
        address_key=place.address_key,
        sender_key=place.sender_key,
    )
    opening = create_unbound_session(
        tx,
        seat,
        before,
        Cause.BACKGROUND,
        title=first_words(plain_text(parts)),
        titled_by=TitleSource.FIRST_WORDS,
    )
    with opening.writer as writer:
        turn_id = writer.queue_turn(place.address_key, inbound=inbound)
        if place.greeting is not None:
            writer.keep(place.greeting, turn_id)
        message = NewMessage(role=Role.USER, parts=parts)
        writer.keep(message, turn_id, place.sender_key, inbound=inbound)
    return writer.id, turn_id
