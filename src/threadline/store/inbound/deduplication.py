"""Deduplication: what came of something that arrived, remembered so that it comes only once."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Concatenate, ParamSpec, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Part
from threadline.core.route import Route, canonical_chat, canonical_sender
from threadline.core.session import Cause, SessionId
from threadline.core.turn import TurnId
from threadline.database.port import SqlValue, Transaction
from threadline.store.people.address_book import KnownParties
from threadline.store.people.aliases import ALIASED_PLATFORMS, ids_like, resolve_inbound

P = ParamSpec("P")
T = TypeVar("T")


class InboundOutcome(StrEnum):
    """What came of something that arrived."""

    QUEUED = "queued"
    """It has a turn of its own."""
    JOINED = "joined"
    """It became part of a turn that was waiting already."""
    OBSERVED = "observed"
    """It was kept as context and starts no turn."""
    CHANGED = "changed"
    """An earlier message reads differently now, or is gone."""
    EARLY = "early"
    """It changes a message that has not arrived yet, and waits for it."""
    IGNORED = "ignored"
    """There was nothing to change: a newer edit had come before, or the message is gone."""
    ANSWERED = "answered"
    """A turn that waited for an answer has it."""
    COMMAND = "command"
    """It was a command, and has been carried out."""
    REFUSED = "refused"
    """Nothing of it was stored and its sender was told why; if it comes again it is new."""


class KnownArrival(Struct, frozen=True, kw_only=True):
    """What is stored of something that arrived."""

    outcome: InboundOutcome
    session_id: SessionId | None
    turn_id: TurnId | None
    message_key: int | None


class EarlyChange(Struct, frozen=True, kw_only=True):
    """An edit or a deletion that came before its message."""

    kind: InboundKind
    version: int
    parts: tuple[Part, ...]
    at: datetime
    sender_id: str | None


class Arrival(Struct, frozen=True, kw_only=True):
    """What came of something that arrived."""

    outcome: InboundOutcome
    session_id: SessionId | None
    turn_id: TurnId | None
    is_repeated: bool = False
    """It had arrived before, and nothing new was done."""
    route: Route | None = None
    cause: Cause | None = None
    """Why a session began with it; None if it went on in one."""
    stopped_id: TurnId | None = None
    """The running turn that it interrupted."""


def lock_message(tx: Transaction, inbound: Inbound) -> None:
    """Hold off other arrivals of the same message, and the forgetting of its sender."""
    tx.run("lock_arrival", **message_identity(inbound), sender_id=sender_id(inbound))


def sender_id(inbound: Inbound) -> str | None:
    """Return the id by which the store knows the sender."""
    return canonical_sender(inbound.address.platform, inbound.sender)


def in_known_form(tx: Transaction, inbound: Inbound) -> Inbound:
    """Name a message's dm as it was called when the message, or a change of it, first arrived.

    That was another name if an alias has been learned since.
    """
    address = inbound.address
    if address.platform not in ALIASED_PLATFORMS or address.kind is not Kind.DM:
        return inbound
    chat = tx.one("find_known_form", str, **message_identity(inbound))
    return inbound if chat is None else replace(inbound, address=replace(address, chat=chat))


def find_earlier(tx: Transaction, inbound: Inbound) -> KnownArrival | None:
    """Return an earlier arrival of the same thing, or None."""
    if inbound.message_id is None:
        return None
    return tx.one("find_arrival", KnownArrival, **inbound_identity(inbound))


def arrival_in(known: KnownParties) -> KnownArrival | None:
    """Return what `look_up` found of an earlier arrival of the same message."""
    if known.outcome is None:
        return None
    return KnownArrival(
        outcome=InboundOutcome(known.outcome),
        session_id=known.session_id,
        turn_id=known.turn_id,
        message_key=known.message_key,
    )


def settled_outcome(
    tx: Transaction, inbound: Inbound, known: KnownArrival | None
) -> Arrival | None:
    """Return what came of an arrival the first time, or None if it is still to be received.

    An earlier refusal is no outcome: its row is deleted, so that this transaction can store
    another one.
    """
    if known is not None and known.outcome is InboundOutcome.REFUSED:
        tx.run("drop_refusal", **inbound_identity(inbound))
    return repeated(known)


def repeated(known: KnownArrival | None) -> Arrival | None:
    """Return what came of an arrival the first time; None if it is new or was refused."""
    if known is None or known.outcome is InboundOutcome.REFUSED:
        return None
    return Arrival(
        outcome=known.outcome,
        session_id=known.session_id,
        turn_id=known.turn_id,
        is_repeated=True,
    )


def record_outcome(
    tx: Transaction,
    inbound: Inbound,
    outcome: InboundOutcome,
    *,
    session_key: int | None = None,
    turn_id: TurnId | None = None,
    message_key: int | None = None,
) -> None:
    """Remember what came of an arrival, in the same transaction."""
    if inbound.message_id is not None:
        tx.run(
            "add_arrival",
            **inbound_identity(inbound),
            outcome=outcome,
            session_key=session_key,
            turn_id=turn_id,
            message_key=message_key,
        )


def once(
    tx: Transaction,
    inbound: Inbound,
    verb: Callable[Concatenate[Transaction, P], T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T | None:
    """Run a command's verb and return its result, or None if the same message did so before."""
    known = in_known_form(tx, resolve_inbound(tx, require_message(inbound)))
    if settled_outcome(tx, known, find_earlier(tx, known)) is not None:
        return None
    record_outcome(tx, known, InboundOutcome.COMMAND)
    return verb(tx, *args, **kwargs)


def require_message(inbound: Inbound) -> Inbound:
    """Return an inbound that is a message; raise Invalid for an edit or a deletion."""
    if inbound.kind is not InboundKind.MESSAGE:
        raise Invalid(f"A command is a message, not a {inbound.kind}")
    return inbound


def find_message(tx: Transaction, inbound: Inbound) -> KnownArrival | None:
    """Return the arrival of the message that an edit or a deletion is about, or None.

    A message that was refused has not arrived.
    """
    kind = InboundKind.MESSAGE
    known = tx.one("find_arrival", KnownArrival, kind=kind, version=0, **message_identity(inbound))
    return None if known is None or known.outcome is InboundOutcome.REFUSED else known


def take_early(tx: Transaction, message: Inbound) -> list[EarlyChange]:
    """Take the changes that came before their message, in order, without edits by other senders."""
    author = sender_id(message)
    changes = tx.all("take_early_changes", EarlyChange, **message_identity(message))
    ids = ids_like(tx, message.address.platform, [author]) if changes and author else None
    own = [
        change
        for change in changes
        if change.kind is not InboundKind.EDIT
        or ids is None
        or change.sender_id is None
        or change.sender_id in ids
    ]
    return sorted(own, key=lambda change: (change.version, change.kind))


def message_identity(inbound: Inbound) -> dict[str, SqlValue]:
    """Answer what tells a platform's message from all others."""
    return {
        "profile": inbound.profile,
        "platform": inbound.address.platform,
        "account": inbound.address.account,
        "chat": canonical_chat(inbound.address, inbound.sender),
        "message_id": inbound.message_id,
    }


def inbound_identity(inbound: Inbound) -> dict[str, SqlValue]:
    """Answer what tells something that arrived from everything else."""
    return {
        "kind": inbound.kind,
        "version": inbound.version,
        **message_identity(inbound),
    }


def find_arrival(tx: Transaction, inbound: Inbound) -> Arrival | None:
    """Tell what came of something if it has arrived before."""
    return repeated(find_earlier(tx, in_known_form(tx, resolve_inbound(tx, inbound))))
