"""Retention: how long conversations are kept, and how much of them."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct, field

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.session import Origin
from threadline.core.validation import checked_count, checked_span

PRUNE_LEAST = timedelta(days=1)
"""Nothing younger is ever pruned because of its age."""


class Retention(Struct, frozen=True, kw_only=True):
    """Which conversations go by themselves. Without anything said, none does.

    The rule of the origin wins, then that of the platform, then that of the kind, then `keep`.
    """

    keep: timedelta | None = None
    """How long after its last activity a session is kept; None: for ever."""
    by_origin: Mapping[Origin, timedelta] = field(default_factory=dict)
    by_platform: Mapping[str, timedelta] = field(default_factory=dict)
    by_kind: Mapping[Kind, timedelta] = field(default_factory=dict)
    most_bytes: int | None = None
    """How much all conversations may hold; beyond that the longest silent ones go first."""
    unbind_after: timedelta | None = None
    """After how long a silence a route is let go; its transcript stays."""

    def __post_init__(self) -> None:
        """Refuse spans in which somebody may still be speaking."""
        spans = (self.keep, *self.by_origin.values(), *self.by_platform.values())
        for span in (*spans, *self.by_kind.values(), self.unbind_after):
            if span is not None and checked_span(span, "time of keeping") < PRUNE_LEAST:
                raise Invalid(f"A conversation is kept for at least {PRUNE_LEAST.days} day")
        if self.most_bytes is not None:
            checked_count(self.most_bytes, "most bytes", 1)

    @property
    def prunes(self) -> bool:
        """Whether any session may go because of it."""
        ages = (*self.by_origin, *self.by_platform, *self.by_kind)
        return self.keep is not None or bool(ages) or self.most_bytes is not None

    def span_for(self, platform: str, kind: Kind, origin: Origin) -> timedelta | None:
        """Answer how long a session is kept; None: for ever."""
        if origin in self.by_origin:
            return self.by_origin[origin]
        if platform in self.by_platform:
            return self.by_platform[platform]
        return self.by_kind.get(kind, self.keep)
