"""Compaction: an old part of a conversation makes room for its summary, and can come back."""

from collections.abc import Iterable, Iterator
from itertools import islice

from threadline.core.errors import Conflict, Invalid
from threadline.core.event import EventKind
from threadline.core.hidden_range import Boundary, CutKey, HiddenRange, HiddenRangeKind
from threadline.core.message import Message, Role, ToolCall, ToolResult
from threadline.core.session import SessionId
from threadline.core.system_notes import SUMMARY_LIMIT
from threadline.core.validation import checked_count, checked_text
from threadline.database.port import Transaction, expect
from threadline.store.session_writer import require_writable, write_session
from threadline.store.transcripts.exchanges import group_user_lines
from threadline.store.transcripts.history import END, backwards, forwards, summary_line
from threadline.store.transcripts.segments import TranscriptLayout, layout_of

KEPT_TURNS = 2
"""What people said last that a compaction leaves as it is."""


def boundary(tx: Transaction, id: SessionId, *, keep: int = KEPT_TURNS) -> Boundary | None:
    """Tell what a compaction would replace now; None if there is nothing to compact."""
    layout = layout_of(tx, id)
    to_seq = _lawful_end(tx, layout, checked_count(keep, "number of turns to keep", 1))
    if to_seq is None:
        return None
    lines = forwards(tx, layout, layout.hidden_from_model(), before=to_seq + 1, page=END)
    said = [line for line in lines if line.deleted_at is None]
    if layout.compaction is not None:
        said.insert(0, summary_line(id, layout.compaction))
    return Boundary(to_seq=to_seq, messages=tuple(said))


def require_compactable(tx: Transaction, id: SessionId, *, keep: int = KEPT_TURNS) -> None:
    """Raise an error if a summary cannot be stored here, or would stand for nothing."""
    require_writable(write_session(tx, id))
    if _lawful_end(tx, layout_of(tx, id), keep) is None:
        raise _nothing(id)


def compact(
    tx: Transaction, id: SessionId, summary: str, *, upto: int | None = None, keep: int = KEPT_TURNS
) -> HiddenRange:
    """Let the model read a summary in the place of what was said first.

    It ends at the line that `boundary` told, or leaves the last turns as they are. Neither are the
    lines of a turn under way replaced, nor is a tool's result parted from its call.
    """
    if not checked_text(summary, "summary", SUMMARY_LIMIT).strip():
        raise Invalid("A summary cannot be empty", id=id, hint="Say what was said")
    with require_writable(write_session(tx, id)) as writer:
        layout = layout_of(tx, id)
        kept = checked_count(keep, "number of turns to keep", 1)
        if upto is None:
            to_seq = _lawful_end(tx, layout, kept)
        else:
            to_seq = _lawful_end(tx, layout, 1, checked_count(upto, "sequence number", 1))
        if to_seq is None:
            raise _nothing(id)
        key = expect(
            tx,
            "add_cut",
            CutKey,
            session_key=writer.key,
            from_seq=1,
            to_seq=to_seq,
            kind=HiddenRangeKind.COMPACTED,
            summary=summary,
            user_messages=0,
            now=writer.at,
        )
        writer.tell(EventKind.TRANSCRIPT_CHANGED, 1)
        return HiddenRange(
            key=key,
            kind=HiddenRangeKind.COMPACTED,
            from_seq=1,
            to_seq=to_seq,
            user_messages=0,
            summary=summary,
            made_at=tx.now,
        )


def _nothing(id: SessionId) -> Conflict:
    return Conflict("There is nothing to compact", id=id, hint="Continue for a few turns first")


def undo_compaction(tx: Transaction, id: SessionId) -> HiddenRange:
    """Let the model read again what the last compaction replaced; an earlier one holds again."""
    with require_writable(write_session(tx, id)) as writer:
        cut = layout_of(tx, id).compaction
        if cut is None:
            raise Conflict("Nothing is compacted", id=id)
        tx.run("lift_cut", key=cut.key, now=writer.at)
        writer.tell(EventKind.TRANSCRIPT_CHANGED, cut.from_seq)
        return cut


def _lawful_end(
    tx: Transaction, layout: TranscriptLayout, keep: int, upto: int | None = None
) -> int | None:
    """Find the last line that a compaction may replace; None if it would replace nothing said."""
    if upto is not None and not layout.is_shown(upto):
        raise Conflict(f"Line {upto} is no longer visible", id=layout.id, hint="Look again")
    kept = list(islice(group_user_lines(_seen_by_model(tx, layout)), keep))
    if len(kept) < keep:
        return None
    under_way = tx.one("find_first_under_way", int, session_key=layout.own.session_key)
    first = kept[-1].first if under_way is None else min(kept[-1].first, under_way)
    end = first - 1 if upto is None else min(upto, first - 1)
    found, orphans = _whole_end(_seen_by_model(tx, layout), end, frozenset())
    if orphans:
        # Their calls are nowhere, so that nothing can be parted from them.
        found, _ = _whole_end(_seen_by_model(tx, layout), end, orphans)
    return found


def _seen_by_model(tx: Transaction, layout: TranscriptLayout) -> Iterator[Message]:
    lines = backwards(tx, layout, layout.hidden_from_model())
    return (line for line in lines if line.deleted_at is None)


def _whole_end(
    newest_first: Iterable[Message], end: int, ignored: frozenset[str]
) -> tuple[int | None, frozenset[str]]:
    """Find the last line, not after an end, before which every tool call has its result.

    Answers also the results without a call, if it was because of them that there is none.
    """
    found: int | None = None
    waiting: set[str] = set()
    for line in newest_first:
        if found is None and (line.seq or 0) <= end and not waiting:
            found = line.seq
        if found is not None and line.role is not Role.SYSTEM:
            return found, frozenset()
        for part in reversed(line.parts):
            if isinstance(part, ToolResult) and part.call_id not in ignored:
                waiting.add(part.call_id)
            elif isinstance(part, ToolCall):
                waiting.discard(part.id)
    return None, frozenset(waiting)
