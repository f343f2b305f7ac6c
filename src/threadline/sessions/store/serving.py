"""The store's side of a gateway: who serves, who is told of everything, and how much there is."""

from collections.abc import Mapping
from datetime import datetime

from threadline.core.delivery import DeliveryId
from threadline.core.event import Cursor
from threadline.core.serving import GatewayRow, Load, Places, PlatformHealth
from threadline.core.text import (
    checked_count,
    checked_id,
    checked_moment,
    checked_text,
    checked_type,
)
from threadline.sessions import diagnosis, followers, gateways
from threadline.sessions.followers import LostDelivery
from threadline.sessions.store.door import Door

URL_LIMIT = 2000
"""Characters."""


class Serving(Door):
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
            gateways.enrol,
            owner=self.owner,
            host=checked_id(host, "host"),
            pid=checked_count(pid, "process id"),
            version=checked_id(version, "version"),
            url=None if url is None else checked_text(url, "url", URL_LIMIT),
            platforms=_checked(platforms),
            now=self.now(),
        )

    async def beat(
        self, platforms: Mapping[str, PlatformHealth], places: Places = Places()
    ) -> None:
        """Record that this process still serves, how its platforms are, and how busy it is."""
        told, busy = _checked(platforms), checked_type(places, "places", Places)
        await self._db.write(gateways.beat, told, busy, owner=self.owner, now=self.now())

    async def leave(self) -> None:
        """Say that this process serves no longer."""
        await self._db.write(gateways.leave, owner=self.owner, now=self.now())

    async def gateways(self) -> list[GatewayRow]:
        """List the gateways that serve, the oldest first, without those whose process is gone."""
        rows = await self._db.read(gateways.list_gateways)
        dead = await self._db.dead(frozenset(row.owner for row in rows))
        return [row for row in rows if row.owner not in dead]

    async def overdue(self) -> list[diagnosis.Overdue]:
        """List the work that is due for some minutes and has not begun."""
        return await self._db.read(diagnosis.list_overdue, now=self.now())

    async def note_settings(self) -> None:
        """Tell whoever follows that other settings hold from now on."""
        await self._db.write(gateways.note_settings, now=self.now())

    async def clear_gateways(self) -> int:
        """Forget the gateways whose process is gone; answers how many."""
        rows = await self._db.read(gateways.list_gateways)
        dead = await self._db.dead(frozenset(row.owner for row in rows))
        for owner in dead:
            await self._db.write(gateways.leave, owner=owner, now=self.now())
        return len(dead)

    async def load(self) -> Load:
        """Count what there is to do, and measure the database."""
        return await self._db.read(gateways.read_load)

    async def undelivered(self, since: datetime) -> int:
        """Count the deliveries owed since a moment that never arrived."""
        return await self._db.read(diagnosis.count_undelivered, checked_moment(since, "since"))

    async def begin_following(self, name: str) -> Cursor | None:
        """Take over the telling of a follower, from where it stands; None: another process has it.

        A new follower begins here and now. It is ours as long as `move_follower` is called more
        often than once a minute, and until `stop_following`.
        """
        holder = await self._db.read(followers.holder_of, checked_id(name, "name of a follower"))
        asked = frozenset() if holder is None else frozenset({holder})
        dead = await self._db.dead(asked - {self.owner})
        return await self._db.write(
            followers.begin_following, name, owner=self.owner, dead=dead, now=self.now()
        )

    async def move_follower(self, name: str, cursor: Cursor) -> None:
        """Write down how far a follower has been told; `LeaseLost` when another process has it."""
        await self._db.write(
            followers.move_follower,
            checked_id(name, "name of a follower"),
            Cursor(checked_id(cursor, "place in the feed")),
            owner=self.owner,
            now=self.now(),
        )

    async def stop_following(self, name: str, cursor: Cursor | None = None) -> None:
        """Let another process go on with the telling at once, from a place or where it was."""
        await self._db.write(
            followers.stop_following,
            checked_id(name, "name of a follower"),
            None if cursor is None else Cursor(checked_id(cursor, "place in the feed")),
            owner=self.owner,
        )

    async def lost_delivery(self, id: DeliveryId) -> LostDelivery:
        """Read what is known of a delivery that never arrived."""
        return await self._db.read(
            followers.lost_delivery, DeliveryId(checked_count(id, "delivery id"))
        )


def _checked(platforms: Mapping[str, PlatformHealth]) -> dict[str, PlatformHealth]:
    return {
        checked_id(name, "platform"): checked_type(health, "platform's health", PlatformHealth)
        for name, health in platforms.items()
    }
