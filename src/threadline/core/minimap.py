"""The minimap: a long transcript seen from afar, in buckets of equal length."""

from dataclasses import dataclass

BUCKETS = 500
"""Into how many a transcript is put, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A stretch of a transcript, and what stands in it."""

    first_seq: int
    last_seq: int
    user: int = 0
    """How many lines people wrote in it."""
    assistant: int = 0
    tool: int = 0
    system: int = 0
    markers: int = 0
    """How many of its lines tell that something went wrong."""
    hidden: int = 0
    """How many of its lines are cut: undone, or compacted."""
