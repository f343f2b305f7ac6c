"""Deliveries: replies owed, and attachments."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import datetime, timedelta

from threadline.core.address import Address
from threadline.core.delivery import (
    Delivery,
    DeliveryId,
    DeliveryState,
    SendOutcome,
    SentPiece,
)
from threadline.core.errors import NotFound
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.core.turn import Lease, OwnerId, TurnId, checked_turn_id
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_moment,
    checked_type,
    unfit,
)
from threadline.database.port import Transaction
from threadline.store import blobs
from threadline.store.deliveries import create, recovery, results
from threadline.store.deliveries import lease as deliveries_lease
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.deliveries.recovery import DeadTarget
from threadline.store.deliveries.take import take_deliveries
from threadline.store.facade.connection import StoreConnection
from threadline.store.row_mappers import address_from_row
from threadline.store.turn_queue import queue
from threadline.store.turns import live_reply


class DeliveryMethods(StoreConnection):
    """The ledger of replies, and the blobs they may carry."""

    async def owe_words(
        self, address: Address, text: str, attachments: Sequence[Attachment] = ()
    ) -> DeliveryId:
        """Owe words that no turn said, such as something sent by hand."""
        return await self._db.write(
            create.create_text_delivery, address, text, attachments=attachments
        )

    async def take_deliveries(
        self, platforms: Collection[str] | None = None, most: int = 50
    ) -> list[DeliveryPayload]:
        """Take what is due on some platforms or on all, at most one delivery of each address.

        A caller that is cancelled meanwhile leaves nothing behind: what was taken is given back.
        """
        return await take_deliveries(
            self._db,
            _checked_platforms(platforms),
            checked_count(most, "number of deliveries", 1),
        )

    async def give_back_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Owe deliveries again as if they had never been taken."""
        await self._db.write(deliveries_lease.return_deliveries, _checked(deliveries))

    async def renew_deliveries(self, deliveries: Sequence[Delivery]) -> frozenset[DeliveryId]:
        """Prolong the leases of what is being sent; answers those that are lost."""
        return await self._db.write(deliveries_lease.renew_deliveries, _checked(deliveries))

    async def is_kept(self, id: DeliveryId) -> bool:
        """Return whether an answer that this process streamed is still its own to carry."""
        return await self._db.read(live_reply.is_kept, id, owner=self.owner)

    async def next_due(self, platforms: Collection[str] | None = None) -> datetime | None:
        """Tell when the next delivery that can be taken is due, or since when; None: none is."""
        return await self._db.read(
            deliveries_lease.next_due, _checked_platforms(platforms), owner=self.owner
        )

    async def open_stream(self, lease: Lease) -> DeliveryPayload | None:
        """Make the delivery of a running turn before anything of it is shown.

        None: its answer goes elsewhere, and is carried when it is complete. `Conflict`: something
        is owed there from before, and comes first.
        """
        return await self._db.write(
            live_reply.open_stream, checked_type(lease, "lease", Lease), owner=self.owner
        )

    async def doubt_stream(self, delivery: Delivery) -> None:
        """Record that the platform did not say whether it took a message of a growing answer."""
        checked_type(delivery, "delivery", Delivery)
        await self._db.write(live_reply.doubt_stream, delivery)

    async def note_piece(
        self, delivery: Delivery, piece: SentPiece, *, is_new: bool = True
    ) -> None:
        """Record a message that the platform has taken, so that it is never sent again.

        `is_new` is false for a message that was only edited: that ends no doubt. It is false, too,
        for one that is recorded before it is sent, without an id: after a crash it counts as shown.
        """
        checked_type(delivery, "delivery", Delivery)
        checked_flag(is_new, "is_new")
        await self._db.write(results.record_piece, delivery, piece, is_new=is_new)

    async def withdraw_pieces(self, delivery: Delivery, *, first: int) -> None:
        """Delete the records of messages from `first` on, which the platform has not taken."""
        checked_type(delivery, "delivery", Delivery)
        await self._db.write(results.withdraw_pieces, delivery, first=first)

    async def sent(
        self,
        delivery: Delivery,
        platform_id: str | None = None,
        pieces: Sequence[SentPiece] = (),
    ) -> None:
        """Write down that a reply has reached its platform, with the last messages of it."""
        await self._db.write(
            results.record_sent,
            checked_type(delivery, "delivery", Delivery),
            platform_id=platform_id,
            pieces=pieces,
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
            results.record_failure,
            checked_type(delivery, "delivery", Delivery),
            checked_choice(outcome, "outcome", SendOutcome),
            error,
            retry_after=retry_after,
        )

    async def reclaim_deliveries(
        self,
        sending: Callable[[], frozenset[DeliveryId]] = frozenset,
        dead: frozenset[OwnerId] | None = None,
    ) -> list[DeliveryId]:
        """Take back what stopped processes were sending: it may have been seen, or not.

        `sending` returns what the caller is sending: it is not taken, whatever the clock says.
        `dead` are the processes that are gone; None: they are found out.
        """
        return await queue.recover_deliveries(self._db, sending, dead)

    async def abandon_stale(self) -> list[DeliveryId]:
        """Give up a slice of the replies that could not be sent for a day.

        After a jump of the clock, or an hour without `observe_clock`, none is for another hour.
        """
        return await self._db.write(recovery.abandon_stale)

    async def clear_words(self) -> int:
        """Delete a slice of what belonged to no session and was sent long ago."""
        return await self._db.write(recovery.clear_words)

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

    async def address_of_turn(self, turn_id: TurnId) -> Address:
        """Tell where a turn was asked for."""
        return await self._db.read(_address_of_turn, checked_turn_id(turn_id))

    async def put_blob(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment, so that a message can use it within a day."""
        return await blobs.store_blob(self._db, data, media_type, kind, name)

    async def read_blob(self, hash: BlobHash) -> AsyncIterator[bytes]:
        """Read an attachment, piece by piece."""
        async for piece in blobs.stream_blob(self._db, hash):
            yield piece


def _checked(deliveries: Sequence[Delivery]) -> list[Delivery]:
    return [checked_type(delivery, "delivery", Delivery) for delivery in deliveries]


def _checked_platforms(platforms: Collection[str] | None) -> Collection[str] | None:
    if isinstance(platforms, str):
        raise unfit(platforms, "platforms", "a collection of names")
    if platforms is None:
        return None
    return [checked_id(name, "platform") for name in platforms]


def _address_of_turn(tx: Transaction, turn_id: TurnId) -> Address:
    row = tx.one("read_turn_address", id=turn_id)
    if row is None:
        raise NotFound("There is no such turn", id=str(turn_id))
    return address_from_row(row)
