"""Owing: what a turn or a person said, a question, and words that stand in no transcript."""

from collections.abc import Sequence
from datetime import datetime

from threadline.core.address import Address, Kind
from threadline.core.agent import Question
from threadline.core.approval import name_question
from threadline.core.delivery import STREAMER_FIRST, DeliveryId, DeliveryState, is_carried_out
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.message import Attachment, Part, pack, words
from threadline.core.platform import Choice
from threadline.core.text import checked_text, checked_type
from threadline.core.turn import OwnerId, TurnId
from threadline.sessions.arrivals.places import remember_address
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.deliveries.buttons import offer_answers, pack_choices
from threadline.sessions.deliveries.parcel import telling
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp


def owe_reply(
    chronicle: Chronicle,
    turn_id: TurnId,
    ended: Row,
    question: Question | None = None,
    *,
    deliver: bool = True,
) -> None:
    """Owe what a turn said since it was last carried, and perhaps a question that it asks.

    It goes to the targets of the turn, if it has some. Else it goes back to where it was asked,
    unless whoever is there reads it in the store. `ended` tells of the turn: its address, how many
    targets it has, and how much was owed before.
    """
    is_read_here = not deliver or not is_carried_out(chronicle.row.text("platform"))
    if ended.number("targets") or not is_read_here:
        _owe(chronicle, turn_id, ended, question)
    elif ended.number("owed"):
        complete_streams(chronicle, turn_id, question)


def _owe(chronicle: Chronicle, turn_id: TurnId, ended: Row, question: Question | None) -> None:
    places = [ended.number("address_key")]
    if ended.number("targets"):
        rows = chronicle.tx.all("list_targets", turn_id=turn_id)
        places = [row.number("address_key") for row in rows]
    streamed = complete_streams(chronicle, turn_id, question) if ended.number("owed") else set()
    for address_key in places:
        if address_key not in streamed:
            _owe_part(chronicle, turn_id, address_key, question, is_first=not ended.number("owed"))


def complete_streams(
    chronicle: Chronicle, turn_id: TurnId, question: Question | None = None
) -> set[int]:
    """Give what a turn streams its end, so that what is missing is carried; answer the places."""
    completed = chronicle.tx.all(
        "complete_streams",
        turn_id=turn_id,
        until_seq=chronicle.last_seq,
        text=None if question is None else question.text,
        choices=_choices(chronicle, turn_id, question),
        held_until=stamp(chronicle.now + STREAMER_FIRST),
        now=chronicle.at,
    )
    for row in completed:
        chronicle.tell(EventKind.DELIVERY_PENDING, row.number("id"))
    return {row.number("address_key") for row in completed}


def _owe_part(
    chronicle: Chronicle,
    turn_id: TurnId,
    address_key: int,
    question: Question | None,
    *,
    is_first: bool,
) -> None:
    part = after_seq = 0
    if not is_first:
        part, after_seq = next_part(chronicle.tx, turn_id, address_key)
    owed = add_delivery(
        chronicle,
        turn_id,
        address_key,
        state=DeliveryState.PENDING,
        part=part,
        after_seq=after_seq,
        until_seq=chronicle.last_seq,
        question=question,
    )
    chronicle.tell(EventKind.DELIVERY_PENDING, owed)


def next_part(tx: Transaction, turn_id: TurnId, address_key: int) -> tuple[int, int]:
    """Answer which part of a turn comes next at a place, and after which line it begins."""
    last = tx.one("read_last_part", turn_id=turn_id, address_key=address_key)
    if last is None:
        return 0, 0
    return last.number("part") + 1, last.number("until_seq")


def add_delivery(
    chronicle: Chronicle,
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
    row, now = chronicle.row, chronicle.at
    notice = row["notice"] if row["told_at"] is None and part == 0 else None
    owed = expect(
        chronicle.tx,
        "owe_delivery",
        session_key=chronicle.key,
        turn_id=turn_id,
        address_key=address_key,
        state=state,
        notice=notice,
        part=part,
        after_seq=after_seq,
        until_seq=until_seq,
        text=None if question is None else question.text,
        parts=None,
        choices=_choices(chronicle, turn_id, question),
        sender_key=None,
        streamed_by=streamed_by,
        now=now,
    )
    if notice is not None:
        chronicle.tx.run("mark_told", key=chronicle.key, now=now)
    return DeliveryId(owed.number("id"))


def _choices(chronicle: Chronicle, turn_id: TurnId, question: Question | None) -> str | None:
    if question is None:
        return None
    nth = expect(chronicle.tx, "read_turn", id=turn_id).number("questions")
    kind = Kind(chronicle.row.text("kind"))
    return pack_choices(offer_answers(name_question(turn_id, nth), question, kind))


def owe_line(chronicle: Chronicle, address_key: int) -> None:
    """Owe the last line of a session, which a person said in the agent's place."""
    owed = expect(
        chronicle.tx,
        "owe_delivery",
        session_key=chronicle.key,
        turn_id=None,
        address_key=address_key,
        state=DeliveryState.PENDING,
        notice=None,
        part=0,
        after_seq=chronicle.last_seq - 1,
        until_seq=chronicle.last_seq,
        text=None,
        parts=None,
        choices=None,
        sender_key=None,
        streamed_by=None,
        now=chronicle.at,
    )
    chronicle.tell(EventKind.DELIVERY_PENDING, owed.number("id"))


def owe_words(
    tx: Transaction,
    address: Address,
    text: str,
    *,
    attachments: Sequence[Attachment] = (),
    choices: Sequence[Choice] = (),
    session_key: int | None = None,
    sender_key: int | None = None,
    now: datetime,
) -> DeliveryId:
    """Owe words that stand in no transcript: the answer to a command, or something sent by hand.

    With a session its feed tells of it; no chronicle of that session may be open just now. With a
    sender it is forgotten with them.
    """
    checked_text(text, "text")
    files = [_stored(tx, checked_type(file, "attachment", Attachment)) for file in attachments]
    parts: tuple[Part, ...] = (*(words(text) if text or not files else ()), *files)
    plain, packed = pack(parts)
    address_key = remember_address(tx, checked_type(address, "address", Address))
    with telling(tx, session_key, now) as tell:
        owed = expect(
            tx,
            "owe_delivery",
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
            now=stamp(now),
        )
        tell(EventKind.DELIVERY_PENDING, owed.number("id"))
    return DeliveryId(owed.number("id"))


def _stored(tx: Transaction, file: Attachment) -> Attachment:
    if tx.one("find_blob", hash=file.blob) is None:
        raise NotFound("An attachment was never stored", id=file.blob)
    return file
