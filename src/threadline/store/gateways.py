"""Gateways: who serves a store, when nobody did, and how their platforms are."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.gateway_status import (
    GatewayRow,
    PlatformHealth,
    PlatformState,
    ServerHealth,
    ServerState,
    StoreLoad,
    TurnCapacity,
    Uptime,
)
from threadline.core.inbound import Inbound
from threadline.core.turn import OwnerId
from threadline.database.port import Database, SqlValue, Transaction, expect
from threadline.database.timestamps import moment, stamp
from threadline.store.session_writer import add_global_event

SERVED_EVERY = timedelta(seconds=20)
"""How often a process that works on the queue records it."""
_PAUSE = timedelta(minutes=1)
"""A gap between two such records that is no longer than this is no outage."""
_KEPT = timedelta(days=30)
"""How long outages are remembered."""
_QUEUE = ""
_SKIPPED = "*"
"""Stands in the place of a platform for time that the clock skipped: it never passed."""


class _Service(Struct, frozen=True, kw_only=True):
    """The machine on which a process last worked on the queue, and how long it had been up."""

    boot: str | None
    uptime: int
    """Microseconds."""


class _Outage(Struct, frozen=True, kw_only=True):
    """A span in which no process served the queue, or a platform could not be reached."""

    platform: str
    from_at: datetime
    until_at: datetime


class _EnrolledGateway(Struct, frozen=True, kw_only=True):
    """A gateway as it is stored: the health of platforms and MCP servers is one text."""

    owner: OwnerId
    host: str
    pid: int
    version: str
    url: str | None
    health: str
    started_at: datetime
    beat_at: datetime
    places: TurnCapacity

    def gateway(self) -> GatewayRow:
        platforms, servers = _unpack(self.health)
        return GatewayRow(
            owner=self.owner,
            host=self.host,
            pid=self.pid,
            version=self.version,
            url=self.url,
            platforms=platforms,
            started_at=self.started_at,
            beat_at=self.beat_at,
            places=self.places,
            servers=servers,
        )


def register_gateway(
    tx: Transaction,
    *,
    owner: OwnerId,
    host: str,
    pid: int,
    version: str,
    url: str | None,
    platforms: Mapping[str, PlatformHealth],
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
        now=stamp(tx.now),
    )
    add_global_event(tx, EventKind.GATEWAY_CHANGED, None)


def record_heartbeat(
    tx: Transaction,
    platforms: Mapping[str, PlatformHealth],
    places: TurnCapacity,
    servers: Mapping[str, ServerHealth],
    *,
    owner: OwnerId,
    uptime: Uptime,
    at: datetime,
) -> None:
    """Record that a gateway still serves, how its platforms are, and how busy it is.

    The clock showed `at` when `uptime` was read.
    """
    before, told = tx.one("read_gateway_platforms", str, owner=owner), _pack(platforms, servers)
    busy = {"places": places.total, "taken": places.taken, "silent": places.silent}
    if before is None or not tx.exists(
        "beat_gateway", owner=owner, platforms=told, **busy, now=stamp(tx.now)
    ):
        raise NotFound("This gateway was never enrolled, or has left", id=owner)
    if before != told:
        # First, so that a jump of the clock since then is known, and is no part of an outage.
        record_service(tx, uptime=uptime, at=at)
        _note_unreachable(tx, _unpack(before)[0], platforms)
        add_global_event(tx, EventKind.GATEWAY_CHANGED, None)


def _note_unreachable(
    tx: Transaction, before: Mapping[str, PlatformHealth], platforms: Mapping[str, PlatformHealth]
) -> None:
    """Record the spans, now over, in which platforms were not up.

    No span ends later than now: a platform that came up while the clock was ahead says so.
    """
    for name, was in before.items():
        health = platforms.get(name)
        until = None if health is None else min(health.since, tx.now)
        if was.state is PlatformState.UP or until is None or until <= was.since:
            continue
        span: dict[str, SqlValue] = {
            "from_at": stamp(was.since),
            "until_at": stamp(until),
            "platform": name,
        }
        if not tx.exists("extend_outage", **span):
            tx.run("add_outage", **span)


def unregister_gateway(tx: Transaction, *, owner: OwnerId) -> None:
    """Write down that a gateway serves no longer."""
    if tx.exists("remove_gateway", owner=owner):
        add_global_event(tx, EventKind.GATEWAY_CHANGED, None)


def note_settings(tx: Transaction) -> None:
    """Tell that a gateway goes by other settings from now on."""
    add_global_event(tx, EventKind.SETTINGS_CHANGED, None)


def record_service(tx: Transaction, *, uptime: Uptime, at: datetime) -> None:
    """Record that a process works on the queue; if none did for a while, record the outage.

    On the machine that recorded it last the gap is measured by its uptime: setting the clock is no
    outage, and sleeping is one. Elsewhere only the clock can tell. It showed `at` when `uptime` was
    read.
    """
    last, elapsed = tx.one("lock_service", _Service), uptime.elapsed // timedelta(microseconds=1)
    served_at = tx.one("read_service", datetime) or at
    if last is not None and last.boot == uptime.boot:
        if elapsed < last.uptime:
            return  # Another process recorded a later reading first.
        noted_at = served_at
        served_at = at - timedelta(microseconds=elapsed - last.uptime)
        _note_jump(tx, noted_at, served_at)
    tx.run("note_service", boot=uptime.boot, uptime=elapsed, now=stamp(at))
    if served_at < at - _PAUSE:
        tx.run("drop_outages", before=stamp(at - _KEPT))
        from_at, until_at = stamp(served_at), stamp(at)
        tx.run("add_outage", from_at=from_at, until_at=until_at, platform=_QUEUE)


def _note_jump(tx: Transaction, noted_at: datetime, served_at: datetime) -> None:
    """Compare what the clock showed when a process last served with what it would show now.

    Time that the clock skipped belongs to no outage. What it showed before it was set back is no
    longer true.
    """
    if served_at > noted_at + _PAUSE:
        span = {"from_at": stamp(noted_at), "until_at": stamp(served_at)}
        tx.run("add_outage", **span, platform=_SKIPPED)
    elif served_at < noted_at - _PAUSE:
        tx.run("drop_future_outages", after=stamp(served_at + _PAUSE))


def unreachable_time(
    tx: Transaction, inbound: Inbound, *, arrived_at: datetime | None = None
) -> timedelta:
    """Return for how long a message that arrives now could not be received after it was written.

    That is less than its lateness if the clock of the platform, or ours, is wrong.
    """
    until = arrived_at or tx.now
    if not inbound.lateness(until):
        return timedelta(0)
    return downtime(tx, inbound.at, until=until, platform=inbound.address.platform)


def downtime(
    tx: Transaction,
    since: datetime,
    *,
    until: datetime | None = None,
    platform: str = _QUEUE,
    served_at: datetime | None = None,
) -> timedelta:
    """Return for how long, since some time and until now or earlier, no process served the queue.

    With a platform, time counts as well in which that could not be reached. `served_at` is what
    the clock showed when this process recorded just before that it serves. Then only recorded
    outages count, and none after that: the clock may have been set since.
    """
    latest = served_at or tx.now
    found = tx.all("list_outages", _Outage, since=stamp(since), platform=platform, skipped=_SKIPPED)
    spans = [(one.from_at, one.until_at) for one in found if one.platform != _SKIPPED]
    if platform != _QUEUE:
        spans += _unreachable(tx, platform, latest)
    noted_at = tx.one("read_service", datetime)
    if served_at is None and noted_at is not None and noted_at < latest - _PAUSE:
        spans.append((noted_at, latest))
    for one in found:
        if one.platform == _SKIPPED:
            spans = [piece for span in spans for piece in _without(span, one.from_at, one.until_at)]
    total, counted = timedelta(0), since
    for from_at, until_at in sorted(spans):
        # Processes that start together record outages that overlap.
        begin, end = max(from_at, counted), min(until_at, until or latest)
        if begin < end:
            total, counted = total + (end - begin), end
    return total


def _without(
    span: tuple[datetime, datetime], from_at: datetime, until_at: datetime
) -> list[tuple[datetime, datetime]]:
    """Return what is left of a span before and after another one."""
    begin, end = span
    pieces = [(begin, min(end, from_at)), (max(begin, until_at), end)]
    return [(first, last) for first, last in pieces if first < last]


def _unreachable(tx: Transaction, platform: str, at: datetime) -> list[tuple[datetime, datetime]]:
    """Return the span in which a platform could not be reached, up to `at`, and still cannot."""
    rows = [row for row in list_gateways(tx) if not row.is_silent(at)]
    found = [row.platforms[platform] for row in rows if platform in row.platforms]
    if not found or any(health.state is PlatformState.UP for health in found):
        return []
    return [(max(health.since for health in found), at)]


def list_gateways(tx: Transaction) -> list[GatewayRow]:
    """List the gateways that were enrolled and have not left, the oldest first."""
    return [row.gateway() for row in tx.all("list_gateways", _EnrolledGateway)]


def read_load(tx: Transaction) -> StoreLoad:
    """Count what there is to do, and measure the database."""
    return expect(tx, "read_work", StoreLoad)


def _pack(
    platforms: Mapping[str, PlatformHealth], servers: Mapping[str, ServerHealth] | None = None
) -> str:
    """Write the health of platforms and MCP servers as JSON: a list of the two."""
    return json.dumps(
        [
            {
                name: {"state": health.state, "since": stamp(health.since), "error": health.error}
                for name, health in sorted(platforms.items())
            },
            {
                name: {
                    "state": health.state,
                    "since": stamp(health.since),
                    "tools": health.tools,
                    "error": health.error,
                    "error_at": None if health.error_at is None else stamp(health.error_at),
                }
                for name, health in sorted((servers or {}).items())
            },
        ]
    )


def _unpack(text: str) -> tuple[dict[str, PlatformHealth], dict[str, ServerHealth]]:
    """Read the health of platforms and MCP servers. Older versions wrote the platforms alone."""
    told = json.loads(text)
    platforms, servers = told if isinstance(told, list) else (told, {})
    return (
        {
            name: PlatformHealth(
                state=PlatformState(health["state"]),
                since=moment(health["since"]),
                error=health["error"],
            )
            for name, health in platforms.items()
        },
        {
            name: ServerHealth(
                state=ServerState(health["state"]),
                since=moment(health["since"]),
                tools=health["tools"],
                error=health["error"],
                error_at=None if health["error_at"] is None else moment(health["error_at"]),
            )
            for name, health in servers.items()
        },
    )


async def beat(
    db: Database,
    platforms: Mapping[str, PlatformHealth],
    places: TurnCapacity = TurnCapacity(),
    servers: Mapping[str, ServerHealth] | None = None,
) -> None:
    """Record that this process still serves, how its platforms are, and how busy it is."""
    await db.write(
        record_heartbeat,
        platforms,
        places,
        servers or {},
        owner=db.owner,
        uptime=db.environment.uptime(),
        at=db.now(),
    )


async def list_live_gateways(db: Database) -> list[GatewayRow]:
    """Return the gateways that serve, the oldest first, without those whose process is gone."""
    rows = await db.read(list_gateways)
    dead = await db.dead(frozenset(row.owner for row in rows))
    return [row for row in rows if row.owner not in dead]


async def remove_dead_gateways(db: Database) -> int:
    """Delete the gateways whose process is gone; return how many."""
    rows = await db.read(list_gateways)
    dead = await db.dead(frozenset(row.owner for row in rows))
    for owner in dead:
        await db.write(unregister_gateway, owner=owner)
    return len(dead)
