"""Commands that wait: kept in the line of their session, between what was asked before and after.

Such a command is carried out when every turn before it has ended, and no turn after it begins
before that.
"""

from threadline.core.command import parse_command
from threadline.core.envelope import seal, unseal
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import plain_text
from threadline.core.rank import Rank
from threadline.core.route import canonical_sender
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.deliveries.owe import owe_words
from threadline.storage.database import Transaction, expect

_SLICE = 20


def keep_waiting(tx: Transaction, session_key: int, inbound: Inbound, rank: Rank) -> bool:
    """Let a command wait if its session has anything to do before; False: its time is now.

    The session must be locked, so that nothing ends meanwhile.
    """
    line = expect(tx, "read_line", session_key=session_key)
    if not line.number("unfinished"):
        return False
    tx.run(
        "add_waiting_command",
        session_key=session_key,
        after_turn=line.number("newest"),
        rank=rank,
        inbound=seal(inbound),
    )
    return True


def list_due(tx: Transaction) -> list[int]:
    """List a slice of the commands whose time has come, at most one of each session."""
    return [row.number("id") for row in tx.all("list_due_commands", most=_SLICE)]


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
    for row in sorted(rows, key=lambda row: row.number("id")):
        inbound = unseal(row.text("inbound"))
        call = parse_command(plain_text(inbound.parts).strip())
        name = "The command" if call is None else f"/{call.command.name}"
        words = f"{name} was not carried out: {why}."
        owe_words(chronicle.tx, inbound.address, words, now=chronicle.now)
    return bool(rows)


def forget_waiting(tx: Transaction, platform: str, ids: frozenset[str]) -> None:
    """Let the commands go that somebody gave who is being forgotten."""
    for row in tx.all("list_waiting_commands"):
        inbound = unseal(row.text("inbound"))
        if inbound.address.platform == platform and (
            canonical_sender(platform, inbound.sender) in ids
        ):
            tx.run("take_waiting_command", id=row.number("id"))
