"""Usage: what was spent, and how near the caps are."""

from decimal import Decimal

from pydantic import Field

from threadline.core.spend import CapKind, Period, Spending
from threadline.core.usage import CostStatus, UsageSum
from threadline.web.api.shapes.model import Answer, Moment


class UsageShape(Answer):
    """What many calls spent together."""

    subject: str = Field(
        description="Turn, session, `provider/model`, task, day, or who asked; empty: unknown."
    )
    name: str | None = Field(description="The title of a session, or the name of a person.")
    calls: int
    unpriced: int = Field(description="Calls whose cost is not known; they count as nothing.")
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: Decimal | None = Field(description="US dollars.")
    cost_status: CostStatus

    @classmethod
    def from_sum(cls, one: UsageSum) -> "UsageShape":
        """Tell what was spent."""
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class PeriodShape(Answer):
    """A day or a month by the clock of the caps' time zone."""

    name: str
    begins_at: Moment
    ends_at: Moment

    @classmethod
    def from_period(cls, period: Period) -> "PeriodShape":
        """Tell which day or month that is."""
        return cls(name=period.name, begins_at=period.begins_at, ends_at=period.ends_at)


class CapShape(Answer):
    """A cap on spending, and what was spent under it so far, in US dollars."""

    kind: CapKind
    subject: str = Field(description="Who or what it is on; empty: everybody together.")
    limit: Decimal
    spent: Decimal
    unpriced: int
    period: PeriodShape | None = Field(description="Null: from the beginning on.")
    is_warned: bool = Field(description="It is near, or reached.")
    is_refused: bool = Field(description="Nothing more may be spent.")

    @classmethod
    def from_spending(cls, one: Spending) -> "CapShape":
        """Tell how near it is."""
        return cls(
            kind=one.kind,
            subject=one.subject,
            limit=one.limit,
            spent=one.spent,
            unpriced=one.unpriced,
            period=None if one.period is None else PeriodShape.from_period(one.period),
            is_warned=one.is_warned,
            is_refused=one.is_refused,
        )
