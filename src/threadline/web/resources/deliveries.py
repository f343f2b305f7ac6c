"""Deliveries: what is owed to chats, and what never arrived."""

from typing import Annotated

from fastapi import Query

from threadline.core.account import TokenScope
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.errors import NotFound
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import Time, View
from threadline.web.resources.addresses import AddressView
from threadline.web.resources.auth_deps import Administering, Exchanging, Reading, visible
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.pagination import (
    PAGE,
    After,
    Most,
    Page,
    moment_after,
    number_after,
    place_at,
)
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class DeliveryView(View, frozen=True, kw_only=True):
    """Something owed to a place, without what has to be said."""

    id: int
    session: str | None
    turn: int | None
    seq: int | None
    """The line that it carries, if a person said it in the agent's place."""
    place: AddressView
    state: DeliveryState
    attempts: int
    owed_at: Time
    due_at: Time
    sent_at: Time | None
    repeated_at: Time | None
    """When it was sent again, perhaps unneeded."""
    is_doubtful: bool
    """It may have been seen already; what is sent again is then marked so."""
    error: str | None

    @classmethod
    def from_delivery(cls, delivery: Delivery) -> "DeliveryView":
        """Return the view of a delivery."""
        same = ("id", "seq", "state", "attempts", "owed_at", "due_at", "sent_at", "repeated_at")
        return cls(
            session=delivery.session_id,
            turn=delivery.turn_id,
            error=delivery.error,
            is_doubtful=delivery.is_doubtful,
            place=AddressView.from_address(delivery.address),
            **{name: getattr(delivery, name) for name in same},
        )


router = Router(prefix="/deliveries", tags=["deliveries"])

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
) -> Page[DeliveryView]:
    """List what is or was owed for a session, the newest first."""
    seen = await visible(store, visitor, session)
    place = number_after(after)
    before = None if place is None else DeliveryId(place)
    found = await store.deliveries(seen.id, states=state or (), before=before, most=most + 1)
    return Page.cut(found, most, DeliveryView.from_delivery, lambda one: one.id)


@router.get("/lost")
async def list_lost_deliveries(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[DeliveryView]:
    """List what was not delivered, on any platform, newest first."""
    place = moment_after(after)
    before = None if place is None else (place[0], DeliveryId(number_after(place[1]) or 0))
    found = await store.lost_deliveries(before=before, most=most + 1)
    return Page.cut(
        found, most, DeliveryView.from_delivery, lambda one: place_at(one.owed_at, one.id)
    )


@router.post("/{id}/retry", responses=problem_responses(409))
async def retry_delivery(
    id: Annotated[int, path_key("The number of a delivery.")],
    visitor: Exchanging,
    store: StoreDep,
) -> DeliveryView:
    """Send something again that was not delivered.

    Pieces that its platform has taken are not sent again; what may have been seen (`is_doubtful`)
    is marked as a repeat. Text that is in no transcript was not kept: write it again.
    """
    delivery = await store.delivery(DeliveryId(id))
    await _require_sight(store, visitor, delivery)
    return DeliveryView.from_delivery(await store.owe_again(delivery.id))


async def _require_sight(store: Store, visitor: Caller, delivery: Delivery) -> None:
    unknown = NotFound("There is no such delivery", id=str(delivery.id))
    if delivery.session_id is not None:
        await visible(store, visitor, delivery.session_id, refusal=unknown)
    elif not visitor.may(TokenScope.ADMIN):
        raise unknown
