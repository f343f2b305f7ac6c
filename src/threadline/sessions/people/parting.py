"""Parting: two senders are no longer one person, and nothing of either is shown to the other.

A session stays with the sender who began it. Where both spoke in one, it ends; the other one's
routes leave it, and begin anew without a word of it. What the other one wrote there and nobody has
begun to answer goes with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.notice import CARRIED_OVER, CARRIED_WITHIN
from threadline.core.person import Identity
from threadline.core.route import Route, parse_route, route
from threadline.core.rules import Rules
from threadline.core.session import EndReason, SessionId
from threadline.core.text import first_words
from threadline.core.turn import TurnId, TurnState
from threadline.sessions.arrivals.places import remember_address
from threadline.sessions.audit import note_audit
from threadline.sessions.chronicle import Chronicle, chronicle_of
from threadline.sessions.conversations import NewId, Seat, open_apart
from threadline.sessions.endings import end_chronicle
from threadline.sessions.people.aliases import resolve
from threadline.sessions.people.ownership import sender_key_of
from threadline.sessions.people.persons import sender_key_named, settle, tell_person_changed
from threadline.sessions.records import address_from_row
from threadline.sessions.search.index import reindex
from threadline.sessions.turns.close import close_turn
from threadline.storage.database import Row, Transaction, expect

_WHY = "Stopped, because the two senders are no longer one person."


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """What became of conversations in which both spoke."""

    ended: tuple[SessionId, ...] = ()
    moved: tuple[TurnId, ...] = ()
    """Turns that nobody had begun: they wait in a session of whoever asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """The two sides, and everything that is needed to begin anew."""

    leaving: frozenset[int]
    routes: dict[tuple[int, int], Route]
    """On which route a sender spoke in a session that is not theirs any more."""
    rules: Rules
    now: datetime
    new_id: NewId

    def is_apart(self, one: int, other: int) -> bool:
        """Tell whether two senders are on different sides."""
        return (one in self.leaving) != (other in self.leaving)


