"""Deliveries: what is owed to a place, and how far it got."""

from pydantic import Field

from threadline.core.delivery import Delivery, DeliveryState
from threadline.web.api.shapes.model import Answer, Moment
from threadline.web.api.shapes.places import PlaceShape


class DeliveryShape(Answer):
    """Something owed to a place, without what has to be said."""

    id: int
    session: str | None
    turn: int | None
    seq: int | None = Field(
        description="The line that it carries, if a person said it in the agent's place."
    )
    place: PlaceShape
    state: DeliveryState
    attempts: int
    owed_at: Moment
    due_at: Moment
    sent_at: Moment | None
    repeated_at: Moment | None = Field(description="When it was sent again, perhaps unneeded.")
    is_doubtful: bool = Field(
        description="It may have been seen already; what is sent again is then marked so."
    )
    error: str | None

    @classmethod
    def from_delivery(cls, delivery: Delivery) -> "DeliveryShape":
        """Tell how far it got."""
        same = ("id", "seq", "state", "attempts", "owed_at", "due_at", "sent_at", "repeated_at")
        return cls(
            session=delivery.session_id,
            turn=delivery.turn_id,
            error=delivery.error,
            is_doubtful=delivery.is_doubtful,
            place=PlaceShape.from_address(delivery.address),
            **{name: getattr(delivery, name) for name in same},
        )
