"""Gateways: who serves a store, and how their platforms are."""

import json
from collections.abc import Mapping
from datetime import datetime

from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.serving import GatewayRow, Load, PlatformHealth, PlatformState
from threadline.core.turn import OwnerId
from threadline.sessions.chronicle import tell_apart
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import moment, stamp


def enrol(
    tx: Transaction,
    *,
    owner: OwnerId,
    host: str,
    pid: int,
    version: str,
    url: str | None,
    platforms: Mapping[str, PlatformHealth],
    now: datetime,
) -> None:
    """Write down that a gateway begins to serve."""
    tx.run(
        "enrol_gateway",
        owner=owner,
        host=host,
        pid=pid,
        version=version,
        url=url,
        platforms=_pack(platforms),
        now=stamp(now),
    )
    tell_apart(tx, EventKind.GATEWAY_CHANGED, None, now)


def beat(
    tx: Transaction, platforms: Mapping[str, PlatformHealth], *, owner: OwnerId, now: datetime
) -> None:
    """Write down that a gateway still serves, and how its platforms are."""
    before, told = tx.one("read_gateway_platforms", owner=owner), _pack(platforms)
    if (
        before is None
        or tx.one("beat_gateway", owner=owner, platforms=told, now=stamp(now)) is None
    ):
        raise NotFound("This gateway was never enrolled, or has left", id=owner)
    if before.text("platforms") != told:
        tell_apart(tx, EventKind.GATEWAY_CHANGED, None, now)


def leave(tx: Transaction, *, owner: OwnerId, now: datetime) -> None:
    """Write down that a gateway serves no longer."""
    if tx.one("remove_gateway", owner=owner) is not None:
        tell_apart(tx, EventKind.GATEWAY_CHANGED, None, now)


def note_settings(tx: Transaction, *, now: datetime) -> None:
    """Tell that a gateway goes by other settings from now on."""
    tell_apart(tx, EventKind.SETTINGS_CHANGED, None, now)


def list_gateways(tx: Transaction) -> list[GatewayRow]:
    """List the gateways that were enrolled and have not left, the oldest first."""
    return [_gateway_from(row) for row in tx.all("list_gateways")]


def read_load(tx: Transaction) -> Load:
    """Count what there is to do, and measure the database."""
    row = expect(tx, "read_work")
    names = ("queued", "running", "owed", "size")
    queued, running, owed, size = (row.number(name) for name in names)
    return Load(queued=queued, running=running, owed=owed, size=size)


def _gateway_from(row: Row) -> GatewayRow:
    return GatewayRow(
        owner=OwnerId(row.text("owner")),
        host=row.text("host"),
        pid=row.number("pid"),
        version=row.text("version"),
        url=row.text_or_none("url"),
        platforms=_unpack(row.text("platforms")),
        started_at=row.moment("started_at"),
        beat_at=row.moment("beat_at"),
    )


def _pack(platforms: Mapping[str, PlatformHealth]) -> str:
    return json.dumps(
        {
            name: {"state": health.state, "since": stamp(health.since), "error": health.error}
            for name, health in sorted(platforms.items())
        }
    )


def _unpack(text: str) -> dict[str, PlatformHealth]:
    return {
        name: PlatformHealth(
            state=PlatformState(health["state"]),
            since=moment(health["since"]),
            error=health["error"],
        )
        for name, health in json.loads(text).items()
    }
