"""Segments: whose rows its lines are, and which of them are out of sight."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from threadline.core.errors import NotFound
from threadline.core.hidden_range import HiddenRange, HiddenRangeKind
from threadline.core.session import SessionId
from threadline.database.port import Transaction

Span: TypeAlias = tuple[int, int]
"""The first and the last sequence number of a stretch."""

DEEPEST_BASE = 64
"""How many sessions a branch may stand on; the next one gets rows of its own."""

_BRIDGE = 32
"""A gap of so few lines is read and dropped, as asking again would cost more."""


class Segment(Struct, frozen=True, kw_only=True):
    """A stretch of a transcript whose rows belong to one session."""

    session_key: int
    session_id: SessionId
    first: int
    last: int
    depth: int
    """How many sessions that one stands on itself."""
    revision: int | None
    """The revision at which it is shown; None: as it is now."""
    has_observed: bool
    """Whether a turn of that session shows what was said in its chat between others."""


class _ListedSegment(Struct, frozen=True, kw_only=True):
    """A segment, and how many cuts of its session are in effect, if it is the last one."""

    segment: Segment
    live_cuts: int


class TranscriptLayout(Struct, frozen=True, kw_only=True):
    """The segments of a transcript, oldest first, and the cuts in effect."""

    id: SessionId
    segments: tuple[Segment, ...]
    cuts: tuple[HiddenRange, ...]

    @property
    def own(self) -> Segment:
        """The session's own rows."""
        return self.segments[-1]

    @property
    def last_seq(self) -> int:
        """The last sequence number."""
        return self.own.last

    @property
    def compaction(self) -> HiddenRange | None:
        """The compaction whose summary the model is shown: it covers all the others."""
        found = [cut for cut in self.cuts if cut.kind is HiddenRangeKind.COMPACTED]
        return max(found, key=lambda cut: (cut.to_seq, cut.key), default=None)

    def hidden(self) -> tuple[Span, ...]:
        """Answer what nobody is shown, in order and without overlap."""
        return _joined(
            (cut.from_seq, cut.to_seq)
            for cut in self.cuts
            if cut.kind is not HiddenRangeKind.COMPACTED
        )

    def hidden_from_model(self) -> tuple[Span, ...]:
        """Answer what the model is not shown, in order and without overlap."""
        return _joined((cut.from_seq, cut.to_seq) for cut in self.cuts)

    def is_shown(self, seq: int) -> bool:
        """Tell whether a line is there and in sight of people."""
        return 1 <= seq <= self.last_seq and not is_within(self.hidden(), seq)

    def count_shown(self, first: int) -> int:
        """Count the lines in sight from one on; there are no gaps between the numbers."""
        covered = sum(
            last - max(begin, first) + 1 for begin, last in self.hidden() if last >= first
        )
        return self.last_seq - first + 1 - covered


def layout_of(tx: Transaction, id: SessionId) -> TranscriptLayout:
    """Read the layout of a session's transcript."""
    rows = tx.all("list_segments", _ListedSegment, id=id, deepest=DEEPEST_BASE)
    if not rows:
        raise NotFound("There is no such session", id=id)
    own = rows[-1]
    cuts: Sequence[HiddenRange] = ()
    if own.live_cuts:
        cuts = tx.all("list_cuts", HiddenRange, session_key=own.segment.session_key)
    return TranscriptLayout(id=id, segments=tuple(row.segment for row in rows), cuts=tuple(cuts))


def is_within(spans: Sequence[Span], seq: int) -> bool:
    """Tell whether a line is in one of these stretches, which are in order."""
    if not spans:
        return False
    at = bisect_right(spans, (seq, 2**62))
    return at > 0 and spans[at - 1][1] >= seq


def pieces(
    layout: TranscriptLayout, hidden: Sequence[Span], *, after: int, before: int
) -> Iterator[tuple[Segment, Span]]:
    """Answer which rows have to be read between two places, oldest first.

    Long gaps are left out; short ones are in, and their lines have to be dropped.
    """
    shown = list(_between(hidden, after + 1, min(before - 1, layout.last_seq)))
    for segment in layout.segments:
        for begin, end in shown:
            first, last = max(begin, segment.first), min(end, segment.last)
            if first <= last:
                yield segment, (first, last)


def _between(hidden: Sequence[Span], first: int, last: int) -> Iterator[Span]:
    for begin, end in hidden:
        if end - begin >= _BRIDGE and end >= first:
            if first < begin:
                yield first, min(begin - 1, last)
            first = end + 1
    if first <= last:
        yield first, last


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)
