"""Taking back what was said, showing it again, and asking for another answer."""

from datetime import datetime
from itertools import islice

from threadline.core.cut import Cut, CutKind, Redone, Retried, Undone
from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.core.notice import QUOTING
from threadline.core.session import SessionId
from threadline.core.text import checked_count
from threadline.sessions.chronicle import Chronicle, open_chronicle, require_open, require_writable
from threadline.sessions.transcripts.layout import Layout, layout_of
from threadline.sessions.transcripts.lines import backwards
from threadline.sessions.transcripts.rounds import Run, runs
from threadline.sessions.transcripts.titles import follow_first_words
from threadline.storage.database import Transaction, expect


def list_cuts(tx: Transaction, id: SessionId) -> list[Cut]:
    """List the stretches of a transcript that are out of sight, in the order they were made."""
    return list(layout_of(tx, id).cuts)


def undo(tx: Transaction, id: SessionId, turns: int = 1, *, now: datetime) -> Undone:
    """Hide what a person said last, and everything after it; more turns than there are: all."""
    wanted = checked_count(turns, "number of turns", 1)
    with require_writable(open_chronicle(tx, id, now)) as chronicle:
        _require_rest(chronicle)
        layout = layout_of(tx, id)
        taken = list(islice(runs(backwards(tx, layout, layout.hidden())), wanted))
        if not taken:
            hint = "Everything was undone" if layout.last_seq else "Nobody has said anything yet"
            raise Conflict("There is nothing to undo", id=id, hint=hint)
        lines = [line for run in reversed(taken) for line in run.lines]
        first = taken[-1].first
        cut = _hide(chronicle, CutKind.UNDONE, first, user_messages=len(lines))
        lifted = _lift_compactions(chronicle, layout, first, cut)
        chronicle.user_messages -= len(lines)
        _drop_notes(chronicle)
        chronicle.tell(EventKind.TRANSCRIPT_CHANGED, first if lifted is None else lifted)
        follow_first_words(chronicle)
        return Undone(
            from_seq=first,
            messages=layout.count_shown(first),
            turns=len(taken),
            texts=tuple(line.text for line in lines if line.deleted_at is None),
        )


def redo(tx: Transaction, id: SessionId, *, now: datetime) -> Redone:
    """Show again what was undone last, if nothing was said since."""
    with require_writable(open_chronicle(tx, id, now)) as chronicle:
        hidden = [cut for cut in layout_of(tx, id).cuts if cut.kind is not CutKind.COMPACTED]
        if not any(cut.kind is CutKind.UNDONE for cut in hidden):
            raise Conflict("There is nothing to redo", id=id, hint="Nothing was undone")
        cut = hidden[-1]
        if cut.kind is not CutKind.UNDONE or cut.to_seq != chronicle.last_seq:
            raise Conflict(
                "This can no longer be redone: the conversation has continued since", id=id
            )
        _require_rest(chronicle)
        tx.run("lift_cut", key=cut.key, now=chronicle.at)
        restored = tx.all("restore_compactions", session_key=chronicle.key, by=cut.key)
        chronicle.user_messages += cut.user_messages
        first = min([cut.from_seq, *(row.number("from_seq") for row in restored)])
        chronicle.tell(EventKind.TRANSCRIPT_CHANGED, first)
        follow_first_words(chronicle)
        shown = layout_of(tx, id).count_shown(cut.from_seq)
        return Redone(from_seq=cut.from_seq, messages=shown)


def retry(tx: Transaction, id: SessionId, *, now: datetime) -> Retried:
    """Hide the last answer, and queue a turn that answers the same words once more."""
    with require_open(require_writable(open_chronicle(tx, id, now))) as chronicle:
        if chronicle.row["suspended_at"] is not None:
            raise Conflict("The session is suspended", id=id, hint="Resume it first")
        if chronicle.row["taken_at"] is not None:
            hint = "The agent answers again once it is given back"
            raise Conflict("A person has taken over this conversation", id=id, hint=hint)
        if tx.all("list_unfinished", session_key=chronicle.key):
            raise Conflict("A turn is running or waiting", id=id, hint="Stop it first")
        layout = layout_of(tx, id)
        asked = _last_run(tx, layout)
        answered = layout.count_shown(asked.last + 1)
        cut = _hide(chronicle, CutKind.RETRIED, asked.last + 1) if answered else None
        lifted = _lift_compactions(chronicle, layout, asked.first, cut)
        if answered or lifted is not None:
            first = asked.last + 1 if lifted is None else lifted
            chronicle.tell(EventKind.TRANSCRIPT_CHANGED, first)
        place = expect(tx, "read_retry_address", key=chronicle.key)
        turn_id = chronicle.queue_turn(place.number("address_key"))
        return Retried(turn_id=turn_id, messages=answered)


def _last_run(tx: Transaction, layout: Layout) -> Run:
    asked = next(runs(backwards(tx, layout, layout.hidden())), None)
    if asked is None:
        raise Conflict("There is nothing to retry", id=layout.id, hint="Say something first")
    if all(line.deleted_at is not None for line in asked.lines):
        raise Conflict(
            "There is nothing to retry: what was said last has been deleted", id=layout.id
        )
    return asked


def _drop_notes(chronicle: Chronicle) -> None:
    """Let the agent not be told of edits to what may be out of sight now."""
    for opening in QUOTING:
        chronicle.tx.run("drop_waiting_notes", session_key=chronicle.key, pattern=f"{opening}%")


def _require_rest(chronicle: Chronicle) -> None:
    """Refuse to change what a turn stands on; one whose messages have yet to come is no matter."""
    if chronicle.tx.one("find_turn_in_the_way", session_key=chronicle.key) is not None:
        raise Conflict("A turn is under way", id=chronicle.id, hint="Stop it first")


def _hide(chronicle: Chronicle, kind: CutKind, first: int, *, user_messages: int = 0) -> int:
    """Hide everything from a line on; answer the key of the cut."""
    cut = expect(
        chronicle.tx,
        "add_cut",
        session_key=chronicle.key,
        from_seq=first,
        to_seq=chronicle.last_seq,
        kind=kind,
        summary=None,
        user_messages=user_messages,
        now=chronicle.at,
    )
    return cut.number("key")


def _lift_compactions(
    chronicle: Chronicle, layout: Layout, first: int, by: int | None
) -> int | None:
    """Lift the compactions that reach to a line; answer where the first of them begins."""
    reaching = [
        cut.from_seq for cut in layout.cuts if cut.kind is CutKind.COMPACTED and cut.to_seq >= first
    ]
    if not reaching:
        return None
    chronicle.tx.run(
        "lift_compactions",
        session_key=chronicle.key,
        from_seq=first,
        by=by,
        now=chronicle.at,
    )
    return min(reaching)
