"""Gateways: who serves, who is told of everything, and how much there is."""

from threadline.core.gateway_status import (
    GatewayRow,
    StoreLoad,
)
from threadline.store import gateways
from threadline.store.facade.connection import StoreConnection

URL_LIMIT = 2000
"""Characters."""


class GatewayMethods(StoreConnection):
    """Gateways, followers, and the load."""

    async def gateways(self) -> list[GatewayRow]:
        """List the gateways that serve, the oldest first, without those whose process is gone."""
        return await gateways.list_live_gateways(self._db)

    async def load(self) -> StoreLoad:
        """Count what there is to do, and measure the database."""
        return await self._db.read(gateways.read_load)
