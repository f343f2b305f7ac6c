"""Create deliveries: of replies, questions, operator replies and texts, and of resends."""

from collections.abc import Sequence

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.agent import Question
from threadline.core.approval import name_question
from threadline.core.delivery import (
    STREAMER_FIRST,
    Delivery,
    DeliveryId,
    DeliveryState,
    is_carried_out,
)
from threadline.core.errors import Conflict, NotFound
from threadline.core.event import EventKind
from threadline.core.message import Attachment, Part, pack, words
from threadline.core.platform import Choice
from threadline.core.turn import OwnerId, TurnId
from threadline.core.validation import checked_text, checked_type
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.deliveries.buttons import offer_answers, pack_choices
from threadline.store.deliveries.payload import (
    DeliveryPayload,
    read_parcel,
    require_delivery,
    telling,
)
from threadline.store.people.address_book import remember_address
from threadline.store.session_writer import SessionWriter


class QuestionNotice(Question, frozen=True, kw_only=True):
    """Words in the place of a question that cannot be answered where they are read."""


class TurnPlace(Struct, frozen=True, kw_only=True):
    """Where a turn was asked, how many targets it has, and how much it owed before."""

    address_key: int
    platform: str
    targets: int
    owed: int


class _StreamedPart(Struct, frozen=True, kw_only=True):
    """A delivery that was streamed, and its place."""

    id: DeliveryId
    address_key: int


class LastPart(Struct, frozen=True, kw_only=True):
    """The last delivery of a turn to a place."""

    id: DeliveryId
    part: int
    until_seq: int | None
    """The last line that it carries; None: it still grows."""


def create_reply(
    writer: SessionWriter,
    turn_id: TurnId,
    ended: TurnPlace,
    question: Question | None = None,
    *,
    deliver: bool = True,
) -> None:
    """Owe what a turn said since it was last carried, and perhaps a question that it asks.

    It goes to the targets of the turn, if it has some. Else it goes back to where it was asked,
    unless whoever is there reads it in the store.
    """
    asked_on = (writer.session.platform, ended.platform)
    is_read_here = not deliver or not all(is_carried_out(platform) for platform in asked_on)
    if ended.targets or not is_read_here:
        _owe(writer, turn_id, ended, question)
    elif ended.owed:
        complete_streams(writer, turn_id, question)


def _owe(
    writer: SessionWriter, turn_id: TurnId, ended: TurnPlace, question: Question | None
) -> None:
    places = [ended.address_key]
    if ended.targets:
        places = writer.tx.all("list_targets", int, turn_id=turn_id)
    streamed = complete_streams(writer, turn_id, question) if ended.owed else set()
    for address_key in places:
        if address_key not in streamed:
            _owe_part(writer, turn_id, address_key, question, is_first=not ended.owed)


def complete_streams(
    writer: SessionWriter, turn_id: TurnId, question: Question | None = None
) -> set[int]:
    """Give what a turn streams its end, so that what is missing is carried; answer the places."""
    completed = writer.tx.all(
        "complete_streams",
        _StreamedPart,
        turn_id=turn_id,
        until_seq=writer.last_seq,
        text=None if question is None else question.text,
        choices=_choices(writer, turn_id, question),
        held_until=stamp(writer.tx.now + STREAMER_FIRST),
        now=writer.at,
    )
    for part in completed:
        writer.tell(EventKind.DELIVERY_PENDING, part.id)
    return {part.address_key for part in completed}


def _owe_part(
    writer: SessionWriter,
    turn_id: TurnId,
    address_key: int,
    question: Question | None,
    *,
    is_first: bool,
) -> None:
    part = after_seq = 0
    if not is_first:
        part, after_seq = next_part(writer.tx, turn_id, address_key)
    owed = add_delivery(
        writer,
        turn_id,
        address_key,
        state=DeliveryState.PENDING,
        part=part,
        after_seq=after_seq,
        until_seq=writer.last_seq,
        question=question,
    )
    writer.tell(EventKind.DELIVERY_PENDING, owed)


def next_part(tx: Transaction, turn_id: TurnId, address_key: int) -> tuple[int, int]:
    """Answer which part of a turn comes next at a place, and after which line it begins."""
    last = tx.one("read_last_part", LastPart, turn_id=turn_id, address_key=address_key)
    return (0, 0) if last is None else (last.part + 1, last.until_seq or 0)


