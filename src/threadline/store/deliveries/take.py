"""Take: what is due to be sent, leased to this process."""

import asyncio
from collections.abc import Collection

from threadline.core.turn import OwnerId
from threadline.database.cancellation import run_to_end
from threadline.database.port import Database, Transaction
from threadline.store.deliveries.lease import lease_deliveries, return_deliveries
from threadline.store.deliveries.payload import DeliveryPayload


async def take_deliveries(
    db: Database, platforms: Collection[str] | None = None, most: int = 50
) -> list[DeliveryPayload]:
    """Lease what is due on some platforms or on all, at most one delivery of each address.

    If the caller is cancelled meanwhile, what was leased is returned.
    """
    kept: list[DeliveryPayload] = []
    try:
        return await db.write(_lease_deliveries, kept, platforms, owner=db.owner, most=most)
    except asyncio.CancelledError:
        if kept:
            taken = [payload.delivery for payload in kept]
            await run_to_end(db.write(return_deliveries, taken))
        raise


def _lease_deliveries(
    tx: Transaction,
    kept: list[DeliveryPayload],
    platforms: Collection[str] | None,
    *,
    owner: OwnerId,
    most: int,
) -> list[DeliveryPayload]:
    """Lease deliveries, and store a copy where a caller that is cancelled can find it."""
    kept.clear()
    taken = lease_deliveries(tx, platforms, owner=owner, most=most)
    kept[:] = taken
    return taken
