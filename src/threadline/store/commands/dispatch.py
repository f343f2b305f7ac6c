"""Dispatch: once each, at their time, with an answer owed."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.access import voucher_of
from threadline.core.access_level import AccessLevel
from threadline.core.command import Call, WhileRunning, parse_command
from threadline.core.deferred_message import decode_message, is_from_screen
from threadline.core.delivery import DeliveryId
from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, plain_text
from threadline.core.platform import Choice
from threadline.core.route import canonical_sender
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.turn import OwnerId
from threadline.database.port import Transaction
from threadline.store.accounts.accounts import find_actor, read_account
from threadline.store.accounts.tokens import find_live_token
from threadline.store.commands import carry_out, check_call
from threadline.store.commands.context import CommandReply, Compress, DeferredCommandResult
from threadline.store.deliveries.create import create_text_delivery
from threadline.store.formatting import span
from threadline.store.gateways import downtime, unreachable_time
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.store.people.aliases import resolve_inbound
from threadline.store.people.persons import remember_sender
from threadline.store.people.visibility import is_shown
from threadline.store.session_writer import SessionWriter, write_session, write_session_by_key
from threadline.store.sessions.route_explanation import explain_route
from threadline.store.turns import deferred_commands as waiting_commands
from threadline.store.turns.deferred_commands import keep_waiting, take_place, wake_next

WAITS = "That waits until what was asked before has been answered."


def receive_command(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rank: AccessLevel,
    owner: OwnerId,
    session: SessionId | None = None,
) -> CommandReply | None:
    """Carry out a command, or let it wait for its time; None: the same message came before.

    With a session it was given on a screen that shows this one, where its answer is read.
    """
    deduplication.lock_message(tx, resolve_inbound(tx, inbound))
    reply = deduplication.once(tx, inbound, _take, inbound, call, rank=rank, session=session)
    if reply is None or not isinstance(reply.errand, Compress):
        return reply
    writer, on_screen = write_session(tx, reply.errand.session_id), session is not None
    place = take_place(writer, inbound, rank, owner, on_screen=on_screen)
    return replace(reply, errand=replace(reply.errand, place=place))


def _take(
    tx: Transaction, inbound: Inbound, call: Call, *, rank: AccessLevel, session: SessionId | None
) -> CommandReply:
    check_call(call, rank)
    _require_fresh(unreachable_time(tx, inbound), tx.settings)
    _note_voucher(tx, inbound)
    id = session or _session_here(tx, inbound)
    reply = None
    if id is not None and call.command.while_running is WhileRunning.WAIT:
        # So that nothing ends meanwhile.
        locked = write_session(tx, id)
        if keep_waiting(locked, inbound, rank, on_screen=session is not None):
            reply = CommandReply(text=WAITS, session_id=session)
    if reply is None:
        reply = carry_out(tx, inbound, call, rank=rank, session=session)
    return reply if session is not None else _owe(tx, inbound, reply)


def refuse(tx: Transaction, inbound: Inbound, why: str) -> CommandReply | None:
    """Owe the sender the reason why a message or command was not stored, once.

    The same message may come again: it is not remembered as received, only that its sender was
    told. Return the reply, or None if the message has been received meanwhile.
    """
    named = resolve_inbound(tx, deduplication.require_message(inbound))
    deduplication.lock_message(tx, named)
    known = deduplication.in_known_form(tx, named)
    before, reply = deduplication.find_earlier(tx, known), CommandReply(text=why)
    if before is not None:
        return reply if before.outcome is InboundOutcome.REFUSED else None
    deduplication.record_outcome(tx, known, InboundOutcome.REFUSED)
    return _owe(tx, inbound, reply)


class _QueuedCommand(Struct, frozen=True, kw_only=True):
    """The session in which a command waits, and who carries it out."""

    session_key: int
    owner: OwnerId | None


class _Taken(Struct, frozen=True, kw_only=True):
    """A command that waits no longer, and how far its sender is let in."""

    rank: AccessLevel
    inbound: str


def carry_out_waiting(
    tx: Transaction, id: int, *, owner: OwnerId, dead: frozenset[OwnerId]
) -> DeferredCommandResult | None:
    """Carry out a command whose time has come; None if somebody else was quicker."""
    waiting = tx.one("read_waiting_command", _QueuedCommand, id=id)
    if waiting is None:
        return None
    with write_session_by_key(tx, waiting.session_key) as writer:
        begun = waiting_commands.start_command(tx, id, owner, dead)
        if begun is None:
            return None
        inbound, rank = decode_message(begun.inbound), begun.rank
        session = writer.id if is_from_screen(begun.inbound) else None
    queued_at = begun.queued_at
    _require_fresh(
        unreachable_time(tx, inbound, arrived_at=queued_at) + downtime(tx, queued_at), tx.settings
    )
    reply = _carry_out_in(writer, inbound, rank, session=session)
    if waiting.owner is None:
        # Else somebody began with it, and said so.
        _owe(tx, inbound, reply, session=session)
    if isinstance(reply.errand, Compress):
        reply = replace(reply, errand=replace(reply.errand, place=id))
    else:
        waiting_commands.finish_command(tx, id, owner)
    return DeferredCommandResult(inbound=inbound, reply=reply)


def refuse_waiting(tx: Transaction, id: int, why: str) -> DeferredCommandResult | None:
    """Answer a command that waited and then failed; None if somebody else was quicker."""
    waiting = tx.one("read_waiting_command", _QueuedCommand, id=id)
    if waiting is None:
        return None
    with write_session_by_key(tx, waiting.session_key) as writer:
        taken = tx.one("take_waiting_command", _Taken, id=id)
        if taken is None:
            return None
        wake_next(writer)
    inbound = decode_message(taken.inbound)
    session = writer.id if is_from_screen(taken.inbound) else None
    reply = _owe(tx, inbound, CommandReply(text=why), session=session)
    return DeferredCommandResult(inbound=inbound, reply=reply)


def _carry_out_in(
    writer: SessionWriter, inbound: Inbound, rank: AccessLevel, *, session: SessionId | None
) -> CommandReply:
    """Carry out a command in the session that it was given in, and in no other."""
    tx = writer.tx
    call = parse_command(plain_text(inbound.parts).strip())
    if call is None:
        raise Invalid("This command no longer exists", hint="/help lists the commands")
    if (session or _session_here(tx, inbound)) != writer.id:
        raise Conflict(f"/{call.command.name} was not carried out: the conversation has changed")
    if session is not None:
        _require_still_shown(tx, inbound, session)
    return carry_out(tx, inbound, call, rank=rank, session=session)


def _require_still_shown(tx: Transaction, inbound: Inbound, id: SessionId) -> None:
    """Refuse a command from a screen whose user may not see the session any more."""
    by = find_actor(tx, inbound.address.platform, inbound.sender.id, inbound.token)
    if by is None or by.account is None:
        return  # a library's user, who has no account
    account = read_account(tx, by.account)
    is_valid = by.token is None or find_live_token(tx, by.token, account.key) is not None
    if account.ended_at is not None or not is_valid or not is_shown(tx, account, id):
        raise NotFound("There is no such session", id=id)


def _require_fresh(age: timedelta, rules: Settings) -> None:
    """Refuse a command that arrived late or waited through an outage for too long."""
    if not rules.is_fresh(age):
        raise Conflict(
            f"This command was not carried out: it was {span(age)} late", hint="Send it again"
        )


def _session_here(tx: Transaction, inbound: Inbound) -> SessionId | None:
    found = explain_route(tx, inbound.address, inbound.sender, profile=inbound.profile)
    return found.session_id if found.cause is None else None


def _owe(
    tx: Transaction, inbound: Inbound, reply: CommandReply, *, session: SessionId | None = None
) -> CommandReply:
    """Owe an answer to where it was asked; a secret one is said directly, and not kept."""
    if reply.text and not reply.is_secret and not reply.is_carried:
        about = session or _session_here(tx, inbound)
        owe_answer(tx, inbound, reply.text, choices=reply.choices, about=about)
    return reply


def _note_voucher(tx: Transaction, inbound: Inbound) -> None:
    """Remember who answers for whoever gives a command: what it begins may go on without them."""
    if (key := _sender_key(tx, inbound)) is not None:
        tx.run("vouch_sender", key=key, vouched_by=voucher_of(inbound))


def _sender_key(tx: Transaction, inbound: Inbound) -> int | None:
    """Find whoever gives a command, or remember them; None: nobody can tell who they are."""
    if canonical_sender(inbound.address.platform, inbound.sender) is None:
        return None
    return remember_sender(tx, inbound.address, inbound.sender)


def owe_answer(
    tx: Transaction,
    inbound: Inbound,
    text: str,
    *,
    attachments: Sequence[Attachment] = (),
    choices: Sequence[Choice] = (),
    about: SessionId | None,
) -> DeliveryId:
    """Owe an answer that is forgotten with whoever asked, and with the session it is about."""
    key = None if about is None else tx.one("read_session_key", int, id=about)
    return create_text_delivery(
        tx,
        inbound.address,
        text,
        attachments=attachments,
        choices=choices,
        session_key=key,
        sender_key=_sender_key(tx, inbound),
    )
