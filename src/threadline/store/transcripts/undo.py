"""Taking back what was said, showing it again, and asking for another answer."""

from itertools import islice

from msgspec import Struct

from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.core.hidden_range import HiddenRange, HiddenRangeKind, Redone, Retried, Undone
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.core.validation import checked_count
from threadline.database.port import Transaction, expect
from threadline.store.people.persons import remember_asker
from threadline.store.session_writer import (
    SessionWriter,
    require_open,
    require_writable,
    write_session,
)
from threadline.store.transcripts.exchanges import Run, group_user_lines
from threadline.store.transcripts.history import backwards
from threadline.store.transcripts.notes import drop_waiting_notes
from threadline.store.transcripts.segments import TranscriptLayout, layout_of
from threadline.store.transcripts.titles import follow_first_words


class _RetryPlace(Struct, frozen=True, kw_only=True):
    """Where the last turn was asked, and who wrote what is answered again."""

    address_key: int
    sender_key: int | None


def list_cuts(tx: Transaction, id: SessionId) -> list[HiddenRange]:
    """List the stretches of a transcript that are out of sight, in the order they were made."""
    return list(layout_of(tx, id).cuts)


def undo(tx: Transaction, id: SessionId, turns: int = 1) -> Undone:
    """Hide what a person said last, and everything after it; more turns than there are: all."""
    wanted = checked_count(turns, "number of turns", 1)
    with require_writable(write_session(tx, id)) as writer:
        _require_rest(writer)
        layout = layout_of(tx, id)
        taken = list(islice(group_user_lines(backwards(tx, layout, layout.hidden())), wanted))
        if not taken:
            hint = "Everything was undone" if layout.last_seq else "Nobody has said anything yet"
            raise Conflict("There is nothing to undo", id=id, hint=hint)
        lines = [line for run in reversed(taken) for line in run.lines]
        first = taken[-1].first
        cut = _hide(writer, HiddenRangeKind.UNDONE, first, user_messages=len(lines))
        lifted = _lift_compactions(writer, layout, first, cut)
        writer.user_messages -= len(lines)
        # The agent must not hear of edits to what is out of sight now.
        drop_waiting_notes(writer, first)
        writer.tell(EventKind.TRANSCRIPT_CHANGED, first if lifted is None else lifted)
        follow_first_words(writer)
        return Undone(
            from_seq=first,
            messages=layout.count_shown(first),
            turns=len(taken),
            texts=tuple(line.text for line in lines if line.deleted_at is None),
        )


def redo(tx: Transaction, id: SessionId) -> Redone:
    """Show again what was undone last, if nothing was said since."""
    with require_writable(write_session(tx, id)) as writer:
        hidden = [
            cut for cut in layout_of(tx, id).cuts if cut.kind is not HiddenRangeKind.COMPACTED
        ]
        if not any(cut.kind is HiddenRangeKind.UNDONE for cut in hidden):
            raise Conflict("There is nothing to redo", id=id, hint="Nothing was undone")
        cut = hidden[-1]
        if cut.kind is not HiddenRangeKind.UNDONE or cut.to_seq != writer.last_seq:
            raise Conflict(
                "This can no longer be redone: the conversation has continued since", id=id
            )
        _require_rest(writer)
        tx.run("lift_cut", key=cut.key, now=writer.at)
        restored = tx.all("restore_compactions", int, session_key=writer.key, by=cut.key)
        writer.user_messages += cut.user_messages
        first = min([cut.from_seq, *restored])
        writer.tell(EventKind.TRANSCRIPT_CHANGED, first)
        follow_first_words(writer)
        shown = layout_of(tx, id).count_shown(cut.from_seq)
        return Redone(from_seq=cut.from_seq, messages=shown)


def retry(
    tx: Transaction, id: SessionId, *, by: Viewer | None = None, is_for_asker: bool = False
) -> Retried:
    """Hide the last answer, and queue a turn that answers the same words once more.

    `by` pays for it; None: the sender of those words. The reply goes to where the last turn was
    asked, or, with `is_for_asker`, to where `by` is.
    """
    asker = None if by is None else remember_asker(tx, by)
    with require_open(require_writable(write_session(tx, id))) as writer:
        if writer.session.suspended_at is not None:
            raise Conflict("The session is suspended", id=id, hint="Resume it first")
        if writer.session.taken_at is not None:
            hint = "The agent answers again once it is given back"
            raise Conflict("A person has taken over this conversation", id=id, hint=hint)
        if tx.exists("list_unfinished", session_key=writer.key):
            raise Conflict("A turn is running or waiting", id=id, hint="Stop it first")
        layout = layout_of(tx, id)
        asked = _last_run(tx, layout)
        answered = layout.count_shown(asked.last + 1)
        cut = _hide(writer, HiddenRangeKind.RETRIED, asked.last + 1) if answered else None
        lifted = _lift_compactions(writer, layout, asked.first, cut)
        if answered or lifted is not None:
            first = asked.last + 1 if lifted is None else lifted
            writer.tell(EventKind.TRANSCRIPT_CHANGED, first)
        message_key = asked.lines[-1].key
        place = expect(tx, "read_retry", _RetryPlace, key=writer.key, message_key=message_key)
        payer = place.sender_key if asker is None or asker[0] is None else asker[0]
        address_key = asker[1] if asker is not None and is_for_asker else place.address_key
        turn_id = writer.queue_turn(address_key, asked_by=payer)
        return Retried(turn_id=turn_id, messages=answered)


def _last_run(tx: Transaction, layout: TranscriptLayout) -> Run:
    asked = next(group_user_lines(backwards(tx, layout, layout.hidden())), None)
    if asked is None:
        raise Conflict("There is nothing to retry", id=layout.id, hint="Say something first")
    if all(line.deleted_at is not None for line in asked.lines):
        raise Conflict(
            "There is nothing to retry: what was said last has been deleted", id=layout.id
        )
    return asked


def _require_rest(writer: SessionWriter) -> None:
    """Refuse to change what a turn stands on; one whose messages have yet to come is no matter."""
    if writer.tx.exists("find_turn_in_the_way", session_key=writer.key):
        raise Conflict("A turn is under way", id=writer.id, hint="Stop it first")


def _hide(
    writer: SessionWriter, kind: HiddenRangeKind, first: int, *, user_messages: int = 0
) -> int:
    """Hide everything from a line on; answer the key of the cut."""
    return expect(
        writer.tx,
        "add_cut",
        int,
        session_key=writer.key,
        from_seq=first,
        to_seq=writer.last_seq,
        kind=kind,
        summary=None,
        user_messages=user_messages,
        now=writer.at,
    )


def _lift_compactions(
    writer: SessionWriter, layout: TranscriptLayout, first: int, by: int | None
) -> int | None:
    """Lift the compactions that reach to a line; answer where the first of them begins."""
    reaching = [
        cut.from_seq
        for cut in layout.cuts
        if cut.kind is HiddenRangeKind.COMPACTED and cut.to_seq >= first
    ]
    if not reaching:
        return None
    writer.tx.run(
        "lift_compactions",
        session_key=writer.key,
        from_seq=first,
        by=by,
        now=writer.at,
    )
    return min(reaching)