def unlink(
    tx: Transaction,
    address: Address,
    sender: Sender,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Parting | None:
    """Let a sender leave their person; None if they were not linked with anybody."""
    key = sender_key_of(tx, address, sender)
    return None if key is None else _part(tx, key, rules=rules, now=now, new_id=new_id)


def part(
    tx: Transaction,
    identity: Identity,
    *,
    rules: Rules,
    by: Actor | None = None,
    now: datetime,
    new_id: NewId,
) -> Parting | None:
    """Take a sender out of their person; None if they were not linked with anybody."""
    key = sender_key_named(tx, identity)
    parting = _part(tx, key, rules=rules, now=now, new_id=new_id)
    if parting is not None:
        note_audit(tx, by, "person.parted", "", now=now)
    return parting


def _part(
    tx: Transaction, key: int, *, rules: Rules, now: datetime, new_id: NewId
) -> Parting | None:
    person_key = expect(tx, "take_sender", key=key).number_or_none("person_key")
    person = None if person_key is None else tx.one("lock_person", key=person_key)
    if person_key is None or person is None:
        return None
    # Ids of one human leave together.
    leaving = {key, *(row.number("key") for row in tx.all("list_alias_senders", sender_key=key))}
    senders = tx.all("list_senders_of_person", person_key=person_key)
    going = [row for row in senders if row.number("key") in leaving]
    staying = [row for row in senders if row.number("key") not in leaving]
    if not staying:
        return None
    split = _Split(leaving=frozenset(leaving), routes={}, rules=rules, now=now, new_id=new_id)
    parting = _part_sessions(tx, split, person_key)
    if person["name"] in {row["name"] for row in going}:
        tx.run("name_person", key=person_key, name=None)
    settle(tx, [row.number("key") for row in going], None, now)
    settle(tx, [row.number("key") for row in staying], person_key, now)
    if len(staying) == 1:
        tx.run("drop_person", key=person_key)
    for row in senders:
        tx.run("drop_link_codes", sender_key=row.number("key"))
    tell_person_changed(tx, person_key, now)
    return parting


def _part_sessions(tx: Transaction, split: _Split, person_key: int) -> Parting:
    bound = [
        row
        for row in tx.all("list_bindings_of_person", person_key=person_key)
        if split.is_apart(row.number("sender_key"), row.number("owner_key"))
    ]
    shared = {row.number("session_key") for row in bound}
    for row in bound:
        tx.run("drop_binding", route=row.text("route"))
        split.routes[row.number("sender_key"), row.number("session_key")] = Route(row.text("route"))
    heirs = _heirs(tx, split, person_key)
    concerned = shared | {row.number("session_key") for row in _lines(tx, split, person_key)}
    for key in sorted(concerned | heirs):
        tx.one("lock_session_by_key", key=key)
    for key in sorted(heirs):
        _empty_quotes(chronicle_of(tx, key, split.now))
    # Read again: whoever was just speaking there has finished, and nobody else can begin.
    lines = _lines(tx, split, person_key)
    ended, moved = [], []
    for key in sorted(shared | {row.number("session_key") for row in lines}):
        with chronicle_of(tx, key, split.now) as chronicle:
            moved += _take_out(
                chronicle, split, [row for row in lines if row["session_key"] == key]
            )
            if key in shared and end_chronicle(chronicle, EndReason.PARTED):
                ended.append(chronicle.id)
            else:
                chronicle.tell(EventKind.SESSION_CHANGED)
    return Parting(ended=tuple(ended), moved=tuple(moved))


def _heirs(tx: Transaction, split: _Split, person_key: int) -> set[int]:
    """Find the sessions that came after one of the other side, and may quote it."""
    rows = tx.all("list_crossing_heirs", person_key=person_key)
    return {
        row.number("key")
        for row in rows
        if split.is_apart(row.number("sender_key"), row.number("parent_sender_key"))
    }


def _empty_quotes(chronicle: Chronicle) -> None:
    """Empty the notes in which a session quotes the one before it."""
    with chronicle:
        for opening in CARRIED_OVER:
            notes = chronicle.tx.all(
                "list_carried",
                session_key=chronicle.key,
                within=CARRIED_WITHIN,
                pattern=f"{opening}%",
            )
            for note in notes:
                reindex(chronicle.tx, note.number("key"), "")
                chronicle.tx.run("empty_message", key=note.number("key"), now=chronicle.at)
                chronicle.tell(EventKind.MESSAGE_CHANGED, note.number_or_none("seq"))


def _lines(tx: Transaction, split: _Split, person_key: int) -> list[Row]:
    """List what somebody wrote in a session of the other side, and nobody has answered yet."""
    return [
        row
        for row in tx.all("list_unanswered_of_person", person_key=person_key)
        if split.is_apart(row.number("sender_key"), row.number("owner_key"))
    ]


def _take_out(chronicle: Chronicle, split: _Split, lines: Sequence[Row]) -> list[TurnId]:
    """Let nothing that a stranger asked in a session be answered there."""
    moved = []
    for turn_id in sorted({row.number("turn_id") for row in lines}):
        own = [row for row in lines if row["turn_id"] == turn_id]
        turn = expect(chronicle.tx, "read_turn", id=turn_id)
        if turn["state"] == TurnState.QUEUED and turn["first_seq"] is None:
            for key in sorted({row.number("sender_key") for row in own}):
                own_lines = [row for row in own if row["sender_key"] == key]
                moved += _move(chronicle, split, turn, own_lines)
        else:
            close_turn(chronicle, TurnId(turn_id), TurnState.STOPPED, MarkerKind.STOPPED, _WHY)
    return moved


def _move(chronicle: Chronicle, split: _Split, turn: Row, lines: Sequence[Row]) -> list[TurnId]:
    """Let what somebody wrote wait in a session of their own; notes of the old one stay behind."""
    tx, turn_id = chronicle.tx, TurnId(turn.number("id"))
    sender_key = lines[0].number("sender_key")
    others = expect(tx, "count_companions", turn_id=turn_id, sender_key=sender_key)
    is_whole = not others.number("count")
    # A turn in which others wrote, too, may be answered where one of them is.
    address_key = (
        turn.number("address_key") if is_whole else _own_place(chronicle, split, sender_key)
    )
    if address_key is None:
        close_turn(chronicle, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _WHY)
        return []
    with _refuge(tx, split, address_key, lines[0]) as fresh:
        moved_id = turn_id if is_whole else fresh.queue_turn(address_key)
        for line in lines:
            key = line.number("message_key")
            tx.run("move_message", key=key, session_key=fresh.key, turn_id=moved_id)
            tx.run(
                "move_arrival",
                message_key=key,
                from_key=chronicle.key,
                session_key=fresh.key,
                turn_id=moved_id,
            )
        if is_whole:
            tx.run("move_turn", id=turn_id, session_key=fresh.key)
            tx.run("leave_notes", turn_id=turn_id, session_key=chronicle.key)
            chronicle.tell(EventKind.TURN_MOVED, turn_id)
            fresh.tell(EventKind.TURN_QUEUED, turn_id)
    return [moved_id]


def _own_place(chronicle: Chronicle, split: _Split, sender_key: int) -> int | None:
    """Find where somebody spoke in a session; None: that cannot be told any more."""
    where = split.routes.get((sender_key, chronicle.key))
    if where is None:
        return None
    parts = parse_route(where)
    address = Address(
        platform=parts.platform,
        kind=parts.kind,
        chat=parts.chat,
        account=parts.account,
        thread=parts.thread,
    )
    return remember_address(chronicle.tx, address)


def _refuge(tx: Transaction, split: _Split, address_key: int, line: Row) -> Chronicle:
    """Find the session in which somebody speaks at a place, or begin their first."""
    address = address_from_row(expect(tx, "read_address", key=address_key))
    scopes = split.rules.scopes_for(address.platform)
    profile = line.text("profile")
    speaker = Sender(id=line.text("sender_id"))
    where = route(*resolve(tx, address, speaker), scopes, profile)
    bound = tx.one("lock_bound_session", route=where)
    if bound is not None and bound["ended_at"] is None and bound["suspended_at"] is None:
        return Chronicle(tx, bound, split.now)
    seat = Seat(
        profile=profile,
        platform=address.platform,
        kind=address.kind,
        address_key=address_key,
        sender_key=line.number("sender_key"),
    )
    return open_apart(
        tx,
        seat,
        where,
        title=first_words(line.text("text")),
        rules=split.rules,
        now=split.now,
        new_id=split.new_id,
    )
