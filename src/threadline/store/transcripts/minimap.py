"""The minimap of a transcript: one walk over each stretch of rows, however long it is."""

from collections.abc import Sequence

from msgspec import Struct

from threadline.core.message import Role
from threadline.core.minimap import Bucket
from threadline.core.session import SessionId
from threadline.database.port import Transaction
from threadline.store.transcripts.segments import Segment, Span, layout_of

_SIGNS = (Role.USER, Role.ASSISTANT, Role.TOOL, Role.SYSTEM, "!")
"""What the query writes for each line, and after one with a marker; none is part of another."""


class _BucketRoles(Struct, frozen=True, kw_only=True):
    """The roles of the lines of a stretch, written one after the other."""

    bucket: int
    lines: str | None


def minimap(tx: Transaction, id: SessionId, buckets: int) -> list[Bucket]:
    """Show a transcript in at most so many stretches of equal length; the last may be shorter."""
    layout = layout_of(tx, id)
    last = layout.last_seq
    width = max(1, -(-last // buckets))
    counts = [[0] * len(_SIGNS) for _ in range(-(-last // width))]
    for segment in layout.segments:
        if segment.first <= segment.last:
            _count(tx, segment, width, counts)
    hidden = layout.hidden_from_model()
    return [
        _bucket(counted, (n * width + 1, min((n + 1) * width, last)), hidden)
        for n, counted in enumerate(counts)
    ]


def _count(tx: Transaction, segment: Segment, width: int, counts: list[list[int]]) -> None:
    rows = tx.all(
        "read_buckets",
        _BucketRoles,
        session_key=segment.session_key,
        first=segment.first,
        last=segment.last,
        width=width,
        first_bucket=(segment.first - 1) // width,
        last_bucket=(segment.last - 1) // width,
    )
    for row in rows:
        for kind, sign in enumerate(_SIGNS):
            counts[row.bucket][kind] += (row.lines or "").count(sign)


def _bucket(counted: Sequence[int], span: Span, hidden: Sequence[Span]) -> Bucket:
    first, last = span
    user, assistant, tool, system, markers = counted
    return Bucket(
        first_seq=first,
        last_seq=last,
        user=user,
        assistant=assistant,
        tool=tool,
        system=system,
        markers=markers,
        hidden=sum(max(0, min(last, end) - max(first, begin) + 1) for begin, end in hidden),
    )
