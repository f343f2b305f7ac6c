"""Usage: what a turn consumed, and what that cost."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from threadline.core.errors import Invalid
from threadline.core.text import checked_count, checked_id, checked_type, unfit

TOKENS_LIMIT = 10**12
COST_LIMIT = Decimal(10) ** 6
"""US dollars. Both limits are for one call, so that a sum over thousands can be stored too."""


class CostStatus(StrEnum):
    """How well a cost is known."""

    EXACT = "exact"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that one model spent on one task, and their cost in US dollars."""

    provider: str
    model: str
    task: str = "turn"
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    prompt_tokens: int = 0
    """Size of the last prompt: what the context meter shows."""
    cost: Decimal | None = None
    cost_status: CostStatus = CostStatus.UNKNOWN

    def __post_init__(self) -> None:
        """Refuse negative counts, and a cost that contradicts its status."""
        for name in ("provider", "model", "task"):
            checked_id(getattr(self, name), name)
        for name in self.__slots__:
            if name.endswith("_tokens"):
                checked_count(getattr(self, name), name.replace("_", " "))
        if (self.cost is None) is not (self.cost_status is CostStatus.UNKNOWN):
            raise Invalid(f"A cost of {self.cost} cannot be {self.cost_status}")
        if self.cost is not None:
            cost = checked_type(self.cost, "cost", Decimal)
            if not (cost.is_finite() and cost >= 0):
                raise unfit(cost, "cost", "finite and not below 0")

    def checked_call(self) -> "Usage":
        """Take it as the usage of one call; a sum may be larger."""
        for name in self.__slots__:
            if name.endswith("_tokens") and getattr(self, name) > TOKENS_LIMIT:
                what = name.replace("_", " ")
                raise unfit(getattr(self, name), what, f"at most {TOKENS_LIMIT:,} in one call")
        if self.cost is not None and self.cost > COST_LIMIT:
            raise unfit(self.cost, "cost", f"at most {COST_LIMIT:,} in one call")
        return self
