"""What somebody said where others speak too: it goes with its answers, and the rest stays."""

from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.notice import QUOTING
from threadline.core.session import TitleSource
from threadline.core.turn import UNFINISHED, TurnId, TurnState
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.forgetting import messages
from threadline.sessions.forgetting.branches import drop_spent_title
from threadline.sessions.forgetting.ledger import Work
from threadline.sessions.forgetting.pages import drop_pages
from threadline.sessions.forgetting.session import clear_carried
from threadline.sessions.search.index import unindex_title
from threadline.sessions.turns.close import close_turn
from threadline.storage.database import Row, SqlValue, expect

_LINES = 16
_END = 2**62


def expand(work: Work, key: int) -> None:
    """Find the turns in which they spoke, or were answered again, while that can be told."""
    titled = _titled_alike(work, key)
    # Relatives may be older or younger: all are locked in the order of their keys.
    for one in sorted(titled | {key}):
        opened = work.open(one)
        if opened is None:
            continue
        with opened as chronicle:
            if one in titled:
                _drop_title(chronicle)
            drop_pages(work, chronicle)
    ours: dict[str, SqlValue] = {"session_key": key, "forgetting_id": work.id}
    for row in work.tx.all("list_turns_of_speech", **ours):
        work.add_task("turn", row.number("turn_id"))
    for row in work.tx.all("list_turns_after_speech", **ours):
        work.add_task("turn", row.number("id"))
    work.add_task("lines", key)


def _titled_alike(work: Work, key: int) -> set[int]:
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


def _drop_title(chronicle: Chronicle) -> None:
    """Take a title away, unless a person has given another one since it was found."""
    row = expect(chronicle.tx, "read_remains", key=chronicle.key)
    if row["title"] is not None and row["titled_by"] != TitleSource.PERSON:
        unindex_title(chronicle.tx, chronicle.key)
        chronicle.tx.run("drop_title", key=chronicle.key)
        chronicle.tell(EventKind.SESSION_CHANGED)


def _is_forgotten(work: Work, sender_key: int) -> bool:
    subject = str(sender_key)
    task = work.tx.one("find_task", forgetting_id=work.id, step="sender", subject=subject)
    return task is not None


def empty_turn(work: Work, turn_id: int) -> bool:
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
    with opened as chronicle:
        if row.text("state") in UNFINISHED:
            why = "Stopped, because its sender is being forgotten."
            stopped, kind = TurnState.STOPPED, MarkerKind.STOPPED
            close_turn(chronicle, TurnId(turn_id), stopped, kind, why)
            row = expect(tx, "read_turn_place", id=turn_id)
        answers = _answers(work, chronicle, turn_id, row)
        if answers:
            places = messages.empty(work, answers)
            chronicle.tell(EventKind.TRANSCRIPT_CHANGED, min(places))
            return False
        for owed in tx.all("list_owed_by_turn", turn_id=turn_id):
            tx.one("abandon_delivery", id=owed.number("id"), error=None)
            chronicle.tell(EventKind.DELIVERY_ABANDONED, owed.number("id"))
        tx.run("strip_deliveries", turn_id=turn_id)
        tx.run("strip_pieces", turn_id=turn_id)
        if tx.one("strip_turn", id=turn_id) is not None:
            chronicle.tell(EventKind.SESSION_CHANGED)
        tx.run("drop_chunks", turn_id=turn_id)
    return True


def _answers(work: Work, chronicle: Chronicle, turn_id: int, row: Row) -> list[Row]:
    if row["first_seq"] is None:
        return []
    next_seq = row.number_or_none("next_seq")
    return work.tx.all(
        "list_answers",
        session_key=chronicle.key,
        turn_id=turn_id,
        from_seq=row.number("first_seq"),
        to_seq=_END if next_seq is None else next_seq,
        most=_LINES,
    )


def empty_lines(work: Work, key: int) -> bool:
    """Empty a slice of what they said in a session, then what quotes it; True when all is gone."""
    opened = work.open(key)
    if opened is None:
        return True
    with opened as chronicle:
        said = work.tx.all(
            "list_speech", session_key=key, forgetting_id=work.id, most=_LINES
        ) or _notes(work, key)
        if said:
            places = messages.empty(work, said)
            chronicle.tell(EventKind.TRANSCRIPT_CHANGED, min(places, default=1))
            return False
        # Somebody may have shared it again while lines of it were still there.
        drop_pages(work, chronicle)
        work.tx.run("drop_summary", key=key)
        # Nobody can tell what of theirs an agent has written down for itself.
        work.tx.run("drop_memory", key=key)
        drop: dict[str, SqlValue] = {"spoken_in": key, "reach": _END}
        work.tx.all("drop_covering_summaries", session_key=key, **drop)
        chronicle.tell(EventKind.TRANSCRIPT_CHANGED, 1)
        drop_spent_title(chronicle)
    _clear_relatives(work, key)
    work.counts["shared"] += 1
    return True


def _notes(work: Work, key: int) -> list[Row]:
    for opening in QUOTING:
        notes = work.tx.all("list_notes", session_key=key, pattern=f"{opening}%", most=_LINES)
        if notes:
            return notes
    return []


def _clear_relatives(work: Work, key: int) -> None:
    """Take what they said out of sessions that came after, or that share these lines."""
    followers = {row.number("key") for row in work.tx.all("list_followers", key=key)}
    sharers = work.tx.all("list_sharers", key=key)
    reach = {row.number("key"): row.number("reach") for row in sharers}
    # All of them came after this one: so its lock, and then theirs, are taken in key order.
    for one in sorted(followers | reach.keys()):
        opened = work.open(one)
        if opened is None:
            continue
        with opened as chronicle:
            drop_pages(work, chronicle)
            if one in followers:
                clear_carried(work, chronicle)
                work.tx.run("drop_memory", key=one)
            if one in reach:
                drop: dict[str, SqlValue] = {"spoken_in": key, "reach": reach[one]}
                work.tx.all("drop_covering_summaries", session_key=one, **drop)
                work.tx.run("drop_memory", key=one)
                chronicle.tell(EventKind.TRANSCRIPT_CHANGED, 1)
                drop_spent_title(chronicle)
