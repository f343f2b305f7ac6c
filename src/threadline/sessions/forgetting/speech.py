"""What somebody said where others speak too: it goes with its answers, and the rest stays."""

from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.notice import QUOTING
from threadline.core.session import TitleSource
from threadline.core.turn import UNFINISHED, TurnId, TurnState
from threadline.sessions.chronicle import Chronicle, chronicle_of
from threadline.sessions.forgetting import messages
from threadline.sessions.forgetting.ledger import Work
from threadline.sessions.forgetting.session import clear_carried
from threadline.sessions.search.index import unindex_title
from threadline.sessions.turns.close import close_turn
from threadline.storage.database import Row, SqlValue, expect

_LINES = 16
_END = 2**62


def expand(work: Work, key: int) -> None:
    """Find the turns in which they spoke, or were answered again, while that can be told."""
    with chronicle_of(work.tx, key, work.now) as chronicle:
        ours: dict[str, SqlValue] = {"session_key": key, "forgetting_id": work.id}
        for row in work.tx.all("list_turns_of_speech", **ours):
            work.add_task("turn", row.number("turn_id"))
        for row in work.tx.all("list_turns_after_speech", **ours):
            work.add_task("turn", row.number("id"))
        _clear_title(work, chronicle)
        work.add_task("lines", key)


def _clear_title(work: Work, chronicle: Chronicle) -> None:
    """Take away a title that was made of their words, wherever it was inherited."""
    row = expect(work.tx, "read_remains", key=chronicle.key)
    first = work.tx.one("find_first_speaker", session_key=chronicle.key)
    speaker = None if first is None else first.number_or_none("sender_key")
    is_theirs = speaker is not None and _is_forgotten(work, speaker)
    is_made = row["titled_by"] == TitleSource.MODEL
    if row["title"] is None or row["titled_by"] == TitleSource.PERSON:
        return
    if is_theirs or is_made:
        root = row.number_or_none("root_key") or chronicle.key
        for equal in work.tx.all("list_equal_titles", root_key=root, title=row.text("title")):
            if equal.number("key") == chronicle.key:
                _drop_title(chronicle)
            else:
                with chronicle_of(work.tx, equal.number("key"), work.now) as other:
                    _drop_title(other)


def _drop_title(chronicle: Chronicle) -> None:
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
    row = tx.one("read_turn_place", id=turn_id)
    if row is None:
        return True
    with chronicle_of(tx, row.number("session_key"), work.now) as chronicle:
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
        tx.run("strip_turn", id=turn_id)
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
    with chronicle_of(work.tx, key, work.now) as chronicle:
        said = work.tx.all(
            "list_speech", session_key=key, forgetting_id=work.id, most=_LINES
        ) or _notes(work, key)
        if said:
            places = messages.empty(work, said)
            chronicle.tell(EventKind.TRANSCRIPT_CHANGED, min(places, default=1))
            return False
        work.tx.run("drop_summary", key=key)
        drop: dict[str, SqlValue] = {"spoken_in": key, "reach": _END}
        work.tx.all("drop_covering_summaries", session_key=key, **drop)
        chronicle.tell(EventKind.TRANSCRIPT_CHANGED, 1)
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
    for child in work.tx.all("list_followers", key=key):
        with chronicle_of(work.tx, child.number("key"), work.now) as chronicle:
            clear_carried(work, chronicle)
    for heir in work.tx.all("list_sharers", key=key):
        with chronicle_of(work.tx, heir.number("key"), work.now) as chronicle:
            work.tx.all(
                "drop_covering_summaries",
                session_key=chronicle.key,
                spoken_in=key,
                reach=heir.number("reach"),
            )
            chronicle.tell(EventKind.TRANSCRIPT_CHANGED, 1)
