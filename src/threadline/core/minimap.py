"""The minimap: a long transcript seen from afar, in buckets of equal length."""

from msgspec import Struct

BUCKETS = 500
"""Into how many a transcript is put, at most."""


class Bucket(Struct, frozen=True, kw_only=True):
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
