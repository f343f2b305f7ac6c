"""Deliveries: the replies that are owed to platforms, and what became of them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from threadline.core.address import Address
from threadline.core.delivery import (
    Delivery,
    DeliveryId,
    DeliveryState,
    SendOutcome,
    SentPiece,
)
from threadline.core.message import Attachment
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import OwnerId
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_moment,
    checked_type,
    unfit,
)
from threadline.store import admin_queries
from threadline.store.deliveries import create, recovery, results, targets
from threadline.store.deliveries import lease as deliveries_lease
from threadline.store.deliveries import targets as deliveries_targets
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.deliveries.take import take_deliveries
from threadline.store.library.group import Group
from threadline.store.queries import PAGE
from threadline.store.turn_queue import queue


class DeliveryGroup(Group):
    """The replies that are owed to platforms, and what became of them."""

    async def create(
        self, address: Address, text: str, attachments: Sequence[Attachment] = ()
    ) -> DeliveryId:
        """Create a delivery of a text that no turn said, such as something sent by hand.

        >>> id = await store.deliveries.create(garden, "The greenhouse is open.")
        """
        return await self._db.write(
            create.create_text_delivery, address, text, attachments=attachments
        )

    async def get(self, id: DeliveryId) -> Delivery:
        """Return a delivery.

        >>> (await store.deliveries.get(id)).state.value
        'pending'
        """
        return await self._db.read(create.read_delivery, _checked_id(id))

    async def list(
        self,
        id: SessionId,
        *,
        states: Collection[DeliveryState] = (),
        before: DeliveryId | None = None,
        most: int = PAGE,
    ) -> Sequence[Delivery]:
        """Return the deliveries of a session, the newest first; in some states, or in any.

        >>> await store.deliveries.list(arrival.session_id)
        []
        """
        return await self._db.read(
            admin_queries.deliveries_of,
            checked_session_id(id),
            states=[checked_choice(state, "state", DeliveryState) for state in states],
            before=None if before is None else _checked_id(before),
            most=most,
        )

    async def lease(
        self, platforms: Collection[str] | None = None, most: int = 50
    ) -> Sequence[DeliveryPayload]:
        """Lease what is due on some platforms or on all, at most one delivery of each address.

        If the caller is cancelled meanwhile, what was leased is returned.

        >>> (payload,) = await store.deliveries.lease(["telegram"])
        >>> payload.text
        'The greenhouse is open.'
        """
        return await take_deliveries(
            self._db,
            _checked_platforms(platforms),
            checked_count(most, "number of deliveries", 1),
        )

    async def renew(self, deliveries: Sequence[Delivery]) -> frozenset[DeliveryId]:
        """Renew the leases of what is being sent; return those that are lost.

        >>> await store.deliveries.renew([payload.delivery])
        frozenset()
        """
        return await self._db.write(deliveries_lease.renew_deliveries, _checked(deliveries))

    async def record_piece(
        self, delivery: Delivery, piece: SentPiece, *, is_new: bool = True
    ) -> None:
        """Record a message that the platform has accepted, so that it is never sent again.

        `is_new` is false for a message that was only edited, and for one that is recorded without
        an id before it is sent: after a crash it counts as shown.

        >>> piece = SentPiece(n=0, platform_id="2000", length=len(payload.text))
        >>> await store.deliveries.record_piece(payload.delivery, piece)
        """
        checked_type(delivery, "delivery", Delivery)
        checked_flag(is_new, "is_new")
        await self._db.write(results.record_piece, delivery, piece, is_new=is_new)

    async def record_sent(
        self,
        delivery: Delivery,
        platform_id: str | None = None,
        pieces: Sequence[SentPiece] = (),
    ) -> None:
        """Record that a reply has reached its platform, with the last messages of it.

        >>> await store.deliveries.record_sent(payload.delivery, "2001")
        """
        await self._db.write(
            results.record_sent,
            checked_type(delivery, "delivery", Delivery),
            platform_id=platform_id,
            pieces=pieces,
        )

    async def record_failure(
        self,
        delivery: Delivery,
        outcome: SendOutcome,
        error: str,
        retry_after: timedelta | None = None,
    ) -> DeliveryState:
        """Record that an attempt failed; it is tried again later, or fails permanently.

        >>> id = await store.deliveries.create(garden, "It is closed again.")
        >>> (payload,) = await store.deliveries.lease()
        >>> state = await store.deliveries.record_failure(payload.delivery, SendOutcome.DEAD, "403")
        >>> state.value
        'failed'
        """
        return await self._db.write(
            results.record_failure,
            checked_type(delivery, "delivery", Delivery),
            checked_choice(outcome, "outcome", SendOutcome),
            error,
            retry_after=retry_after,
        )

    async def resend(self, id: DeliveryId) -> Delivery:
        """Queue a delivery again that was given up.

        What its platform has accepted is not sent again; what may have been seen is marked so.

        >>> try:
        ...     await store.deliveries.resend(id)
        ... except Conflict:
        ...     pass  # only the text of a turn's reply is still known
        """
        return await self._db.write(create.resend, _checked_id(id))

    async def lost(
        self, *, before: tuple[datetime, DeliveryId] | None = None, most: int = PAGE
    ) -> Sequence[Delivery]:
        """Return what never arrived, the newest first, after a time and a number.

        >>> [delivery.error for delivery in await store.deliveries.lost()]
        ['403']
        """
        place = None
        if before is not None:
            at, number = before
            place = checked_moment(at, "before"), _checked_id(number)
        return await self._db.read(admin_queries.undelivered, before=place, most=most)

    async def recover(
        self,
        sending: Callable[[], frozenset[DeliveryId]] = frozenset,
        dead: frozenset[OwnerId] | None = None,
    ) -> Sequence[DeliveryId]:
        """Take back what stopped processes were sending: it may have been seen, or not.

        `sending` returns what the caller is sending: it is not taken, whatever the clock says.
        `dead` are the processes that are gone; None: they are looked up.

        >>> await store.deliveries.recover()
        []
        """
        return await queue.recover_deliveries(self._db, sending, dead)

    async def abandon_stale(self) -> Sequence[DeliveryId]:
        """Give up one slice of the replies that could not be sent for a day; return them.

        >>> await store.deliveries.abandon_stale()
        []
        """
        return await self._db.write(recovery.abandon_stale)

    async def set_home(self, address: Address, *, profile: str = MAIN_PROFILE) -> None:
        """Send the scheduled and unprompted messages of a platform to this chat from now on.

        >>> await store.deliveries.set_home(garden)
        """
        await self._db.write(
            deliveries_targets.set_home,
            checked_type(address, "address", Address),
            profile=canonical_profile(profile),
        )

    async def homes(self, profile: str = MAIN_PROFILE) -> Mapping[str, Address]:
        """Return the home chat of each platform.

        >>> (await store.deliveries.homes())["telegram"].chat
        '-100'
        """
        return await self._db.read(targets.known_homes, canonical_profile(profile))

    __call__ = list  # noqa: A003 - what it is called by until its callers read from the database


def _checked_id(id: object) -> DeliveryId:
    return DeliveryId(checked_count(id, "delivery id"))


def _checked_platforms(platforms: Collection[str] | None) -> Collection[str] | None:
    if isinstance(platforms, str):
        raise unfit(platforms, "platforms", "a collection of names")
    if platforms is None:
        return None
    return [checked_id(name, "platform") for name in platforms]


def _checked(deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
    return [checked_type(delivery, "delivery", Delivery) for delivery in deliveries]
