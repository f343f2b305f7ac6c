"""The context of a session: how full it is, what it cost, and which caps concern it."""

import asyncio
from decimal import Decimal

from threadline.assembly.model_list import window_of
from threadline.core.usage import CostStatus
from threadline.store.usage import ContextUsage
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading, visible
from threadline.web.resources.deps import ConfigDep, SessionIdPath, StoreDep
from threadline.web.resources.router import Router
from threadline.web.resources.usage import CapView
from threadline.web.resources.visibility import identity_of


class SpentView(View, frozen=True, kw_only=True):
    """What a session has spent, all together."""

    calls: int
    unpriced: int
    """Calls whose cost is not known; they count as nothing."""
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """US dollars."""
    cost_status: CostStatus


_NOTHING = SpentView(
    calls=0,
    unpriced=0,
    input_tokens=0,
    output_tokens=0,
    cost=Decimal(0),
    cost_status=CostStatus.EXACT,
)


class ContextView(View, frozen=True, kw_only=True):
    """How full the context of a session is, and what it cost."""

    prompt_tokens: int | None
    """How long the last prompt was; null: nobody counted one since the session began, or was
    compacted.
    """
    is_exact: bool
    """Nothing was said or hidden since; otherwise the next prompt will differ."""
    context_tokens: int | None
    """How much the model reads at once; null: unknown."""
    compact_at: float
    """The share of it from which on room is made."""
    spent: SpentView
    caps: list[CapView]
    """Yours and the session's; for an owner all."""

    @classmethod
    def from_meter(
        cls, meter: ContextUsage, window: int | None, compact_at: float
    ) -> "ContextView":
        """Return the view of the context of a session."""
        spent = _NOTHING
        if meter.spent is not None:
            spent = SpentView.of(meter.spent)
        return cls(
            prompt_tokens=meter.prompt_tokens,
            is_exact=meter.is_exact,
            context_tokens=window,
            compact_at=compact_at,
            spent=spent,
            caps=[CapView.of(one) for one in meter.caps],
        )


router = Router(prefix="/sessions/{id}/context", tags=["usage"])


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
