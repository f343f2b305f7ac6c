"""Deliveries: what is owed to chats, and what never arrived."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from threadline.core.delivery import Delivery, DeliveryId
from threadline.core.errors import Invalid
from threadline.web.api.asking import Administering, Reading, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.shapes.deliveries import DeliveryShape

router = APIRouter(prefix="/deliveries", tags=["deliveries"])

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@router.get("")
async def list_deliveries(
    visitor: Reading,
    store: StoreDep,
    session: Annotated[str, Query(max_length=100, description="The session that is asked about.")],
    after: After = None,
    most: Most = PAGE,
) -> Page[DeliveryShape]:
    """List what is or was owed for a session, the newest first."""
    seen = await visible(store, visitor, session)
    place = number_after(after)
    before = None if place is None else DeliveryId(place)
    found = await store.deliveries(seen.id, before=before, most=most + 1)
    return _page(found, most, str(found[most - 1].id) if len(found) > most else None)


@router.get("/lost")
async def list_lost_deliveries(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[DeliveryShape]:
    """List what never arrived, on any platform, the newest first."""
    found = await store.lost_deliveries(before=_read_place(after), most=most + 1)
    return _page(found, most, _write_place(found[most - 1]) if len(found) > most else None)


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
