"""The context of a session over the API: a meter, its price, and its caps."""

from decimal import Decimal

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store

CALL = Usage(
    provider="openai",
    model="gpt-5",
    input_tokens=900,
    output_tokens=100,
    prompt_tokens=900,
    cost=Decimal("0.25"),
    cost_status=CostStatus.EXACT,
)


@on(FAST, POSTGRES)
async def test_a_meter_is_read_by_whoever_sees_the_session(store: Store) -> None:
    """The echo has no limit, so only what is known is told; others are told of no session."""
    async with calling(store) as callers:
        id = await callers.talk("member", usage=(CALL,))
        empty = await callers.talk("member")
        told = (await callers.member.get(f"/api/sessions/{id}/context")).json()
        nothing = (await callers.owner.get(f"/api/sessions/{empty}/context")).json()
        hidden = await callers.other.get(f"/api/sessions/{id}/context")

    assert told == {
        "prompt_tokens": 900,
        "is_exact": True,
        "context_tokens": None,
        "compact_at": 0.8,
        "spent": {
            "calls": 1,
            "unpriced": 0,
            "input_tokens": 900,
            "output_tokens": 100,
            "cost": "0.25",
            "cost_status": "exact",
        },
        "caps": [],
    }
    assert (nothing["prompt_tokens"], nothing["spent"]["calls"]) == (None, 0)
    assert hidden.status_code == 404
