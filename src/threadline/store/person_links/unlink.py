"""Unlink: two senders are no longer one person, and nothing of either is shown to the other.

A session stays with the sender who began it. Where both spoke in one, it ends; the other one's
routes leave it, and begin anew without a word of it. What the other one wrote there and nobody has
begun to answer goes with them.
"""

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.person import Identity
from threadline.core.route import Route, parse_route, route
from threadline.core.session import EndReason, SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import first_words
from threadline.database.port import Transaction, expect
from threadline.store.accounts.accounts import note_act
from threadline.store.audit import note_audit
from threadline.store.people.address_book import remember_address
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.persons import (
    LockedSender,
    StoredPerson,
    list_linked_senders,
    sender_key_named,
    set_members,
    tell_person_changed,
)
from threadline.store.people.visibility import sender_key_of
from threadline.store.session_writer import SessionState, SessionWriter, write_session_by_key
from threadline.store.sessions.bindings import SessionOwner, open_apart
from threadline.store.sessions.session_end import end_open_session
from threadline.store.transcripts.notes import drop_retellings, empty_notes, list_notes
from threadline.store.turns.terminate import close_turn

_END = 2**62
_WHY = "Stopped, because the two senders are no longer one person."


class Parting(Struct, frozen=True, kw_only=True):
    """What became of conversations in which both spoke."""

    ended: tuple[SessionId, ...] = ()
    moved: tuple[TurnId, ...] = ()
    """Turns that nobody had begun: they wait in a session of whoever asked."""


class _PersonBinding(Struct, frozen=True, kw_only=True):
    """A route, who speaks on it, and whose session it is bound to."""

    route: Route
    sender_key: int
    session_key: int
    owner_key: int


class _CrossingNote(Struct, frozen=True, kw_only=True):
    """A session with notes that quote a session of another sender of the same person."""

    key: int
    sender_key: int
    quoted_id: SessionId
    quoted_sender_key: int


class _UnansweredLine(Struct, frozen=True, kw_only=True):
    """A message in a session of another sender of the same person, whose turn has not ended."""

    session_key: int
    profile: str
    owner_key: int
    sender_key: int
    sender_id: str
    turn_id: TurnId
    message_key: int
    text: str


class _Turn(Struct, frozen=True, kw_only=True):
    """Whether a turn has begun, and where it was asked for."""

    state: TurnState
    first_seq: int | None
    address_key: int


class _Split(Struct, frozen=True, kw_only=True):
    """The two sides, and where their senders spoke."""

    leaving: frozenset[int]
    routes: dict[tuple[int, int], Route]
    """On which route a sender spoke in a session that is not theirs any more."""

    def is_apart(self, one: int, other: int) -> bool:
        """Tell whether two senders are on different sides."""
        return (one in self.leaving) != (other in self.leaving)


def unlink(tx: Transaction, address: Address, sender: Sender) -> Parting | None:
    """Let a sender leave their person; None if they were not linked with anybody."""
    key = sender_key_of(tx, address, sender)
    parting = None if key is None else _part(tx, key)
    if parting is not None:
        note_act(tx, address, sender, "person.unlinked", "")
    return parting


def unlink_sender(
    tx: Transaction, identity: Identity, *, by: Actor | None = None
) -> Parting | None:
    """Take a sender out of their person; None if they were not linked with anybody."""
    key = sender_key_named(tx, identity)
    parting = _part(tx, key)
    if parting is not None:
        note_audit(tx, by, "person.parted", "")
    return parting


def _part(tx: Transaction, key: int) -> Parting | None:
    person_key = expect(tx, "take_sender", LockedSender, key=key).person_key
    person = None if person_key is None else tx.one("lock_person", StoredPerson, key=person_key)
    if person_key is None or person is None:
        return None
    # Ids of one human leave together.
    leaving = {key, *tx.all("list_alias_senders", int, sender_key=key)}
    senders = list_linked_senders(tx, person_key)
    going = [one for one in senders if one.key in leaving]
    staying = [one.key for one in senders if one.key not in leaving]
    if not staying:
        return None
    split = _Split(leaving=frozenset(leaving), routes={})
    parting = _part_sessions(tx, split, person_key)
    if person.name in {one.sender.name for one in going}:
        tx.run("name_person", key=person_key, name=None)
    set_members(tx, [one.key for one in going], None)
    set_members(tx, staying, person_key)
    if len(staying) == 1:
        tx.run("drop_person", key=person_key)
    for one in senders:
        tx.run("drop_link_codes", sender_key=one.key)
    tell_person_changed(tx, person_key)
    return parting


