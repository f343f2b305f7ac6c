"""The reception of commands from a platform: once each, at their time, with an answer owed."""

from datetime import datetime

from threadline.core.command import Call, WhileRunning, parse_command
from threadline.core.envelope import unseal
from threadline.core.errors import Conflict, Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import plain_text
from threadline.core.rank import Rank
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.sessions.arrivals import outcome
from threadline.sessions.chronicle import Chronicle, chronicle_of, open_chronicle
from threadline.sessions.commands import carry_out, check_call
from threadline.sessions.commands.ask import Reply
from threadline.sessions.conversations import NewId
from threadline.sessions.deliveries.owe import owe_words
from threadline.sessions.explain import explain
from threadline.sessions.people.aliases import rename
from threadline.sessions.waiting import keep_waiting, wake_next
from threadline.storage.database import Transaction

WAITS = "That waits until what was asked before has been answered."


def take(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rank: Rank,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Reply | None:
    """Carry out a command, or let it wait for its time; None: the same message came before."""
    outcome.lock(tx, rename(tx, inbound))
    return outcome.once(
        tx, inbound, _take, inbound, call, rank=rank, rules=rules, now=now, new_id=new_id
    )


def _take(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rank: Rank,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Reply:
    check_call(call, rank)
    id = _session_here(tx, inbound, rules, now)
    if id is not None and call.command.while_running is WhileRunning.WAIT:
        key = open_chronicle(tx, id, now).key
        if keep_waiting(tx, key, inbound, rank):
            return _owe(tx, inbound, Reply(text=WAITS), now)
    reply = carry_out(tx, inbound, call, rules=rules, now=now, new_id=new_id, rank=rank)
    return _owe(tx, inbound, reply, now)


def refuse(tx: Transaction, inbound: Inbound, why: str, *, now: datetime) -> Reply | None:
    """Answer a command that failed, and of which nothing is stored; None: it came before."""
    outcome.lock(tx, rename(tx, inbound))
    return outcome.once(tx, inbound, _owe, inbound, Reply(text=why), now)


def carry_out_waiting(
    tx: Transaction, id: int, *, rules: Rules, now: datetime, new_id: NewId
) -> bool:
    """Carry out a command whose time has come; False if somebody else was quicker."""
    waiting = tx.one("read_waiting_command", id=id)
    if waiting is None:
        return False
    with chronicle_of(tx, waiting.number("session_key"), now) as chronicle:
        taken = tx.one("take_waiting_command", id=id)
        if taken is None:
            return False
        inbound, rank = unseal(taken.text("inbound")), Rank(taken.text("rank"))
    reply = _carry_out_in(chronicle, inbound, rank, rules, new_id)
    _owe(tx, inbound, reply, now)
    _wake(tx, chronicle)
    return True


def refuse_waiting(tx: Transaction, id: int, why: str, *, now: datetime) -> bool:
    """Answer a command that waited and then failed; False if somebody else was quicker."""
    waiting = tx.one("read_waiting_command", id=id)
    if waiting is None:
        return False
    with chronicle_of(tx, waiting.number("session_key"), now) as chronicle:
        taken = tx.one("take_waiting_command", id=id)
        if taken is None:
            return False
        wake_next(chronicle)
    inbound = unseal(taken.text("inbound"))
    _owe(tx, inbound, Reply(text=why), now)
    return True


def _carry_out_in(
    chronicle: Chronicle, inbound: Inbound, rank: Rank, rules: Rules, new_id: NewId
) -> Reply:
    """Carry out a command in the session that it was given in, and in no other."""
    tx, now = chronicle.tx, chronicle.now
    call = parse_command(plain_text(inbound.parts).strip())
    if call is None:
        raise Invalid("This command does not exist any more", hint="/help lists the commands")
    if _session_here(tx, inbound, rules, now) != chronicle.id:
        raise Conflict(f"/{call.command.name} was not carried out: the conversation is another one")
    return carry_out(tx, inbound, call, rules=rules, now=now, new_id=new_id, rank=rank)


def _wake(tx: Transaction, before: Chronicle) -> None:
    # Begun anew, as the command may have written a chronicle of its own.
    with chronicle_of(tx, before.key, before.now) as chronicle:
        wake_next(chronicle)


def _session_here(
    tx: Transaction, inbound: Inbound, rules: Rules, now: datetime
) -> SessionId | None:
    found = explain(
        tx, inbound.address, inbound.sender, profile=inbound.profile, rules=rules, now=now
    )
    return found.session_id if found.cause is None else None


def _owe(tx: Transaction, inbound: Inbound, reply: Reply, now: datetime) -> Reply:
    """Owe an answer to where it was asked; a secret one is said directly, and not kept."""
    if reply.text and not reply.is_secret:
        owe_words(tx, inbound.address, reply.text, now=now)
    return reply
