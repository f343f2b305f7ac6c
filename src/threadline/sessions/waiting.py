"""Commands that wait: kept in the line of their session, between what was asked before and after.

Such a command is carried out when every turn before it has ended, and no turn after it begins
before that. One that takes longer than a moment keeps its place until it is done, and belongs to
whoever carries it out.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from threadline.core.command import parse_command
from threadline.core.envelope import seal, unseal
from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import plain_text
from threadline.core.rank import Rank
from threadline.core.route import canonical_sender
from threadline.core.rules import Rules
from threadline.core.turn import OwnerId
from threadline.sessions.chronicle import Chronicle, chronicle_of
from threadline.sessions.deliveries.owe import owe_words
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

ERRAND_LEASE = timedelta(minutes=10)
"""So long a command may be carried out before somebody else begins with it anew."""
_SLICE = 20


def keep_waiting(
    chronicle: Chronicle, inbound: Inbound, rank: Rank, rules: Rules, *, on_screen: bool = False
) -> bool:
    """Let a command wait if its session has anything to do before; False: its time is now."""
    line = expect(chronicle.tx, "read_line", session_key=chronicle.key)
    if not line.number("unfinished"):
        return False
    if line.number("commands") >= rules.queue_cap:
        raise QueueFull(id=chronicle.id, hint="Wait for an answer, or stop the running turn")
    after = line.number("newest")
    _stand_in_line(chronicle, inbound, rank, after=after, on_screen=on_screen)
    return True


def take_place(
    chronicle: Chronicle,
    inbound: Inbound,
    rank: Rank,
    owner: OwnerId,
    *,
    on_screen: bool = False,
) -> int:
    """Let a command that has begun stand before everything that comes later; answer its place."""
    line = expect(chronicle.tx, "read_line", session_key=chronicle.key)
    after = line.number("newest")
    return _stand_in_line(chronicle, inbound, rank, after=after, owner=owner, on_screen=on_screen)


def _stand_in_line(
    chronicle: Chronicle,
    inbound: Inbound,
    rank: Rank,
    *,
    after: int,
    on_screen: bool,
    owner: OwnerId | None = None,
) -> int:
    until = None if owner is None else stamp(chronicle.now + ERRAND_LEASE)
    row = expect(
        chronicle.tx,
        "add_waiting_command",
        session_key=chronicle.key,
        after_turn=after,
        rank=rank,
        platform=inbound.address.platform,
        sender_id=canonical_sender(inbound.address.platform, inbound.sender),
        inbound=seal(inbound, on_screen=on_screen),
        owner=owner,
        lease_until=until,
        now=chronicle.at,
    )
    return row.number("id")


def list_due(
    tx: Transaction, dead: frozenset[OwnerId] = frozenset(), *, now: datetime
) -> list[int]:
    """List a slice of the commands whose time has come, at most one of each session."""
    rows = tx.all("list_due_commands", dead=_listed(dead), now=stamp(now), most=_SLICE)
    return [row.number("id") for row in rows]


def list_owners(tx: Transaction) -> frozenset[OwnerId]:
    """List who carries out commands that take longer than a moment."""
    return frozenset(OwnerId(row.text("owner")) for row in tx.all("list_command_owners"))


def begin(
    tx: Transaction, id: int, owner: OwnerId, dead: frozenset[OwnerId], *, now: datetime
) -> Row | None:
    """Take a command whose time has come for oneself; None if somebody else was quicker."""
    return tx.one(
        "begin_waiting_command",
        id=id,
        owner=owner,
        lease_until=stamp(now + ERRAND_LEASE),
        dead=_listed(dead),
        now=stamp(now),
    )


def end(tx: Transaction, id: int, owner: OwnerId, *, now: datetime) -> None:
    """Take a command out of the line that was carried out, and let what is behind it go on."""
    waiting = tx.one("read_waiting_command", id=id)
    if waiting is None:
        return  # Its session has ended meanwhile, or was forgotten.
    with chronicle_of(tx, waiting.number("session_key"), now) as chronicle:
        if tx.one("end_waiting_command", id=id, owner=owner) is not None:
            wake_next(chronicle)


def _listed(owners: frozenset[OwnerId]) -> str:
    return json.dumps(sorted(owners))


def wake_next(chronicle: Chronicle) -> None:
    """Tell that the next turn of a session can begin, as no command is before it any more."""
    turn_id = expect(chronicle.tx, "find_next_turn", session_key=chronicle.key)["id"]
    if isinstance(turn_id, int):
        chronicle.tell(EventKind.TURN_QUEUED, turn_id)


def drop_waiting(chronicle: Chronicle, why: str = "the conversation ended first") -> bool:
    """Let the commands go that wait in a session, and say so to whoever gave them.

    Answers whether there were any.
    """
    rows = chronicle.tx.all("take_waiting_commands_of", session_key=chronicle.key)
    # Whoever carries one out just now says what came of it.
    idle = [row for row in rows if row["owner"] is None]
    for row in sorted(idle, key=lambda row: row.number("id")):
        inbound = unseal(row.text("inbound"))
        call = parse_command(plain_text(inbound.parts).strip())
        name = "The command" if call is None else f"/{call.command.name}"
        words = f"{name} was not carried out: {why}."
        owe_words(chronicle.tx, inbound.address, words, now=chronicle.now)
    return bool(rows)


def forget_waiting(tx: Transaction, platform: str, ids: Iterable[str], *, now: datetime) -> None:
    """Let the commands go that somebody gave who is being forgotten, and what is behind them on."""
    given = [
        row
        for id in ids
        for row in tx.all("list_waiting_commands_by", platform=platform, sender_id=id)
    ]
    for row in sorted(given, key=lambda row: (row.number("session_key"), row.number("id"))):
        with chronicle_of(tx, row.number("session_key"), now) as chronicle:
            if tx.one("take_waiting_command", id=row.number("id")) is not None:
                wake_next(chronicle)
