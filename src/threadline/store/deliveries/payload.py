"""Payload: a delivery with everything that has to be said, and how far it was carried."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.delivery import Delivery, DeliveryId, SentPiece, compose
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.message import (
    Attachment,
    Marker,
    MarkerKind,
    Message,
    Part,
    Role,
    plain_text,
)
from threadline.core.platform import Choice
from threadline.core.session import SessionId
from threadline.database.port import Transaction, expect
from threadline.store.deliveries.buttons import unpack_choices
from threadline.store.session_writer import add_global_event, write_session_by_key

END_OF_TURN = 2**63 - 1
"""The place after the last line that a turn can have."""
Tell: TypeAlias = Callable[[EventKind, int], None]


class OwedDelivery(Struct, frozen=True, kw_only=True):
    """A delivery, and the session it belongs to."""

    id: DeliveryId
    session_key: int | None


Owed = TypeVar("Owed", bound=OwedDelivery)


class StoredDelivery(Struct, frozen=True, kw_only=True):
    """A delivery, with all that is stored with it."""

    delivery: Delivery
    session_key: int | None
    address_key: int
    after_seq: int
    until_seq: int | None
    parts: tuple[Part, ...] | None
    choices: tuple[tuple[str, str], ...] = ()
    pieces: int
    reply_to: str | None


class DeliveryPayload(Struct, frozen=True, kw_only=True):
    """A delivery that is ours to send, and what has to be said."""

    delivery: Delivery
    messages: Sequence[Message]
    words: Sequence[Part] = ()
    """Words of its own: a question, the answer to a command, something sent by hand."""
    choices: tuple[Choice, ...] = ()
    """What can be pressed under these words."""
    pieces: Sequence[SentPiece] = ()
    """What its platform has taken already."""
    reply_to: str | None = None
    """The platform's id of the message that it replies to, where several people speak."""

    @property
    def text(self) -> str:
        """All that is to be read, in one."""
        lines = [message.text for message in self.messages]
        return compose(self.delivery.notice, [*lines, plain_text(self.words)])

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """All that is to be shown beside it."""
        parts = [part for message in self.messages for part in message.parts]
        return tuple(part for part in [*parts, *self.words] if isinstance(part, Attachment))

    @property
    def is_question(self) -> bool:
        """Whether a turn waits for the answer to it."""
        return self.delivery.turn_id is not None and bool(self.words)


def read_parcel(tx: Transaction, id: int) -> DeliveryPayload:
    """Read a delivery with what has to be said."""
    stored = expect(tx, "read_delivery", StoredDelivery, id=id)
    return DeliveryPayload(
        delivery=stored.delivery,
        messages=_lines(tx, stored),
        words=stored.parts or (),
        choices=unpack_choices(stored.choices),
        pieces=tuple(tx.all("list_pieces", SentPiece, id=id)) if stored.pieces else (),
        reply_to=stored.reply_to,
    )


def require_delivery(tx: Transaction, id: DeliveryId) -> StoredDelivery:
    """Read a delivery that must be there."""
    stored = tx.one("read_delivery", StoredDelivery, id=id)
    if stored is None:
        raise NotFound("There is no such delivery", id=str(id))
    return stored


def _lines(tx: Transaction, stored: StoredDelivery) -> Sequence[Message]:
    delivery, until = stored.delivery, stored.until_seq
    if delivery.session_id is None:
        return ()
    if delivery.turn_id is None:
        return _line(tx, stored, delivery.session_id)
    lines = tx.all(
        "list_reply",
        Message,
        session_id=delivery.session_id,
        turn_id=delivery.turn_id,
        after_seq=stored.after_seq,
        until_seq=END_OF_TURN if until is None else until,
    )
    shown = [
        line
        for at, line in enumerate(lines)
        if not _is_interruption(line) or (until is not None and not _is_said_in(lines[at + 1 :]))
    ]
    return tuple(_mark_once(shown))


def _line(tx: Transaction, stored: StoredDelivery, id: SessionId) -> Sequence[Message]:
    """Read what a person said in the agent's place; nothing, if it was forgotten since."""
    key, seq = stored.session_key, stored.delivery.seq
    if seq is None:
        return ()
    return tx.all("read_owed_line", Message, session_key=key, session_id=id, seq=seq)


def _mark_once(lines: Sequence[Message]) -> Iterator[Message]:
    """Leave out all marks of an interruption after the first one.

    The first one stays, as what was sent already must not change.
    """
    is_marked = False
    for line in lines:
        if is_marked:
            parts = tuple(part for part in line.parts if not _is_mark(part))
            if parts:
                yield replace(line, parts=parts)
        else:
            is_marked = any(_is_mark(part) for part in line.parts)
            yield line


def _is_mark(part: Part) -> bool:
    return isinstance(part, Marker) and part.kind is MarkerKind.INTERRUPTED


def _is_interruption(line: Message) -> bool:
    """Tell the mark that a turn was cut off before it had said anything since."""
    return line.role is Role.SYSTEM and all(_is_mark(part) for part in line.parts)


def _is_said_in(lines: Sequence[Message]) -> bool:
    return any(line.role is Role.ASSISTANT for line in lines)


@contextmanager
def telling(tx: Transaction, session_key: int | None) -> Iterator[Tell]:
    """Tell what becomes of a delivery, in the writer of its session if it has one."""
    if session_key is not None:
        with write_session_by_key(tx, session_key) as writer:
            yield writer.tell
        return

    yield lambda kind, subject: add_global_event(tx, kind, subject)


def in_lock_order(deliveries: Sequence[Owed]) -> list[Owed]:
    """Sort deliveries so that sessions are locked in one order everywhere, and nobody waits."""
    return sorted(deliveries, key=lambda owed: (owed.session_key or 0, owed.id))
