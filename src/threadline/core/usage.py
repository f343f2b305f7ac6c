"""Usage: what a turn consumed, and what that cost."""

from decimal import Decimal
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.errors import Invalid
from threadline.core.validation import checked_count, checked_id, checked_type, unfit

TOKENS_LIMIT = 10**12
COST_LIMIT = Decimal(10) ** 6
"""US dollars. Both limits are for one call, so that a sum over thousands can be stored too."""


_NANO = Decimal(10) ** 9


class UsageBy(StrEnum):
    """What usage is added up by."""

    TURN = "turn"
    SESSION = "session"
    MODEL = "model"
    TASK = "task"
    PERSON = "person"
    DAY = "day"


class CostStatus(StrEnum):
    """How well a cost is known."""

    EXACT = "exact"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


class Usage(Struct, frozen=True, kw_only=True):
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
        for name in self.__struct_fields__:
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
        for name in self.__struct_fields__:
            if name.endswith("_tokens") and getattr(self, name) > TOKENS_LIMIT:
                what = name.replace("_", " ")
                raise unfit(getattr(self, name), what, f"at most {TOKENS_LIMIT:,} in one call")
        if self.cost is not None and self.cost > COST_LIMIT:
            raise unfit(self.cost, "cost", f"at most {COST_LIMIT:,} in one call")
        return self


class UsageSum(Struct, frozen=True, kw_only=True):
    """What many calls spent together."""

    subject: str
    """Turn id, session id, `provider/model`, task, day (`2026-03-01`), or who asked: `person 3`
    where several senders are one, else `platform:id`. Empty: nobody knows.
    """
    name: str | None
    """The title of a session, or the name of a person."""
    calls: int
    unpriced: int
    """Calls whose cost is not known; they count as nothing."""
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: Decimal | None
    cost_status: CostStatus


def add_sums(one: UsageSum, other: UsageSum) -> UsageSum:
    """Add up two sums of the same subject."""
    cost = None if one.cost is None and other.cost is None else _known(one) + _known(other)
    statuses = {one.cost_status, other.cost_status}
    status = one.cost_status if len(statuses) == 1 else CostStatus.ESTIMATED
    counted = {
        name: getattr(one, name) + getattr(other, name)
        for name in one.__struct_fields__
        if name.endswith("_tokens") or name in {"calls", "unpriced"}
    }
    return replace(one, **counted, cost=cost, cost_status=status)


def _known(one: UsageSum) -> Decimal:
    return Decimal(0) if one.cost is None else one.cost


def status_of_sum(*, priced: int, exact: int, calls: int) -> CostStatus:
    """Tell how well the cost of several calls is known, of which some have a price."""
    if not priced:
        return CostStatus.UNKNOWN
    return CostStatus.EXACT if exact == calls else CostStatus.ESTIMATED


def billionths(cost: Decimal) -> int:
    """Answer a cost as the databases keep it: in billionths of a US dollar."""
    return int(cost * _NANO)


def dollars(billionths: int) -> Decimal:
    """Answer the cost that the databases keep as a number."""
    return Decimal(billionths) / _NANO
