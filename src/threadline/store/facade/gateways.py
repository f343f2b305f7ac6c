"""Gateways: who serves, who is told of everything, and how much there is."""

from collections.abc import Mapping
from datetime import datetime

from threadline.core.delivery import DeliveryId
from threadline.core.event import Cursor
from threadline.core.gateway_status import (
    GatewayRow,
    PlatformHealth,
    ServerHealth,
    StoreLoad,
    TurnCapacity,
)
from threadline.core.validation import (
    checked_count,
    checked_id,
    checked_moment,
    checked_text,
    checked_type,
)
from threadline.store import feed, gateways, stats
from threadline.store.facade.connection import StoreConnection
from threadline.store.feed import LostDelivery

URL_LIMIT = 2000
"""Characters."""


class GatewayMethods(StoreConnection):
    """Gateways, followers, and the load."""

    async def enrol(
        self,
        *,
        host: str,
        pid: int,
        version: str,
        url: str | None = None,
        platforms: Mapping[str, PlatformHealth],
    ) -> None:
        """Say that this process serves from now on, so that others can see it and reach it."""
        await self._db.write(
            gateways.register_gateway,
            owner=self.owner,
            host=checked_id(host, "host"),
            pid=checked_count(pid, "process id"),
            version=checked_id(version, "version"),
            url=None if url is None else checked_text(url, "url", URL_LIMIT),
            platforms=_checked(platforms),
        )

    async def beat(
        self,
        platforms: Mapping[str, PlatformHealth],
        places: TurnCapacity = TurnCapacity(),
        servers: Mapping[str, ServerHealth] | None = None,
    ) -> None:
        """Record that this process still serves, how its platforms are, and how busy it is."""
        told, busy = _checked(platforms), checked_type(places, "places", TurnCapacity)
        tools = {
            checked_id(name, "MCP server"): checked_type(health, "health", ServerHealth)
            for name, health in (servers or {}).items()
        }
        await gateways.beat(self._db, told, busy, tools)

    async def leave(self) -> None:
        """Say that this process serves no longer."""
        await self._db.write(gateways.unregister_gateway, owner=self.owner)

    async def gateways(self) -> list[GatewayRow]:
        """List the gateways that serve, the oldest first, without those whose process is gone."""
        return await gateways.list_live_gateways(self._db)

    async def overdue(self) -> list[stats.Overdue]:
        """List the work that is due for some minutes and has not begun."""
        return await self._db.read(stats.list_overdue)

    async def note_settings(self) -> None:
        """Tell whoever follows that other settings hold from now on."""
        await self._db.write(gateways.note_settings)

    async def clear_gateways(self) -> int:
        """Forget the gateways whose process is gone; answers how many."""
        return await gateways.remove_dead_gateways(self._db)

    async def load(self) -> StoreLoad:
        """Count what there is to do, and measure the database."""
        return await self._db.read(gateways.read_load)

    async def undelivered(self, since: datetime) -> int:
        """Count the deliveries owed since a moment that never arrived."""
        return await self._db.read(stats.count_undelivered, checked_moment(since, "since"))

    async def begin_following(self, name: str) -> Cursor | None:
        """Take over the telling of a follower, from where it stands; None: another process has it.

        A new follower begins here and now. It is ours as long as `move_follower` is called more
        often than once a minute, and until `stop_following`.
        """
        return await feed.claim_follower(self._db, checked_id(name, "name of a follower"))

    async def move_follower(self, name: str, cursor: Cursor) -> None:
        """Write down how far a follower has been told; `LeaseLost` when another process has it."""
        await self._db.write(
            feed.move_follower,
            checked_id(name, "name of a follower"),
            Cursor(checked_id(cursor, "place in the feed")),
            owner=self.owner,
        )

    async def stop_following(self, name: str, cursor: Cursor | None = None) -> None:
        """Let another process go on with the telling at once, from a place or where it was."""
        await self._db.write(
            feed.stop_following,
            checked_id(name, "name of a follower"),
            None if cursor is None else Cursor(checked_id(cursor, "place in the feed")),
            owner=self.owner,
        )

    async def lost_delivery(self, id: DeliveryId) -> LostDelivery:
        """Read what is known of a delivery that never arrived."""
        return await self._db.read(feed.lost_delivery, DeliveryId(checked_count(id, "delivery id")))


def _checked(platforms: Mapping[str, PlatformHealth]) -> dict[str, PlatformHealth]:
    return {
        checked_id(name, "platform"): checked_type(health, "platform's health", PlatformHealth)
        for name, health in platforms.items()
    }
