"""Deliveries: what is owed to chats, and what never arrived."""

from typing import Annotated

from fastapi import APIRouter, Query

from threadline.core.account import TokenScope
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.errors import NotFound
from threadline.sessions.store import Store
from threadline.web.api.asking import Administering, Exchanging, Reading, visible
from threadline.web.api.deps import StoreDep, path_key
from threadline.web.api.paging import PAGE, After, Most, Page, moment_after, number_after, place_at
from threadline.web.api.problems import told
from threadline.web.api.shapes.deliveries import DeliveryShape
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/deliveries", tags=["deliveries"])

States = Annotated[
    list[DeliveryState] | None,
    Query(
        max_length=len(DeliveryState),
        description="Only what is in this state, or in one of several; none: in any.",
        examples=[[DeliveryState.FAILED, DeliveryState.ABANDONED]],
    ),
]


@router.get("")
async def list_deliveries(
    visitor: Reading,
    store: StoreDep,
    *,
    session: Annotated[str, Query(max_length=100, description="The session that is asked about.")],
    state: States = None,
    after: After = None,
    most: Most = PAGE,
) -> Page[DeliveryShape]:
    """List what is or was owed for a session, the newest first."""
    seen = await visible(store, visitor, session)
    place = number_after(after)
    before = None if place is None else DeliveryId(place)
    found = await store.deliveries(seen.id, states=state or (), before=before, most=most + 1)
    return Page.cut(found, most, DeliveryShape.from_delivery, lambda one: one.id)


@router.get("/lost")
async def list_lost_deliveries(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[DeliveryShape]:
    """List what was not delivered, on any platform, newest first."""
    place = moment_after(after)
    before = None if place is None else (place[0], DeliveryId(number_after(place[1]) or 0))
    found = await store.lost_deliveries(before=before, most=most + 1)
    return Page.cut(
        found, most, DeliveryShape.from_delivery, lambda one: place_at(one.owed_at, one.id)
    )


@router.post("/{id}/retry", responses=told(409))
async def retry_delivery(
    id: Annotated[int, path_key("The number of a delivery.")],
    visitor: Exchanging,
    store: StoreDep,
) -> DeliveryShape:
    """Send something again that was not delivered.

    Pieces that its platform has taken are not sent again; what may have been seen (`is_doubtful`)
    is marked as a repeat. Text that is in no transcript was not kept: write it again.
    """
    delivery = await store.delivery(DeliveryId(id))
    await _require_sight(store, visitor, delivery)
    return DeliveryShape.from_delivery(await store.owe_again(delivery.id))


async def _require_sight(store: Store, visitor: Visitor, delivery: Delivery) -> None:
    try:
        if delivery.session_id is not None:
            await visible(store, visitor, delivery.session_id)
        elif not visitor.may(TokenScope.ADMIN):
            raise NotFound
    except NotFound:
        raise NotFound("There is no such delivery", id=str(delivery.id)) from None
