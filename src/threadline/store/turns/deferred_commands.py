"""Deferred commands: kept in the line of their session, between what was asked before and after.

Such a command is carried out when every turn before it has ended, and no turn after it begins
before that. One that takes longer than a moment keeps its place until it is done, and belongs to
whoever carries it out.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.access_level import AccessLevel
from threadline.core.command import parse_command
from threadline.core.deferred_message import decode_message, encode_message
from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import plain_text
from threadline.core.route import canonical_sender
from threadline.core.turn import OwnerId, TurnId
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.deliveries.create import create_text_delivery
from threadline.store.session_writer import SessionWriter, write_session_by_key

ERRAND_LEASE = timedelta(minutes=10)
"""So long a command may be carried out before somebody else begins with it anew."""
_SLICE = 20


class _SessionQueue(Struct, frozen=True, kw_only=True):
    """What a session has yet to do."""

    newest: TurnId
    """The turn that was asked for last; 0: none was."""
    unfinished: int
    commands: int


class BegunCommand(Struct, frozen=True, kw_only=True):
    """A command that waited, and is carried out now."""

    rank: AccessLevel
    inbound: str
    queued_at: datetime


class WaitingCommand(Struct, frozen=True, kw_only=True):
    """A command that waits in a session."""

    session_key: int
    owner: OwnerId | None
    """Who carries it out."""


class _TakenCommand(Struct, frozen=True, kw_only=True):
    """A command that waited in a session that ended."""

    id: int
    inbound: str
    owner: OwnerId | None


class _GivenCommand(Struct, frozen=True, kw_only=True):
    """A command that somebody gave, and the session in which it waits."""

    session_key: int
    id: int


def keep_waiting(
    writer: SessionWriter, inbound: Inbound, rank: AccessLevel, *, on_screen: bool = False
) -> bool:
    """Let a command wait if its session has anything to do before; False: its time is now."""
    line = expect(writer.tx, "read_line", _SessionQueue, session_key=writer.key)
    if not line.unfinished:
        return False
    if line.commands >= writer.tx.settings.queue_cap:
        raise QueueFull(id=writer.id, hint="Wait for an answer, or stop the running turn")
    _stand_in_line(writer, inbound, rank, after=line.newest, on_screen=on_screen)
    return True


def take_place(
    writer: SessionWriter,
    inbound: Inbound,
    rank: AccessLevel,
    owner: OwnerId,
    *,
    on_screen: bool = False,
) -> int:
    """Let a command that has begun stand before everything that comes later; answer its place."""
    line = expect(writer.tx, "read_line", _SessionQueue, session_key=writer.key)
    after = line.newest
    return _stand_in_line(writer, inbound, rank, after=after, owner=owner, on_screen=on_screen)


def _stand_in_line(
    writer: SessionWriter,
    inbound: Inbound,
    rank: AccessLevel,
    *,
    after: int,
    on_screen: bool,
    owner: OwnerId | None = None,
) -> int:
    until = None if owner is None else stamp(writer.tx.now + ERRAND_LEASE)
    return expect(
        writer.tx,
        "add_waiting_command",
        int,
        session_key=writer.key,
        after_turn=after,
        rank=rank,
        platform=inbound.address.platform,
        sender_id=canonical_sender(inbound.address.platform, inbound.sender),
        inbound=encode_message(inbound, on_screen=on_screen),
        owner=owner,
        lease_until=until,
        now=writer.at,
    )


def list_due_commands(tx: Transaction, dead: frozenset[OwnerId] = frozenset()) -> list[int]:
    """List a slice of the commands whose time has come, at most one of each session."""
    return tx.all("list_due_commands", int, dead=_listed(dead), now=stamp(tx.now), most=_SLICE)


def list_command_owners(tx: Transaction) -> frozenset[OwnerId]:
    """List who carries out commands that take longer than a moment."""
    return frozenset(tx.all("list_command_owners", OwnerId))


def start_command(
    tx: Transaction, id: int, owner: OwnerId, dead: frozenset[OwnerId]
) -> BegunCommand | None:
    """Take a command whose time has come for oneself; None if somebody else was quicker."""
    return tx.one(
        "begin_waiting_command",
        BegunCommand,
        id=id,
        owner=owner,
        lease_until=stamp(tx.now + ERRAND_LEASE),
        dead=_listed(dead),
        now=stamp(tx.now),
    )


def finish_command(tx: Transaction, id: int, owner: OwnerId) -> None:
    """Take a command out of the line that was carried out, and let what is behind it go on."""
    waiting = tx.one("read_waiting_command", WaitingCommand, id=id)
    if waiting is None:
        return  # Its session has ended meanwhile, or was forgotten.
    with write_session_by_key(tx, waiting.session_key) as writer:
        if tx.exists("end_waiting_command", id=id, owner=owner):
            wake_next(writer)


def _listed(owners: frozenset[OwnerId]) -> str:
    return json.dumps(sorted(owners))


def wake_next(writer: SessionWriter) -> None:
    """Tell that the next turn of a session can begin, as no command is before it any more."""
    turn_id = writer.tx.one("find_next_turn", TurnId, session_key=writer.key)
    if turn_id is not None:
        writer.tell(EventKind.TURN_QUEUED, turn_id)


def drop_waiting(writer: SessionWriter, why: str = "the conversation ended first") -> bool:
    """Let the commands go that wait in a session, and say so to whoever gave them.

    Answers whether there were any.
    """
    taken = writer.tx.all("take_waiting_commands_of", _TakenCommand, session_key=writer.key)
    # Whoever carries one out just now says what came of it.
    idle = [waiting for waiting in taken if waiting.owner is None]
    for waiting in sorted(idle, key=lambda waiting: waiting.id):
        inbound = decode_message(waiting.inbound)
        call = parse_command(plain_text(inbound.parts).strip())
        name = "The command" if call is None else f"/{call.command.name}"
        words = f"{name} was not carried out: {why}."
        create_text_delivery(writer.tx, inbound.address, words)
    return bool(taken)


def forget_waiting(tx: Transaction, platform: str, ids: Iterable[str]) -> None:
    """Let the commands go that somebody gave who is being forgotten, and what is behind them on."""
    given = [
        waiting
        for id in ids
        for waiting in tx.all(
            "list_waiting_commands_by", _GivenCommand, platform=platform, sender_id=id
        )
    ]
    for waiting in sorted(given, key=lambda waiting: (waiting.session_key, waiting.id)):
        with write_session_by_key(tx, waiting.session_key) as writer:
            if tx.exists("take_waiting_command", id=waiting.id):
                wake_next(writer)
