"""Shared messages: it goes with its answers, and the rest stays."""

from msgspec import Struct

from threadline.core.delivery import DeliveryId
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.session import SessionId, TitleSource
from threadline.core.turn import UNFINISHED, TurnId, TurnState
from threadline.database.port import SqlValue, expect
from threadline.store.deletion import messages
from threadline.store.deletion.branches import drop_spent_title
from threadline.store.deletion.messages import DoomedMessage
from threadline.store.deletion.share_cleanup import drop_pages, note_files
from threadline.store.deletion.tasks import DeletionSlice, Remains, Sharer
from threadline.store.search.index import unindex_title
from threadline.store.session_writer import SessionWriter
from threadline.store.transcripts.notes import WHOLE, drop_retellings, list_notes
from threadline.store.turns.terminate import close_turn

_LINES = 16
_END = 2**62


class _TurnPlace(Struct, frozen=True, kw_only=True):
    """Where the messages of a turn begin, and where those of the next one do."""

    session_key: int
    state: TurnState
    first_seq: int | None
    next_seq: int | None


def expand(work: DeletionSlice, key: int) -> None:
    """Find the turns in which they spoke, or were answered again, while that can be told."""
    titled = _titled_alike(work, key)
    # Relatives may be older or younger: all are locked in the order of their keys.
    for one in sorted(titled | {key}):
        opened = work.open(one)
        if opened is None:
            continue
        with opened as writer:
            if one in titled:
                _drop_title(writer)
            drop_pages(work, writer)
    ours: dict[str, SqlValue] = {"session_key": key, "forgetting_id": work.id}
    for turn_id in work.tx.all("list_turns_of_speech", TurnId, **ours):
        work.add_task("turn", turn_id)
    for turn_id in work.tx.all("list_turns_after_speech", TurnId, **ours):
        work.add_task("turn", turn_id)
    work.add_task("lines", key)


def _titled_alike(work: DeletionSlice, key: int) -> set[int]:
    """Find where a title that was made of their words stands, also as an inherited one."""
    session = work.tx.one("read_remains", Remains, key=key)
    if session is None or session.title is None or session.titled_by is TitleSource.PERSON:
        return set()
    speaker = work.tx.one("find_first_speaker", int, session_key=key)
    is_theirs = speaker is not None and _is_forgotten(work, speaker)
    if not is_theirs and session.titled_by is not TitleSource.MODEL:
        return set()
    root = session.root_key or key
    return set(work.tx.all("list_equal_titles", int, root_key=root, title=session.title))


def _drop_title(writer: SessionWriter) -> None:
    """Take a title away, unless a person has given another one since it was found."""
    session = expect(writer.tx, "read_remains", Remains, key=writer.key)
    if session.title is not None and session.titled_by is not TitleSource.PERSON:
        unindex_title(writer.tx, writer.key)
        writer.tx.run("drop_title", key=writer.key)
        writer.tell(EventKind.SESSION_CHANGED)


def _is_forgotten(work: DeletionSlice, sender_key: int) -> bool:
    subject = str(sender_key)
    return work.tx.exists("find_task", forgetting_id=work.id, step="sender", subject=subject)


def empty_turn(work: DeletionSlice, turn_id: TurnId) -> bool:
    """Empty a slice of what was answered in a turn; True when nothing is left of it."""
    tx = work.tx
    found = tx.one("read_turn_place", _TurnPlace, id=turn_id)
    opened = None if found is None else work.open(found.session_key)
    # Again under the lock: the turn may have ended or moved to another session meanwhile.
    place = tx.one("read_turn_place", _TurnPlace, id=turn_id)
    if place is None:
        return True
    if opened is None or opened.key != place.session_key:
        return False
    with opened as writer:
        if place.state in UNFINISHED:
            why = "Stopped, because its sender is being forgotten."
            stopped, kind = TurnState.STOPPED, MarkerKind.STOPPED
            close_turn(writer, turn_id, stopped, kind, why)
            place = expect(tx, "read_turn_place", _TurnPlace, id=turn_id)
        answers = _answers(work, writer, turn_id, place)
        if answers:
            places = messages.empty(work, answers)
            writer.tell(EventKind.TRANSCRIPT_CHANGED, min(places))
            return False
        for owed in tx.all("list_owed_by_turn", DeliveryId, turn_id=turn_id):
            tx.exists("abandon_delivery", id=owed, error=None)
            writer.tell(EventKind.DELIVERY_ABANDONED, owed)
        for owed in tx.all("list_deliveries_of_turn", DeliveryId, turn_id=turn_id):
            note_files(work, owed)
        tx.run("strip_deliveries", turn_id=turn_id)
        tx.run("strip_pieces", turn_id=turn_id)
        if tx.exists("strip_turn", id=turn_id):
            writer.tell(EventKind.SESSION_CHANGED)
        tx.run("drop_chunks", turn_id=turn_id)
    return True


