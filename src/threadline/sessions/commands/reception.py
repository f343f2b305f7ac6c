"""The reception of commands from a platform: once each, at their time, with an answer owed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from threadline.core.access import voucher_of
from threadline.core.command import Call, WhileRunning, parse_command
from threadline.core.delivery import DeliveryId
from threadline.core.envelope import is_from_screen, unseal
from threadline.core.errors import Conflict, Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, plain_text
from threadline.core.platform import Choice
from threadline.core.rank import Rank
from threadline.core.route import canonical_sender
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.turn import OwnerId
from threadline.sessions import waiting as waiting_commands
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.outcome import Outcome
from threadline.sessions.chronicle import Chronicle, chronicle_of, open_chronicle
from threadline.sessions.commands import carry_out, check_call
from threadline.sessions.commands.ask import Compress, Reply, Waited
from threadline.sessions.conversations import NewId
from threadline.sessions.deliveries.owe import owe_words
from threadline.sessions.explain import explain
from threadline.sessions.gateways import unreached, unserved
from threadline.sessions.people.aliases import rename
from threadline.sessions.people.persons import remember_sender
from threadline.sessions.phrases import span
from threadline.sessions.waiting import keep_waiting, take_place, wake_next
from threadline.storage.database import Transaction

WAITS = "That waits until what was asked before has been answered."


def take(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rank: Rank,
    owner: OwnerId,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    session: SessionId | None = None,
) -> Reply | None:
    """Carry out a command, or let it wait for its time; None: the same message came before.

    With a session it was given on a screen that shows this one, where its answer is read.
    """
    outcome.lock(tx, rename(tx, inbound))
    reply = outcome.once(
        tx,
        inbound,
        _take,
        inbound,
        call,
        rank=rank,
        rules=rules,
        now=now,
        new_id=new_id,
        session=session,
    )
    if reply is None or not isinstance(reply.errand, Compress):
        return reply
    chronicle, on_screen = open_chronicle(tx, reply.errand.session_id, now), session is not None
    place = take_place(chronicle, inbound, rank, owner, on_screen=on_screen)
    return replace(reply, errand=replace(reply.errand, place=place))


def _take(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rank: Rank,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    session: SessionId | None,
) -> Reply:
    check_call(call, rank)
    _require_fresh(unreached(tx, inbound, now), rules)
    _note_voucher(tx, inbound)
    id = session or _session_here(tx, inbound, rules, now)
    reply = None
    if id is not None and call.command.while_running is WhileRunning.WAIT:
        # So that nothing ends meanwhile.
        locked = open_chronicle(tx, id, now)
        if keep_waiting(locked, inbound, rank, rules, on_screen=session is not None):
            reply = Reply(text=WAITS, session_id=session)
    if reply is None:
        reply = carry_out(
            tx, inbound, call, rules=rules, now=now, new_id=new_id, rank=rank, session=session
        )
    return reply if session is not None else _owe(tx, inbound, reply, rules, now)


def refuse(
    tx: Transaction, inbound: Inbound, why: str, *, rules: Rules, now: datetime
) -> Reply | None:
    """Owe the sender the reason why a message or command was not stored, once.

    The same message may come again: it is not remembered as received, only that its sender was
    told. Return the reply, or None if the message has been received meanwhile.
    """
    named = rename(tx, outcome.require_message(inbound))
    outcome.lock(tx, named)
    known = outcome.in_known_form(tx, named)
    before, reply = outcome.find(tx, known), Reply(text=why)
    if before is not None:
        return reply if before["outcome"] == Outcome.REFUSED else None
    outcome.note(tx, known, Outcome.REFUSED)
    return _owe(tx, inbound, reply, rules, now)


def carry_out_waiting(
    tx: Transaction,
    id: int,
    *,
    owner: OwnerId,
    dead: frozenset[OwnerId],
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Waited | None:
    """Carry out a command whose time has come; None if somebody else was quicker."""
    waiting = tx.one("read_waiting_command", id=id)
    if waiting is None:
        return None
    with chronicle_of(tx, waiting.number("session_key"), now) as chronicle:
        begun = waiting_commands.begin(tx, id, owner, dead, now=now)
        if begun is None:
            return None
        inbound, rank = unseal(begun.text("inbound")), Rank(begun.text("rank"))
        session = chronicle.id if is_from_screen(begun.text("inbound")) else None
    queued_at = begun.moment("queued_at")
    _require_fresh(
        unreached(tx, inbound, now, arrived_at=queued_at) + unserved(tx, queued_at, now), rules
    )
    reply = _carry_out_in(chronicle, inbound, rank, rules, new_id, session=session)
    if waiting["owner"] is None:
        # Else somebody began with it, and said so.
        _owe(tx, inbound, reply, rules, now, session=session)
    if isinstance(reply.errand, Compress):
        reply = replace(reply, errand=replace(reply.errand, place=id))
    else:
        waiting_commands.end(tx, id, owner, now=now)
    return Waited(inbound=inbound, reply=reply)


def refuse_waiting(
    tx: Transaction, id: int, why: str, *, rules: Rules, now: datetime
) -> Waited | None:
    """Answer a command that waited and then failed; None if somebody else was quicker."""
    waiting = tx.one("read_waiting_command", id=id)
    if waiting is None:
        return None
    with chronicle_of(tx, waiting.number("session_key"), now) as chronicle:
        taken = tx.one("take_waiting_command", id=id)
        if taken is None:
            return None
        wake_next(chronicle)
    inbound = unseal(taken.text("inbound"))
    session = chronicle.id if is_from_screen(taken.text("inbound")) else None
    reply = _owe(tx, inbound, Reply(text=why), rules, now, session=session)
    return Waited(inbound=inbound, reply=reply)


def _carry_out_in(
    chronicle: Chronicle,
    inbound: Inbound,
    rank: Rank,
    rules: Rules,
    new_id: NewId,
    *,
    session: SessionId | None,
) -> Reply:
    """Carry out a command in the session that it was given in, and in no other."""
    tx, now = chronicle.tx, chronicle.now
    call = parse_command(plain_text(inbound.parts).strip())
    if call is None:
        raise Invalid("This command no longer exists", hint="/help lists the commands")
    if (session or _session_here(tx, inbound, rules, now)) != chronicle.id:
        raise Conflict(f"/{call.command.name} was not carried out: the conversation has changed")
    return carry_out(
        tx, inbound, call, rules=rules, now=now, new_id=new_id, rank=rank, session=session
    )


def _require_fresh(age: timedelta, rules: Rules) -> None:
    """Refuse a command that arrived late or waited through an outage for too long."""
    if not rules.is_fresh(age):
        raise Conflict(
            f"This command was not carried out: it was {span(age)} late", hint="Send it again"
        )


def _session_here(
    tx: Transaction, inbound: Inbound, rules: Rules, now: datetime
) -> SessionId | None:
    found = explain(
        tx, inbound.address, inbound.sender, profile=inbound.profile, rules=rules, now=now
    )
    return found.session_id if found.cause is None else None


def _owe(
    tx: Transaction,
    inbound: Inbound,
    reply: Reply,
    rules: Rules,
    now: datetime,
    *,
    session: SessionId | None = None,
) -> Reply:
    """Owe an answer to where it was asked; a secret one is said directly, and not kept."""
    if reply.text and not reply.is_secret and not reply.is_carried:
        about = session or _session_here(tx, inbound, rules, now)
        owe_answer(tx, inbound, reply.text, choices=reply.choices, about=about, now=now)
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
    now: datetime,
) -> DeliveryId:
    """Owe an answer that is forgotten with whoever asked, and with the session it is about."""
    session = None if about is None else tx.one("find_session_key", id=about)
    return owe_words(
        tx,
        inbound.address,
        text,
        attachments=attachments,
        choices=choices,
        session_key=None if session is None else session.number("key"),
        sender_key=_sender_key(tx, inbound),
        now=now,
    )
