"""The context of a session: how full it is, what it cost, and which caps concern it."""

import asyncio
from decimal import Decimal

from fastapi import APIRouter
from pydantic import Field

from threadline.assembly.model_list import window_of
from threadline.core.usage import CostStatus
from threadline.store.usage import ContextUsage
from threadline.web.bodies import ResponseBody
from threadline.web.resources.auth_deps import Reading, visible
from threadline.web.resources.deps import ConfigDep, SessionIdPath, StoreDep
from threadline.web.resources.usage import CapView
from threadline.web.resources.visibility import identity_of


class SpentView(ResponseBody):
    """What a session has spent, all together."""

    calls: int
    unpriced: int = Field(description="Calls whose cost is not known; they count as nothing.")
    input_tokens: int
    output_tokens: int
    cost: Decimal | None = Field(description="US dollars.")
    cost_status: CostStatus


_NOTHING = SpentView(
    calls=0,
    unpriced=0,
    input_tokens=0,
    output_tokens=0,
    cost=Decimal(0),
    cost_status=CostStatus.EXACT,
)


class ContextView(ResponseBody):
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
    spent: SpentView
    caps: list[CapView] = Field(description="Yours and the session's; for an owner all.")

    @classmethod
    def from_meter(
        cls, meter: ContextUsage, window: int | None, compact_at: float
    ) -> "ContextView":
        """Tell how a session stands."""
        spent = _NOTHING
        if meter.spent is not None:
            names = SpentView.model_fields
            spent = SpentView(**{name: getattr(meter.spent, name) for name in names})
        return cls(
            prompt_tokens=meter.prompt_tokens,
            is_exact=meter.is_exact,
            context_tokens=window,
            compact_at=compact_at,
            spent=spent,
            caps=[CapView.from_spending(one) for one in meter.caps],
        )


router = APIRouter(prefix="/sessions/{id}/context", tags=["usage"])


@router.get("", summary="Read the context meter")
async def read_context(
    visitor: Reading, store: StoreDep, config: ConfigDep, id: SessionIdPath
) -> ContextView:
    """Tell how full the context is, what was spent, and how near the caps are."""
    session = await visible(store, visitor, id)
    meter = await store.meter(session.id, identity_of(visitor.account), everybody=visitor.is_owner)
    # The price list is read from disk when it is first asked for.
    window = await asyncio.to_thread(window_of, config, meter.session)
    return ContextView.from_meter(meter, window, config.scribe.compact_at)
