"""The context of a session, as the API tells of it."""

from decimal import Decimal

from pydantic import Field

from threadline.core.usage import CostStatus
from threadline.sessions.meter import Meter
from threadline.web.api.shapes.model import Answer
from threadline.web.api.shapes.usage import CapShape


class SpentShape(Answer):
    """What a session has spent, all together."""

    calls: int
    unpriced: int = Field(description="Calls whose cost is not known; they count as nothing.")
    input_tokens: int
    output_tokens: int
    cost: Decimal | None = Field(description="US dollars.")
    cost_status: CostStatus


_NOTHING = SpentShape(
    calls=0,
    unpriced=0,
    input_tokens=0,
    output_tokens=0,
    cost=Decimal(0),
    cost_status=CostStatus.EXACT,
)


class ContextShape(Answer):
    """How full the context of a session is, and what it cost."""

    prompt_tokens: int | None = Field(
        description="How long the last prompt was; null: nobody counted one since the session "
        "began, or was compacted."
    )
    is_exact: bool = Field(
        description="Nothing was said or hidden since; otherwise the next prompt will differ."
    )
    context_tokens: int | None = Field(
        description="How much the model reads at once; null: unknown."
    )
    compact_at: float = Field(description="The share of it from which on room is made.")
    spent: SpentShape
    caps: list[CapShape] = Field(description="Yours and the session's; for an owner all.")

    @classmethod
    def from_meter(cls, meter: Meter, window: int | None, compact_at: float) -> "ContextShape":
        """Tell how a session stands."""
        spent = _NOTHING
        if meter.spent is not None:
            names = SpentShape.model_fields
            spent = SpentShape(**{name: getattr(meter.spent, name) for name in names})
        return cls(
            prompt_tokens=meter.prompt_tokens,
            is_exact=meter.is_exact,
            context_tokens=window,
            compact_at=compact_at,
            spent=spent,
            caps=[CapShape.from_spending(one) for one in meter.caps],
        )
