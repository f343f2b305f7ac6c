"""Deliveries: what is owed to chats, and what never arrived."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query

from threadline.core.account import TokenScope
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.errors import Invalid, NotFound
from threadline.sessions.store import Store
from threadline.web.api.asking import Administering, Exchanging, Reading, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.problems import told
from threadline.web.api.shapes.deliveries import DeliveryShape
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/deliveries", tags=["deliveries"])

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

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
    return _page(found, most, str(found[most - 1].id) if len(found) > most else None)


@router.get("/lost")
async def list_lost_deliveries(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[DeliveryShape]:
    """List what never arrived, on any platform, the newest first."""
    found = await store.lost_deliveries(before=_read_place(after), most=most + 1)
    return _page(found, most, _write_place(found[most - 1]) if len(found) > most else None)


@router.post("/{id}/retry", responses=told(409))
async def retry_delivery(
    id: Annotated[int, Path(ge=1, le=2**53, description="The number of a delivery.")],
    visitor: Exchanging,
    store: StoreDep,
) -> DeliveryShape:
    """Owe something once more that never arrived.

    What its platform has taken is not sent again; what may have been seen (`is_doubtful`) says so
    where it arrives. Words that stand in no transcript were not kept: say them again.
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


def _page(found: list[Delivery], most: int, after: str | None) -> Page[DeliveryShape]:
    return Page(items=[DeliveryShape.from_delivery(one) for one in found[:most]], next=after)


def _write_place(last: Delivery) -> str:
    return f"{(last.owed_at - _EPOCH) // _MICROSECOND}-{last.id}"


def _read_place(after: str | None) -> tuple[datetime, DeliveryId] | None:
    if after is None:
        return None
    moment, _, id = after.partition("-")
    at, number = number_after(moment), number_after(id)
    try:
        return _EPOCH + (at or 0) * _MICROSECOND, DeliveryId(number or 0)
    except OverflowError:
        raise Invalid(
            f"{after[:40]!r} is no place in this list",
            hint="Give what the page before called next",
        ) from None
