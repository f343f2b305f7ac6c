"""Deferred commands: kept in the line of their session, between what was asked before and after.

Such a command is carried out when every turn before it has ended, and no turn after it begins
before that. One that takes longer than a moment keeps its place until it is done, and belongs to
whoever carries it out.
"""

import json
from collections.abc import Iterable
from datetime import timedelta

from threadline.core.command import parse_command
from threadline.core.deferred_message import decode_message, encode_message
from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import plain_text
from threadline.core.role import AccessLevel
from threadline.core.route import canonical_sender
from threadline.core.turn import OwnerId
from threadline.database.port import Row, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.deliveries.create import create_text_delivery
from threadline.store.session_writer import SessionWriter, write_session_by_key

ERRAND_LEASE = timedelta(minutes=10)
"""So long a command may be carried out before somebody else begins with it anew."""
_SLICE = 20


def keep_waiting(
    writer: SessionWriter, inbound: Inbound, rank: AccessLevel, *, on_screen: bool = False
) -> bool:
    """Let a command wait if its session has anything to do before; False: its time is now."""
    line = expect(writer.tx, "read_line", session_key=writer.key)
    if not line.number("unfinished"):
        return False
    if line.number("commands") >= writer.tx.settings.queue_cap:
        raise QueueFull(id=writer.id, hint="Wait for an answer, or stop the running turn")
    after = line.number("newest")
    _stand_in_line(writer, inbound, rank, after=after, on_screen=on_screen)
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
    line = expect(writer.tx, "read_line", session_key=writer.key)
    after = line.number("newest")
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
    row = expect(
        writer.tx,
        "add_waiting_command",
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
    return row.number("id")


def list_due_commands(tx: Transaction, dead: frozenset[OwnerId] = frozenset()) -> list[int]:
    """List a slice of the commands whose time has come, at most one of each session."""
    rows = tx.all("list_due_commands", dead=_listed(dead), now=stamp(tx.now), most=_SLICE)
    return [row.number("id") for row in rows]


def list_command_owners(tx: Transaction) -> frozenset[OwnerId]:
    """List who carries out commands that take longer than a moment."""
    return frozenset(OwnerId(row.text("owner")) for row in tx.all("list_command_owners"))


def start_command(tx: Transaction, id: int, owner: OwnerId, dead: frozenset[OwnerId]) -> Row | None:
    """Take a command whose time has come for oneself; None if somebody else was quicker."""
    return tx.one(
        "begin_waiting_command",
        id=id,
        owner=owner,
        lease_until=stamp(tx.now + ERRAND_LEASE),
        dead=_listed(dead),
        now=stamp(tx.now),
    )


def finish_command(tx: Transaction, id: int, owner: OwnerId) -> None:
    """Take a command out of the line that was carried out, and let what is behind it go on."""
    waiting = tx.one("read_waiting_command", id=id)
    if waiting is None:
        return  # Its session has ended meanwhile, or was forgotten.
    with write_session_by_key(tx, waiting.number("session_key")) as writer:
        if tx.one("end_waiting_command", id=id, owner=owner) is not None:
            wake_next(writer)


def _listed(owners: frozenset[OwnerId]) -> str:
    return json.dumps(sorted(owners))


def wake_next(writer: SessionWriter) -> None:
    """Tell that the next turn of a session can begin, as no command is before it any more."""
    turn_id = expect(writer.tx, "find_next_turn", session_key=writer.key)["id"]
    if isinstance(turn_id, int):
        writer.tell(EventKind.TURN_QUEUED, turn_id)


def drop_waiting(writer: SessionWriter, why: str = "the conversation ended first") -> bool:
    """Let the commands go that wait in a session, and say so to whoever gave them.

    Answers whether there were any.
    """
    rows = writer.tx.all("take_waiting_commands_of", session_key=writer.key)
    # Whoever carries one out just now says what came of it.
    idle = [row for row in rows if row["owner"] is None]
    for row in sorted(idle, key=lambda row: row.number("id")):
        inbound = decode_message(row.text("inbound"))
        call = parse_command(plain_text(inbound.parts).strip())
        name = "The command" if call is None else f"/{call.command.name}"
        words = f"{name} was not carried out: {why}."
        create_text_delivery(writer.tx, inbound.address, words)
    return bool(rows)


def forget_waiting(tx: Transaction, platform: str, ids: Iterable[str]) -> None:
    """Let the commands go that somebody gave who is being forgotten, and what is behind them on."""
    given = [
        row
        for id in ids
        for row in tx.all("list_waiting_commands_by", platform=platform, sender_id=id)
    ]
    for row in sorted(given, key=lambda row: (row.number("session_key"), row.number("id"))):
        with write_session_by_key(tx, row.number("session_key")) as writer:
            if tx.one("take_waiting_command", id=row.number("id")) is not None:
                wake_next(writer)