def add_delivery(
    writer: SessionWriter,
    turn_id: TurnId,
    address_key: int,
    *,
    state: DeliveryState,
    part: int,
    after_seq: int,
    until_seq: int | None,
    question: Question | None = None,
    streamed_by: OwnerId | None = None,
) -> DeliveryId:
    """Write down a delivery of a turn, with a notice that is due there."""
    session, now = writer.session, writer.at
    notice = session.notice if session.told_at is None and part == 0 else None
    owed = expect(
        writer.tx,
        "owe_delivery",
        DeliveryId,
        session_key=writer.key,
        turn_id=turn_id,
        address_key=address_key,
        state=state,
        notice=notice,
        part=part,
        after_seq=after_seq,
        until_seq=until_seq,
        text=None if question is None else question.text,
        parts=None,
        choices=_choices(writer, turn_id, question),
        sender_key=None,
        streamed_by=streamed_by,
        now=now,
    )
    if notice is not None:
        writer.tx.run("mark_told", key=writer.key, now=now)
    return owed


def _choices(writer: SessionWriter, turn_id: TurnId, question: Question | None) -> str | None:
    if question is None or isinstance(question, QuestionNotice):
        return None
    nth = expect(writer.tx, "count_questions", int, id=turn_id)
    name = name_question(turn_id, nth)
    return pack_choices(offer_answers(name, question, writer.session.kind))


def create_operator_reply(writer: SessionWriter, address_key: int) -> None:
    """Owe the last line of a session, which a person said in the agent's place."""
    owed = expect(
        writer.tx,
        "owe_delivery",
        DeliveryId,
        session_key=writer.key,
        turn_id=None,
        address_key=address_key,
        state=DeliveryState.PENDING,
        notice=None,
        part=0,
        after_seq=writer.last_seq - 1,
        until_seq=writer.last_seq,
        text=None,
        parts=None,
        choices=None,
        sender_key=None,
        streamed_by=None,
        now=writer.at,
    )
    writer.tell(EventKind.DELIVERY_PENDING, owed)


def create_text_delivery(
    tx: Transaction,
    address: Address,
    text: str,
    *,
    attachments: Sequence[Attachment] = (),
    choices: Sequence[Choice] = (),
    session_key: int | None = None,
    sender_key: int | None = None,
) -> DeliveryId:
    """Owe words that stand in no transcript: the answer to a command, or something sent by hand.

    With a session its feed tells of it; no writer of that session may be open just now. With a
    sender it is forgotten with them.
    """
    checked_text(text, "text")
    files = [_stored(tx, checked_type(file, "attachment", Attachment)) for file in attachments]
    parts: tuple[Part, ...] = (*(words(text) if text or not files else ()), *files)
    plain, packed = pack(parts)
    address_key = remember_address(tx, checked_type(address, "address", Address))
    with telling(tx, session_key) as tell:
        owed = expect(
            tx,
            "owe_delivery",
            DeliveryId,
            session_key=session_key,
            turn_id=None,
            address_key=address_key,
            state=DeliveryState.PENDING,
            notice=None,
            part=0,
            after_seq=0,
            until_seq=0,
            text=plain,
            parts=packed,
            choices=pack_choices(choices),
            sender_key=sender_key,
            streamed_by=None,
            now=stamp(tx.now),
        )
        tell(EventKind.DELIVERY_PENDING, owed)
    return owed


def _stored(tx: Transaction, file: Attachment) -> Attachment:
    if not tx.exists("find_blob", hash=file.blob):
        raise NotFound("An attachment was never stored", id=file.blob)
    return file


def resend(tx: Transaction, id: DeliveryId) -> Delivery:
    """Owe something once more that was given up; what its platform has taken is not sent again.

    Words that stand in no transcript are forgotten when they are given up: they are gone.
    """
    with telling(tx, require_delivery(tx, id).session_key) as tell:
        if not tx.exists("owe_again", id=id, now=stamp(tx.now)):
            raise Conflict("This was not lost", id=str(id), hint="It was sent, or still will be")
        parcel = read_parcel(tx, id)
        if not parcel.text and not parcel.attachments:
            raise Conflict("Its text was not kept", id=str(id), hint="Write it again")
        tell(EventKind.DELIVERY_PENDING, id)
    return parcel.delivery


def read_delivery(tx: Transaction, id: DeliveryId) -> Delivery:
    """Read how far a delivery got."""
    return require_delivery(tx, id).delivery


def read_whole(tx: Transaction, id: DeliveryId) -> DeliveryPayload:
    """Read a delivery that must be there with everything that has to be said."""
    require_delivery(tx, id)
    return read_parcel(tx, id)
