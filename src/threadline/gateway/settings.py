"""What a gateway must know beforehand."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from msgspec import Struct, field

from threadline.core.access import AccessRules
from threadline.core.instructions import Instructions
from threadline.core.profile_rules import ProfileRule
from threadline.core.route import MAIN_PROFILE
from threadline.gateway.compaction import COMPACT_AT
from threadline.gateway.concurrency import CONCURRENCY
from threadline.gateway.intervals import Intervals


class GatewaySettings(Struct, frozen=True, kw_only=True):
    """The settings of a gateway, as values."""

    access: AccessRules = AccessRules()
    routing: tuple[ProfileRule, ...] = ()
    default_profile: str = MAIN_PROFILE
    instructions: tuple[Instructions, ...] = ()
    redact: bool = False
    """Agents see keyed hashes in the place of ids."""
    concurrency: int = CONCURRENCY
    per_profile: Mapping[str, int] = field(default_factory=dict)
    hooks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of functions by what they are told of."""
    streams: bool = True
    """Answers grow before one's eyes, where a platform allows it."""
    compact_at: float = COMPACT_AT
    """The share of what a model can read from which on a conversation is compacted."""
    titles: bool = True
    """Conversations are named by a model, where there is one."""
    secrets: frozenset[str] = frozenset()
    """What is taken out of every error before it is kept."""
    url: str | None = None
    """Where the web server beside it listens."""
    pace: Intervals = Intervals()
    beat: timedelta = timedelta(seconds=10)
    """How often it says that it is there."""

    def __repr__(self) -> str:
        """Show nothing: the secrets are among the values."""
        return "GatewaySettings()"
