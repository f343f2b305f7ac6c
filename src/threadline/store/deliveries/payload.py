"""Payload: a delivery with everything that has to be said, and how far it was carried."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

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
    unpack,
)
from threadline.core.platform import Choice
from threadline.core.session import SessionId
from threadline.database.port import Row, Transaction, expect
from threadline.store.deliveries.buttons import unpack_choices
from threadline.store.row_mappers import delivery_from, message_from
from threadline.store.session_writer import add_global_event, write_session_by_key

END_OF_TURN = 2**63 - 1
"""The place after the last line that a turn can have."""
Tell: TypeAlias = Callable[[EventKind, int], None]


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
    row = expect(tx, "read_delivery", id=id)
    delivery = delivery_from(row)
    text = row.text_or_none("text")
    return DeliveryPayload(
        delivery=delivery,
        messages=_lines(tx, row, delivery),
        words=() if text is None else unpack(text, row.text_or_none("parts")),
        choices=unpack_choices(row.text_or_none("choices")),
        pieces=_pieces(tx, id) if row.number("pieces") else (),
        reply_to=row.text_or_none("reply_to"),
    )


def require_delivery(tx: Transaction, id: DeliveryId) -> Row:
    """Read the row of a delivery that must be there."""
    row = tx.one("read_delivery", id=id)
    if row is None:
        raise NotFound("There is no such delivery", id=str(id))
    return row


def _lines(tx: Transaction, row: Row, delivery: Delivery) -> Sequence[Message]:
    if delivery.session_id is None:
        return ()
    if delivery.turn_id is None:
        return _line(tx, row, delivery.session_id, delivery.seq)
    until = row.number_or_none("until_seq")
    rows = tx.all(
        "list_reply",
        turn_id=delivery.turn_id,
        after_seq=row.number("after_seq"),
        until_seq=END_OF_TURN if until is None else until,
    )
    lines = [message_from(line, delivery.session_id) for line in rows]
    shown = [
        line
        for at, line in enumerate(lines)
        if not _is_interruption(line) or (until is not None and not _is_said_in(lines[at + 1 :]))
    ]
    return tuple(_mark_once(shown))


def _line(tx: Transaction, row: Row, id: SessionId, seq: int | None) -> Sequence[Message]:
    """Read what a person said in the agent's place; nothing, if it was forgotten since."""
    if seq is None:
        return ()
    line = tx.one("read_owed_line", session_key=row.number("session_key"), seq=seq)
    return () if line is None else (message_from(line, id),)


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


def _pieces(tx: Transaction, id: int) -> Sequence[SentPiece]:
    return tuple(
        SentPiece(
            n=row.number("n"),
            platform_id=row.text_or_none("platform_id"),
            length=row.number("length"),
        )
        for row in tx.all("list_pieces", id=id)
    )


@contextmanager
def telling(tx: Transaction, session_key: int | None) -> Iterator[Tell]:
    """Tell what becomes of a delivery, in the writer of its session if it has one."""
    if session_key is not None:
        with write_session_by_key(tx, session_key) as writer:
            yield writer.tell
        return

    yield lambda kind, subject: add_global_event(tx, kind, subject)


def in_lock_order(rows: Sequence[Row]) -> list[Row]:
    """Sort deliveries so that sessions are locked in one order everywhere, and nobody waits."""
    return sorted(rows, key=lambda row: (row.number_or_none("session_key") or 0, row.number("id")))