def _answers(
    work: DeletionSlice, writer: SessionWriter, turn_id: TurnId, place: _TurnPlace
) -> list[DoomedMessage]:
    if place.first_seq is None:
        return []
    return work.tx.all(
        "list_answers",
        DoomedMessage,
        session_key=writer.key,
        turn_id=turn_id,
        from_seq=place.first_seq,
        to_seq=_END if place.next_seq is None else place.next_seq,
        most=_LINES,
    )


def empty_lines(work: DeletionSlice, key: int) -> bool:
    """Empty a slice of what they said in a session; True when all is gone."""
    opened = work.open(key)
    if opened is None:
        return True
    with opened as writer:
        said = work.tx.all(
            "list_speech", DoomedMessage, session_key=key, forgetting_id=work.id, most=_LINES
        )
        if said:
            places = messages.empty(work, said)
            writer.tell(EventKind.TRANSCRIPT_CHANGED, min(places, default=1))
            return False
        _drop_retellings(work, writer)
        drop_spent_title(writer)
    _clear_relatives(work, key)
    work.counts["shared"] += 1
    return True


def _drop_retellings(work: DeletionSlice, writer: SessionWriter) -> None:
    """Delete what may repeat the emptied lines of a session; its summary goes elsewhere, too."""
    # Somebody may have shared it again while lines of it were still there.
    drop_pages(work, writer)
    # Nobody can tell what of theirs an agent has written down for itself.
    drop_retellings(writer, writer.key, _END)
    writer.tell(EventKind.TRANSCRIPT_CHANGED, 1)
    if list_notes(work.tx, writer.id, WHOLE, most=1):
        work.add_task("notes", f"{writer.id} {WHOLE}")


def empty_quoting_notes(work: DeletionSlice, subject: str) -> bool:
    """Empty the notes of one session that quote a message or a session; True when none is left.

    The subject is the id of the session that they quote, and the sequence number of the message.
    """
    id, _, place = subject.partition(" ")
    quoted = SessionId(id), int(place) if place else None
    found = list_notes(work.tx, *quoted, most=1)
    opened = work.open(found[0].session_key) if found else None
    if opened is None:
        return not found
    with opened as writer:
        notes = [
            DoomedMessage(key=note.key, seq=note.seq)
            for note in list_notes(work.tx, *quoted, within=writer.key)
        ]
        places = messages.empty(work, notes)
        for place_in_session in places:
            writer.tell(EventKind.MESSAGE_CHANGED, place_in_session)
        _drop_retellings(work, writer)
    _clear_relatives(work, opened.key)
    return False


def _clear_relatives(work: DeletionSlice, key: int) -> None:
    """Take what they said out of sessions that came after, or that share these lines."""
    followers = set(work.tx.all("list_followers", int, key=key))
    reach = {sharer.key: sharer.reach for sharer in work.tx.all("list_sharers", Sharer, key=key)}
    # All of them came after this one: so its lock, and then theirs, are taken in key order.
    for one in sorted(followers | reach.keys()):
        opened = work.open(one)
        if opened is None:
            continue
        with opened as writer:
            drop_pages(work, writer)
            if one in followers:
                work.tx.run("drop_memory", key=one)
            if one in reach:
                drop: dict[str, SqlValue] = {"spoken_in": key, "reach": reach[one]}
                work.tx.all("drop_covering_summaries", int, session_key=one, **drop)
                work.tx.run("drop_memory", key=one)
                writer.tell(EventKind.TRANSCRIPT_CHANGED, 1)
                drop_spent_title(writer)