def _part_sessions(tx: Transaction, split: _Split, person_key: int) -> Parting:
    bound = [
        binding
        for binding in tx.all("list_bindings_of_person", _PersonBinding, person_key=person_key)
        if split.is_apart(binding.sender_key, binding.owner_key)
    ]
    shared = {binding.session_key for binding in bound}
    for binding in bound:
        tx.run("drop_binding", route=binding.route)
        split.routes[binding.sender_key, binding.session_key] = binding.route
    quoting = _quoting(tx, split, person_key)
    concerned = shared | {line.session_key for line in _lines(tx, split, person_key)}
    for key in sorted(concerned | quoting.keys()):
        tx.exists("lock_session_by_key", key=key)
    for key in sorted(quoting):
        _empty_quotes(write_session_by_key(tx, key), quoting[key])
    # Read again: whoever was just speaking there has finished, and nobody else can begin.
    lines = _lines(tx, split, person_key)
    ended, moved = [], []
    for key in sorted(shared | {line.session_key for line in lines}):
        with write_session_by_key(tx, key) as writer:
            moved += _take_out(writer, split, [one for one in lines if one.session_key == key])
            if key in shared and end_open_session(writer, EndReason.PARTED):
                ended.append(writer.id)
            else:
                writer.tell(EventKind.SESSION_CHANGED)
    return Parting(ended=tuple(ended), moved=tuple(moved))


def _quoting(tx: Transaction, split: _Split, person_key: int) -> dict[int, list[SessionId]]:
    """Find the sessions with notes that quote a session of the other side, and which they quote."""
    found = defaultdict[int, list[SessionId]](list)
    for note in tx.all("list_crossing_notes", _CrossingNote, person_key=person_key):
        if split.is_apart(note.sender_key, note.quoted_sender_key):
            found[note.key].append(note.quoted_id)
    return found


def _empty_quotes(writer: SessionWriter, quoted: Sequence[SessionId]) -> None:
    """Empty the notes in which a session quotes others, and what may repeat them."""
    with writer:
        for id in quoted:
            empty_notes(writer, list_notes(writer.tx, id, within=writer.key))
        drop_retellings(writer, writer.key, _END)
        writer.tell(EventKind.TRANSCRIPT_CHANGED, 1)


def _lines(tx: Transaction, split: _Split, person_key: int) -> list[_UnansweredLine]:
    """List what somebody wrote in a session of the other side, and nobody has answered yet."""
    return [
        line
        for line in tx.all("list_unanswered_of_person", _UnansweredLine, person_key=person_key)
        if split.is_apart(line.sender_key, line.owner_key)
    ]


def _take_out(
    writer: SessionWriter, split: _Split, lines: Sequence[_UnansweredLine]
) -> list[TurnId]:
    """Let nothing that a stranger asked in a session be answered there."""
    moved = []
    for turn_id in sorted({line.turn_id for line in lines}):
        own = [line for line in lines if line.turn_id == turn_id]
        turn = expect(writer.tx, "read_turn_to_move", _Turn, id=turn_id)
        if turn.state is TurnState.QUEUED and turn.first_seq is None:
            for key in sorted({line.sender_key for line in own}):
                own_lines = [line for line in own if line.sender_key == key]
                moved += _move(writer, split, turn.address_key, own_lines)
        else:
            close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _WHY)
    return moved


def _move(
    writer: SessionWriter, split: _Split, turn_place: int, lines: Sequence[_UnansweredLine]
) -> list[TurnId]:
    """Let what somebody wrote wait in a session of their own; notes of the old one stay behind."""
    tx, turn_id, sender_key = writer.tx, lines[0].turn_id, lines[0].sender_key
    is_whole = not expect(tx, "count_companions", int, turn_id=turn_id, sender_key=sender_key)
    # A turn in which others wrote, too, may be answered where one of them is.
    address_key = turn_place if is_whole else _own_place(writer, split, sender_key)
    if address_key is None:
        close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _WHY)
        return []
    with _refuge(tx, address_key, lines[0]) as fresh:
        moved_id = turn_id if is_whole else fresh.queue_turn(address_key)
        for line in lines:
            key = line.message_key
            tx.run("move_message", key=key, session_key=fresh.key, turn_id=moved_id)
            tx.run(
                "move_arrival",
                message_key=key,
                from_key=writer.key,
                session_key=fresh.key,
                turn_id=moved_id,
            )
        if is_whole:
            tx.run("move_turn", id=turn_id, session_key=fresh.key)
            tx.run("leave_notes", turn_id=turn_id, session_key=writer.key)
            writer.tell(EventKind.TURN_MOVED, turn_id)
            fresh.tell(EventKind.TURN_QUEUED, turn_id)
    return [moved_id]


def _own_place(writer: SessionWriter, split: _Split, sender_key: int) -> int | None:
    """Find where somebody spoke in a session; None: that cannot be told any more."""
    where = split.routes.get((sender_key, writer.key))
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
    return remember_address(writer.tx, address)


def _refuge(tx: Transaction, address_key: int, line: _UnansweredLine) -> SessionWriter:
    """Find the session in which somebody speaks at a place, or begin their first."""
    address = expect(tx, "read_address", Address, key=address_key)
    scopes = tx.settings.scopes_for(address.platform)
    speaker = Sender(id=line.sender_id)
    where = route(*resolve_aliases(tx, address, speaker), scopes, line.profile)
    bound = tx.one("lock_bound_session", SessionState, route=where)
    if bound is not None and bound.is_open:
        return SessionWriter(tx, bound)
    seat = SessionOwner(
        profile=line.profile,
        platform=address.platform,
        kind=address.kind,
        address_key=address_key,
        sender_key=line.sender_key,
    )
    return open_apart(tx, seat, where, title=first_words(line.text))
