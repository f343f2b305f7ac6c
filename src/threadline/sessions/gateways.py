"""Gateways: who serves a store, when nobody did, and how their platforms are."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.serving import GatewayRow, Load, Places, PlatformHealth, PlatformState, Uptime
from threadline.core.turn import OwnerId
from threadline.sessions.chronicle import tell_apart
from threadline.storage.database import Row, SqlValue, Transaction, expect
from threadline.storage.moments import moment, stamp

SERVED_EVERY = timedelta(seconds=20)
"""How often a process that works on the queue records it."""
_PAUSE = timedelta(minutes=1)
"""A gap between two such records that is no longer than this is no outage."""
_KEPT = timedelta(days=30)
"""How long outages are remembered."""
_QUEUE = ""
_SKIPPED = "*"
"""Stands in the place of a platform for time that the clock skipped: it never passed."""


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
    tx: Transaction,
    platforms: Mapping[str, PlatformHealth],
    places: Places,
    *,
    owner: OwnerId,
    now: datetime,
) -> None:
    """Record that a gateway still serves, how its platforms are, and how busy it is."""
    before, told = tx.one("read_gateway_platforms", owner=owner), _pack(platforms)
    busy = {"places": places.total, "taken": places.taken, "silent": places.silent}
    if (
        before is None
        or tx.one("beat_gateway", owner=owner, platforms=told, **busy, now=stamp(now)) is None
    ):
        raise NotFound("This gateway was never enrolled, or has left", id=owner)
    if before.text("platforms") != told:
        _note_unreachable(tx, _unpack(before.text("platforms")), platforms)
        tell_apart(tx, EventKind.GATEWAY_CHANGED, None, now)


def _note_unreachable(
    tx: Transaction, before: Mapping[str, PlatformHealth], now: Mapping[str, PlatformHealth]
) -> None:
    """Record the spans, now over, in which platforms were not up."""
    for name, was in before.items():
        health = now.get(name)
        if was.state is PlatformState.UP or health is None or health.since <= was.since:
            continue
        span: dict[str, SqlValue] = {
            "from_at": stamp(was.since),
            "until_at": stamp(health.since),
            "platform": name,
        }
        if tx.one("extend_outage", **span) is None:
            tx.run("add_outage", **span)


def leave(tx: Transaction, *, owner: OwnerId, now: datetime) -> None:
    """Write down that a gateway serves no longer."""
    if tx.one("remove_gateway", owner=owner) is not None:
        tell_apart(tx, EventKind.GATEWAY_CHANGED, None, now)


def note_settings(tx: Transaction, *, now: datetime) -> None:
    """Tell that a gateway goes by other settings from now on."""
    tell_apart(tx, EventKind.SETTINGS_CHANGED, None, now)


def serve(tx: Transaction, *, uptime: Uptime, now: datetime) -> None:
    """Record that a process works on the queue; if none did for a while, record the outage.

    On the machine that recorded it last the gap is measured by its uptime: setting the clock is no
    outage, and sleeping is one. Elsewhere only the clock can tell.
    """
    last, elapsed = tx.one("lock_service"), uptime.elapsed // timedelta(microseconds=1)
    served_at = expect(tx, "read_service").moment_or_none("served_at") or now
    if last is not None and last["boot"] == uptime.boot:
        if elapsed < last.number("uptime"):
            return  # Another process recorded a later reading first.
        noted_at = served_at
        served_at = now - timedelta(microseconds=elapsed - last.number("uptime"))
        _note_jump(tx, noted_at, served_at)
    tx.run("note_service", boot=uptime.boot, uptime=elapsed, now=stamp(now))
    if served_at < now - _PAUSE:
        tx.run("drop_outages", before=stamp(now - _KEPT))
        from_at, until_at = stamp(served_at), stamp(now)
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


def unreached(
    tx: Transaction, inbound: Inbound, now: datetime, *, arrived_at: datetime | None = None
) -> timedelta:
    """Return for how long a message that arrives now could not be received after it was written.

    That is less than its lateness if the clock of the platform, or ours, is wrong.
    """
    until = arrived_at or now
    if not inbound.lateness(until):
        return timedelta(0)
    return unserved(tx, inbound.at, now, until=until, platform=inbound.address.platform)


def unserved(
    tx: Transaction,
    since: datetime,
    now: datetime,
    *,
    until: datetime | None = None,
    platform: str = _QUEUE,
) -> timedelta:
    """Return for how long, since some time and until now or earlier, no process served the queue.

    With a platform, time counts as well in which that could not be reached.
    """
    rows = tx.all("list_outages", since=stamp(since), platform=platform, skipped=_SKIPPED)
    found = [(row.text("platform"), row.moment("from_at"), row.moment("until_at")) for row in rows]
    spans = [(from_at, until_at) for kind, from_at, until_at in found if kind != _SKIPPED]
    if platform != _QUEUE:
        spans += _unreachable(tx, platform, now)
    served_at = expect(tx, "read_service").moment_or_none("served_at")
    if served_at is not None and served_at < now - _PAUSE:
        spans.append((served_at, now))
    for kind, from_at, until_at in found:
        if kind == _SKIPPED:
            spans = [piece for span in spans for piece in _without(span, from_at, until_at)]
    total, counted = timedelta(0), since
    for from_at, until_at in sorted(spans):
        # Processes that start together record outages that overlap.
        begin, end = max(from_at, counted), min(until_at, until or now)
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


def _unreachable(tx: Transaction, platform: str, now: datetime) -> list[tuple[datetime, datetime]]:
    """Return the span in which a platform could not be reached and still cannot."""
    rows = [row for row in list_gateways(tx) if not row.is_silent(now)]
    found = [row.platforms[platform] for row in rows if platform in row.platforms]
    if not found or any(health.state is PlatformState.UP for health in found):
        return []
    return [(max(health.since for health in found), now)]


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
        places=Places(
            total=row.number("places"), taken=row.number("taken"), silent=row.number("silent")
        ),
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
