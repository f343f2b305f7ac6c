"""Shared messages: it goes with its answers, and the rest stays."""

from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.session import SessionId, TitleSource
from threadline.core.turn import UNFINISHED, TurnId, TurnState
from threadline.database.port import Row, SqlValue, expect
from threadline.store.deletion import messages
from threadline.store.deletion.branches import drop_spent_title
from threadline.store.deletion.share_cleanup import drop_pages, note_files
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.search.index import unindex_title
from threadline.store.session_writer import SessionWriter
from threadline.store.transcripts.notes import WHOLE, drop_retellings, list_note_rows, list_notes
from threadline.store.turns.terminate import close_turn

_LINES = 16
_END = 2**62


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
    for row in work.tx.all("list_turns_of_speech", **ours):
        work.add_task("turn", row.number("turn_id"))
    for row in work.tx.all("list_turns_after_speech", **ours):
        work.add_task("turn", row.number("id"))
    work.add_task("lines", key)


def _titled_alike(work: DeletionSlice, key: int) -> set[int]:
    """Find where a title that was made of their words stands, also as an inherited one."""
    row = work.tx.one("read_remains", key=key)
    if row is None or row["title"] is None or row["titled_by"] == TitleSource.PERSON:
        return set()
    first = work.tx.one("find_first_speaker", session_key=key)
    speaker = None if first is None else first.number_or_none("sender_key")
    is_theirs = speaker is not None and _is_forgotten(work, speaker)
    if not is_theirs and row["titled_by"] != TitleSource.MODEL:
        return set()
    root = row.number_or_none("root_key") or key
    equal = work.tx.all("list_equal_titles", root_key=root, title=row.text("title"))
    return {one.number("key") for one in equal}


def _drop_title(writer: SessionWriter) -> None:
    """Take a title away, unless a person has given another one since it was found."""
    row = expect(writer.tx, "read_remains", key=writer.key)
    if row["title"] is not None and row["titled_by"] != TitleSource.PERSON:
        unindex_title(writer.tx, writer.key)
        writer.tx.run("drop_title", key=writer.key)
        writer.tell(EventKind.SESSION_CHANGED)


def _is_forgotten(work: DeletionSlice, sender_key: int) -> bool:
    subject = str(sender_key)
    task = work.tx.one("find_task", forgetting_id=work.id, step="sender", subject=subject)
    return task is not None


def empty_turn(work: DeletionSlice, turn_id: int) -> bool:
    """Empty a slice of what was answered in a turn; True when nothing is left of it."""
    tx = work.tx
    place = tx.one("read_turn_place", id=turn_id)
    opened = None if place is None else work.open(place.number("session_key"))
    # Again under the lock: the turn may have ended or moved to another session meanwhile.
    row = tx.one("read_turn_place", id=turn_id)
    if row is None:
        return True
    if opened is None or opened.key != row.number("session_key"):
        return False
    with opened as writer:
        if row.text("state") in UNFINISHED:
            why = "Stopped, because its sender is being forgotten."
            stopped, kind = TurnState.STOPPED, MarkerKind.STOPPED
            close_turn(writer, TurnId(turn_id), stopped, kind, why)
            row = expect(tx, "read_turn_place", id=turn_id)
        answers = _answers(work, writer, turn_id, row)
        if answers:
            places = messages.empty(work, answers)
            writer.tell(EventKind.TRANSCRIPT_CHANGED, min(places))
            return False
        for owed in tx.all("list_owed_by_turn", turn_id=turn_id):
            tx.one("abandon_delivery", id=owed.number("id"), error=None)
            writer.tell(EventKind.DELIVERY_ABANDONED, owed.number("id"))
        for owed in tx.all("list_deliveries_of_turn", turn_id=turn_id):
            note_files(work, owed.number("id"))
        tx.run("strip_deliveries", turn_id=turn_id)
        tx.run("strip_pieces", turn_id=turn_id)
        if tx.one("strip_turn", id=turn_id) is not None:
            writer.tell(EventKind.SESSION_CHANGED)
        tx.run("drop_chunks", turn_id=turn_id)
    return True


def _answers(work: DeletionSlice, writer: SessionWriter, turn_id: int, row: Row) -> list[Row]:
    if row["first_seq"] is None:
        return []
    next_seq = row.number_or_none("next_seq")
    return work.tx.all(
        "list_answers",
        session_key=writer.key,
        turn_id=turn_id,
        from_seq=row.number("first_seq"),
        to_seq=_END if next_seq is None else next_seq,
        most=_LINES,
    )


def empty_lines(work: DeletionSlice, key: int) -> bool:
    """Empty a slice of what they said in a session; True when all is gone."""
    opened = work.open(key)
    if opened is None:
        return True
    with opened as writer:
        said = work.tx.all("list_speech", session_key=key, forgetting_id=work.id, most=_LINES)
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
        places = messages.empty(work, list_note_rows(work.tx, *quoted, within=writer.key))
        for place_in_session in places:
            writer.tell(EventKind.MESSAGE_CHANGED, place_in_session)
        _drop_retellings(work, writer)
    _clear_relatives(work, opened.key)
    return False


def _clear_relatives(work: DeletionSlice, key: int) -> None:
    """Take what they said out of sessions that came after, or that share these lines."""
    followers = {row.number("key") for row in work.tx.all("list_followers", key=key)}
    sharers = work.tx.all("list_sharers", key=key)
    reach = {row.number("key"): row.number("reach") for row in sharers}
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
                work.tx.all("drop_covering_summaries", session_key=one, **drop)
                work.tx.run("drop_memory", key=one)
                writer.tell(EventKind.TRANSCRIPT_CHANGED, 1)
                drop_spent_title(writer)
