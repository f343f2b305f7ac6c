"""Address book: the addresses and senders that the store knows."""

from msgspec import Struct

from threadline.core.access import AccessSponsor, voucher_of
from threadline.core.address import Address, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import NewMessage
from threadline.core.person import PersonKey
from threadline.core.route import canonical_chat, canonical_sender
from threadline.core.session import SessionId
from threadline.core.system_notes import greet
from threadline.core.turn import TurnId
from threadline.core.validation import clean_title
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp

NEVER_SEEN = 0
"""The moment at which somebody was first seen of whom we have only heard."""

_LABELS = ("alt_chat", "parent", "scope", "chat_name", "topic")


class KnownParties(Struct, frozen=True, kw_only=True):
    """What the store knows of a message's place and sender, and of the message itself."""

    address_key: int | None
    alt_chat: str | None
    parent: str | None
    scope: str | None
    chat_name: str | None
    topic: str | None
    sender_key: int | None
    sender_name: str | None
    person_key: PersonKey | None
    first_seen_at: int | None
    vouched_by: AccessSponsor | None
    outcome: str | None
    """What came of the message, if it arrived before."""
    turn_id: TurnId | None
    message_key: int | None
    session_id: SessionId | None
    early: int
    """How many changes of the message came before it."""
    asked: int
    """How many turns wait for an answer in conversations that no route leads to."""


class KnownAddress(Struct, frozen=True, kw_only=True):
    """Where something is said and by whom, as the store knows them."""

    address: Address
    """As the platform wrote it, so that replies find the way back."""
    sender: Sender
    """By the id that we go by."""
    profile: str
    address_key: int
    sender_key: int | None
    person_key: int | None = None
    greeting: NewMessage | None = None


def look_up(tx: Transaction, inbound: Inbound, at: Address) -> KnownParties:
    """Read what the store knows of a message's place and sender, and whether it came before.

    The inbound is named by the ids we go by; `at` is where the platform says that it was said.
    """
    return expect(
        tx,
        "find_for_arrival",
        KnownParties,
        sender_id=canonical_sender(inbound.address.platform, inbound.sender),
        message_id=inbound.message_id,
        profile=inbound.profile,
        said_in=canonical_chat(inbound.address, inbound.sender),
        **address_identity(at),
    )


def upsert_address(
    tx: Transaction, inbound: Inbound, at: Address, known: KnownParties, *, greets: bool = True
) -> KnownAddress:
    """Make sure that the store knows a message's place and sender, by their present names.

    With `greets=False` the sender does not speak to the agent now, and is greeted when they do.
    """
    address_key, is_first = _remember_address(tx, at, known)
    sender_id = canonical_sender(inbound.address.platform, inbound.sender)
    sender_key = known.sender_key
    greeting = None
    if sender_id is not None and sender_key is None:
        sender_key = add_sender(
            tx,
            inbound.address.platform,
            sender_id,
            inbound.sender.name,
            seen_at=stamp(tx.now) if greets else NEVER_SEEN,
            voucher=voucher_of(inbound),
        )
        greeting = greet(installation=is_first) if greets else None
    elif sender_key is not None:
        if known.first_seen_at == NEVER_SEEN and greets:
            tx.run("greet_sender", key=sender_key, now=stamp(tx.now))
            greeting = greet(installation=is_first)
        _note_news(tx, sender_key, known, inbound)
    return KnownAddress(
        address=at,
        sender=inbound.sender,
        profile=inbound.profile,
        address_key=address_key,
        sender_key=sender_key,
        person_key=known.person_key,
        greeting=greeting,
    )


def address_identity(address: Address) -> dict[str, SqlValue]:
    """Answer what makes an address this one and no other."""
    return {
        "platform": address.platform,
        "account": address.account,
        "kind": address.kind,
        "chat": address.chat,
        "thread": address.thread or "",
    }


def _remember_address(tx: Transaction, address: Address, known: KnownParties) -> tuple[int, bool]:
    labels: dict[str, SqlValue] = {name: getattr(address, name) for name in _LABELS}
    key = known.address_key
    if key is None:
        is_first = not tx.exists("find_any_address")
        return expect(tx, "add_address", int, **address_identity(address), **labels), is_first
    # A payload that leaves a label out says nothing about it.
    news = {
        name: value for name, value in labels.items() if value not in (None, getattr(known, name))
    }
    if news:
        old = {name: getattr(known, name) for name in _LABELS}
        tx.run("relabel_address", key=key, **(old | news))
    return key, False


def remember_address(tx: Transaction, address: Address) -> int:
    """Find a place, or remember it."""
    key = tx.one("find_address", int, **address_identity(address))
    if key is not None:
        return key
    labels: dict[str, SqlValue] = {name: getattr(address, name) for name in _LABELS}
    return expect(tx, "add_address", int, **address_identity(address), **labels)


def add_sender(
    tx: Transaction,
    platform: str,
    id: str,
    name: str | None = None,
    *,
    seen_at: int = NEVER_SEEN,
    voucher: AccessSponsor | None = None,
) -> int:
    """Remember a sender; one who has not spoken yet will be greeted when they do."""
    cleaned = None if name is None else clean_title(name)
    return expect(
        tx,
        "add_sender",
        int,
        platform=platform,
        id=id,
        name=cleaned,
        vouched_by=voucher,
        now=seen_at,
    )


def _note_news(tx: Transaction, key: int, known: KnownParties, inbound: Inbound) -> None:
    """Remember by what name somebody goes now, and who answers for them."""
    old, name = known.sender_name, inbound.sender.name
    called = old if name is None else clean_title(name)
    voucher = voucher_of(inbound)
    if (called, voucher) != (old, known.vouched_by):
        tx.run("rename_sender", key=key, name=called, vouched_by=voucher)
