"""Status report: which gateways serve an installation, and what there is to do."""

from datetime import datetime, timedelta

from msgspec import Struct

from threadline.assembly import name_agent
from threadline.cli.doctor_checks import overdue_words
from threadline.cli.output import local
from threadline.cli.store_opener import open_store
from threadline.config import Config
from threadline.core.gateway_status import (
    SILENT_AFTER,
    GatewayRow,
    PlatformHealth,
    StoreLoad,
    TurnCapacity,
)
from threadline.store.formatting import count, describe_server, span
from threadline.store.gateways import list_live_gateways, read_load
from threadline.store.jobs.job_runs import list_due_jobs
from threadline.store.jobs.jobs import next_job_due
from threadline.store.stats import Overdue, count_undelivered, list_overdue

_DUE_SHOWN = 50
_LATELY = timedelta(days=1)


class State(Struct, frozen=True, kw_only=True):
    """Who serves an installation, and what there is to do."""

    database: str
    agent: str
    """Who answers, by the settings that are read here."""
    at: datetime
    gateways: tuple[GatewayRow, ...]
    load: StoreLoad
    lost: int
    """Deliveries of the last day that never arrived."""
    due_jobs: int
    next_job_at: datetime | None
    overdue: tuple[Overdue, ...] = ()
    """Work that should have begun some minutes ago."""


async def read_status(config: Config) -> State:
    """Read it from the store."""
    async with open_store(config) as opened:
        store = opened.store
        now = store.now()
        return State(
            database=config.shown_database,
            agent=name_agent(config, config.profile),
            at=now,
            gateways=tuple(await list_live_gateways(store.database)),
            load=await store.database.read(read_load),
            lost=await store.database.read(count_undelivered, now - _LATELY),
            due_jobs=len(await store.database.read(list_due_jobs, most=_DUE_SHOWN)),
            next_job_at=await store.database.read(next_job_due),
            overdue=tuple(await store.database.read(list_overdue)),
        )


def render_status(state: State) -> str:
    """Tell it to a person."""
    load = state.load
    lines = [
        f"{state.database}",
        f"Agent: {state.agent}.",
        *_gateway_lines(state),
        f"Turns: {load.queued:,} waiting, {load.running:,} under way.",
        f"Replies: {load.owed:,} owed, {state.lost:,} lost in the last day.",
        f"Jobs: {_jobs(state)}.",
        *(f"{overdue_words(work)}, since {local(work.since)}." for work in state.overdue),
    ]
    return "\n".join(lines)


def _gateway_lines(state: State) -> list[str]:
    if not state.gateways:
        return ["No gateway serves. `threadline serve` starts one."]
    lines = [f"{count(len(state.gateways), 'gateway')} serving:"]
    for one in state.gateways:
        stuck = f", silent for {span(state.at - one.beat_at)}" if one.is_silent(state.at) else ""
        where = f" at {one.url}" if one.url else ""
        lines.append(
            f"  {one.host} (process {one.pid}){where}, {one.version}, "
            f"since {local(one.started_at)}{stuck}"
        )
        lines.append(f"    {_busy(one.places)}")
        lines += [f"    {name}: {_told(health)}" for name, health in one.platforms.items()]
        lines += [
            f"    MCP server {name}: {server.state} since {local(server.since)}"
            + describe_server(server, state.at)
            for name, server in one.servers.items()
        ]
    return lines


def _busy(places: TurnCapacity) -> str:
    taken = f"{places.taken} of {count(places.total, 'place')} for turns taken"
    if not places.silent:
        return taken
    return f"{taken}, {places.silent} by agents silent for more than {span(SILENT_AFTER)}"


def _told(health: PlatformHealth) -> str:
    why = f" ({health.error})" if health.error else ""
    return f"{health.state} since {local(health.since)}{why}"


def _jobs(state: State) -> str:
    if state.due_jobs:
        return f"{state.due_jobs:,} due"
    return f"next at {local(state.next_job_at)}" if state.next_job_at else "none ahead"
