"""The lines of a transcript, walked over from either end, and what the model is shown of them."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from threadline.core.hidden_range import HiddenRange
from threadline.core.message import Message, MessageKey, Role
from threadline.core.session import SessionId
from threadline.core.system_notes import stand_in
from threadline.database.port import SqlValue, Transaction
from threadline.store.transcripts.segments import (
    Segment,
    Span,
    TranscriptLayout,
    is_within,
    layout_of,
    pieces,
)

END = 2**62
"""A sequence number after all others."""
OBSERVED_CHARACTERS = 8_000
"""How much one turn shows of what was said in its chat between others."""
LOOK_BACK = 50
"""Rows that are read at a time by whoever does not know how far to go."""


def history(tx: Transaction, id: SessionId) -> list[Message]:
    """Read what the agent is shown: without what was undone, retried or deleted.

    What was compacted is there as its summary: a line of the system, in the place of the last line
    that it stands for. It has no row, so its key is below zero. The same holds for what was said in
    the chat between others before a turn was asked.
    """
    layout = layout_of(tx, id)
    lines = forwards(tx, layout, layout.hidden_from_model(), page=END)
    said = [line for line in lines if line.deleted_at is None]
    if layout.compaction is not None:
        said.insert(0, summary_line(layout.id, layout.compaction))
    return _with_observed(tx, layout, said)


def _with_observed(tx: Transaction, layout: TranscriptLayout, said: list[Message]) -> list[Message]:
    """Add, before what is asked in each turn, what was said in its chat between others."""
    asked = [line.turn_id for line in said if line.role is Role.USER and line.turn_id is not None]
    observing = [segment for segment in layout.segments if segment.has_observed]
    if not asked or not observing:
        return said
    observed: dict[int, list[Message]] = {}
    for segment in observing:
        for line in tx.all(
            "list_observed",
            Message,
            session_key=segment.session_key,
            session_id=layout.id,
            first_turn=min(asked),
        ):
            if line.turn_id is not None:
                observed.setdefault(line.turn_id, []).append(replace(line, turn_id=None))
    lines: list[Message] = []
    for line in said:
        if line.role is Role.USER and line.turn_id is not None:
            lines += _latest(observed.pop(line.turn_id, []))
        lines.append(line)
    return lines


def _latest(heard: Sequence[Message]) -> list[Message]:
    """Take the latest of some messages, as many as one turn may show."""
    room, latest = OBSERVED_CHARACTERS, list[Message]()
    for line in reversed(heard):
        room -= len(line.text)
        if room < 0:
            break
        latest.append(line)
    return latest[::-1]


def summary_line(id: SessionId, cut: HiddenRange) -> Message:
    """Make the line that stands in the place of what was compacted."""
    return Message(
        key=MessageKey(-cut.key),
        session_id=id,
        seq=cut.to_seq,
        role=Role.SYSTEM,
        parts=stand_in(cut.summary or "").parts,
        at=cut.made_at,
    )


def forwards(
    tx: Transaction,
    layout: TranscriptLayout,
    hidden: Sequence[Span],
    *,
    after: int = 0,
    before: int = END,
    page: int = LOOK_BACK,
) -> Iterator[Message]:
    """Walk over the lines between two places that are in sight, oldest first."""
    for segment, (first, last) in pieces(layout, hidden, after=after, before=before):
        at = first - 1
        while at < last:
            lines = _read(tx, segment, at, last + 1, page, newest_first=False)
            for line in lines:
                at = line.seq or last
                if not is_within(hidden, at):
                    yield line
            if len(lines) < page:
                break


def backwards(
    tx: Transaction,
    layout: TranscriptLayout,
    hidden: Sequence[Span],
    *,
    before: int = END,
    page: int = LOOK_BACK,
) -> Iterator[Message]:
    """Walk over the lines before a place that are in sight, newest first."""
    for segment, (first, last) in reversed(list(pieces(layout, hidden, after=0, before=before))):
        at = last + 1
        while at > first:
            lines = _read(tx, segment, first - 1, at, page, newest_first=True)
            for line in lines:
                at = line.seq or first
                if not is_within(hidden, at):
                    yield line
            if len(lines) < page:
                break


def _read(
    tx: Transaction, segment: Segment, after: int, before: int, most: int, *, newest_first: bool
) -> list[Message]:
    stretch: dict[str, SqlValue] = {
        "session_key": segment.session_key,
        "session_id": segment.session_id,
        "after": after,
        "before": before,
        "most": most,
    }
    if segment.revision is None:
        return tx.all("read_page_before" if newest_first else "read_page_after", Message, **stretch)
    stretch["revision"] = segment.revision
    return tx.all("read_shared_before" if newest_first else "read_shared_after", Message, **stretch)
