"""Deliveries: replies owed, and attachments."""

from datetime import datetime

from threadline.core.message import Attachment, MediaKind
from threadline.core.validation import (
    checked_count,
    checked_moment,
)
from threadline.store import blobs
from threadline.store.deliveries import recovery
from threadline.store.deliveries.recovery import DeadTarget
from threadline.store.facade.connection import StoreConnection


class DeliveryMethods(StoreConnection):
    """The ledger of replies, and the blobs they may carry."""

    async def dead_targets(
        self, most: int = 100, *, before: tuple[datetime, int] | None = None
    ) -> list[DeadTarget]:
        """List the places to which nothing can be sent, the latest first.

        `before` is the moment and the key behind which the list goes on.
        """
        most, place = checked_count(most, "number of places", 1), None
        if before is not None:
            place = checked_moment(before[0], "before"), checked_count(before[1], "place")
        return await self._db.read(recovery.dead_targets, before=place, most=most)

    async def put_blob(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment, so that a message can use it within a day."""
        return await blobs.store_blob(self._db, data, media_type, kind, name)
