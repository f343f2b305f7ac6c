"""The store's way out: replies owed, and attachments."""

from collections.abc import AsyncIterator
from datetime import timedelta

from threadline.core.delivery import Delivery, DeliveryId, DeliveryState, SendOutcome
from threadline.core.errors import NotFound
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.core.text import checked_choice, checked_count, checked_type
from threadline.sessions import blobs, deliveries
from threadline.sessions.deliveries import Parcel
from threadline.sessions.store.door import Door
from threadline.sessions.turns import recover


class Delivering(Door):
    """The ledger of replies, and the blobs they may carry."""

    async def take_deliveries(self, most: int = 50) -> list[Parcel]:
        """Take deliveries that are due, at most one of each address, so that order is kept."""
        return await self._db.write(
            deliveries.take_deliveries,
            owner=self.owner,
            rules=self.rules,
            now=self.now(),
            most=checked_count(most, "number of deliveries", 1),
        )

    async def sent(self, delivery: Delivery, platform_id: str | None = None) -> None:
        """Write down that a reply has reached its platform."""
        await self._db.write(
            deliveries.sent,
            checked_type(delivery, "delivery", Delivery),
            platform_id=platform_id,
            now=self.now(),
        )

    async def not_sent(
        self,
        delivery: Delivery,
        outcome: SendOutcome,
        error: str,
        retry_after: timedelta | None = None,
    ) -> DeliveryState:
        """Write down that an attempt failed; it is tried again later, or fails for good."""
        return await self._db.write(
            deliveries.not_sent,
            checked_type(delivery, "delivery", Delivery),
            checked_choice(outcome, "outcome", SendOutcome),
            error,
            retry_after=retry_after,
            now=self.now(),
        )

    async def reclaim_deliveries(self) -> list[DeliveryId]:
        """Take back what dead senders were sending: nobody knows whether it was seen."""
        dead = await self._db.dead(await self._db.read(recover.list_owners))
        return await self._db.write(deliveries.reclaim, dead=dead, rules=self.rules, now=self.now())

    async def abandon_stale(self) -> list[DeliveryId]:
        """Give up a slice of the replies that could not be sent for a whole day."""
        return await self._db.write(deliveries.abandon_stale, now=self.now())

    async def put_blob(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment, so that a message can use it within a day."""
        content = blobs.hash_of(data)
        part = Attachment(
            kind=checked_choice(kind, "kind of attachment", MediaKind),
            blob=content,
            media_type=media_type,
            size=len(data),
            name=name,
        )
        while not await self._db.write(blobs.put_blob, content, len(data), now=self.now()):
            for n, piece in enumerate(blobs.pieces_of(data)):
                await self._db.write(blobs.put_piece, content, n, piece)
        return part

    async def read_blob(self, hash: BlobHash) -> AsyncIterator[bytes]:
        """Read an attachment, piece by piece."""
        if await self._db.read(blobs.has_blob, hash) is None:
            raise NotFound("There is no such attachment", id=hash)
        n = 0
        while (piece := await self._db.read(blobs.read_piece, hash, n)) is not None:
            yield piece
            n += 1
