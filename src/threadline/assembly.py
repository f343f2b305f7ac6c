"""Assembly: the only place where ports meet adapters."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from threadline.core.agent import Agent
from threadline.core.errors import ConfigError, Invalid, StorageError
from threadline.core.location import checked_location, is_server
from threadline.core.platform import Platform
from threadline.core.rules import Rules
from threadline.sessions.store import Store
from threadline.storage.database import Database

if TYPE_CHECKING:
    from threadline.config import Config
    from threadline.gateway.gateway import Gateway
    from threadline.gateway.settings import GatewaySettings

PLATFORMS = {"webhook": "threadline.platforms.webhook:make"}
"""The platforms that come with us, by type. Packages add theirs as entry points."""
ENTRY_POINTS = "threadline.platforms"


class MakePlatform(Protocol):
    """Makes a platform of a name from its settings; what is wrong with them it raises."""

    def __call__(self, name: str, settings: Mapping[str, object], /) -> Platform:
        """Make it."""
        ...


@asynccontextmanager
async def open(where: str | Path, *, rules: Rules | None = None) -> AsyncIterator[Store]:
    """Open a store: the path of a file, or a PostgreSQL URL."""
    database = await open_database(where)
    async with Store(database, rules) as store:
        yield store


async def open_database(where: str | Path) -> Database:
    """Open the database that a path or URL names."""
    location = checked_location(str(where))
    if is_server(location):
        return await _open_postgres(location)
    from threadline.storage.sqlite import SqliteDatabase

    sqlite = SqliteDatabase(_file(where))
    await sqlite.open()
    return sqlite


@asynccontextmanager
async def open_gateway(config: "Config") -> "AsyncIterator[Gateway]":
    """Open the store of the settings, and serve it."""
    async with prepare_gateway(config) as gateway, gateway:
        yield gateway


@asynccontextmanager
async def prepare_gateway(
    config: "Config", platforms: Sequence[Platform] | None = None
) -> "AsyncIterator[Gateway]":
    """Open the store of the settings for a gateway that is not begun yet, with other platforms."""
    from threadline.gateway.gateway import Gateway

    settings, agent = gateway_settings(config), make_agent(config)
    served = make_platforms(config) if platforms is None else platforms
    where = config.database if config.is_server else config.path
    async with open(where, rules=config.rules()) as store:
        yield Gateway(store, agent, served, settings=settings)


def make_agent(config: "Config") -> Agent:  # noqa: ARG001 - so that it can say which one
    """Make the agent that answers."""
    from threadline.agents.echo import Echo

    return Echo()


def make_platforms(config: "Config") -> list[Platform]:
    """Make all platforms that the settings name and that are not switched off, and our own."""
    from threadline.config import OUTPUT
    from threadline.platforms.local import Local

    wanted = {name: one for name, one in config.platforms.items() if one.enabled}
    named = [_make_platform(config, name, one.type or name) for name, one in wanted.items()]
    return [*named, Local(OUTPUT.expanduser())]


def gateway_settings(config: "Config") -> "GatewaySettings":
    """Make the settings of a gateway."""
    from threadline.gateway.pace import Pace
    from threadline.gateway.settings import GatewaySettings

    profiles, platforms = config.profiles.items(), config.platforms.items()
    return GatewaySettings(
        access=config.access.rules(),
        routing=tuple(one.rule() for one in config.routing),
        default_profile=config.profile,
        homes=tuple(one.home_of(name) for name, one in platforms if one.home and one.enabled),
        instructions=tuple(one.instructions() for one in config.context.instructions),
        redact=config.context.redact,
        concurrency=config.concurrency,
        per_profile={name: one.concurrency for name, one in profiles if one.concurrency},
        hooks=config.hooks.model_dump(),
        streams=config.streaming,
        secrets=config.secrets(),
        pace=Pace(
            drain=timedelta(seconds=config.drain_seconds),
            inactivity=timedelta(minutes=config.inactivity_minutes),
        ),
    )


def _make_platform(config: "Config", name: str, type: str) -> Platform:
    from pydantic import ValidationError

    make, settings = _factory(type, f"platforms.{name}"), config.platform_settings(name)
    try:
        return make(name, settings)
    except ValidationError as error:
        raise config.explain_platform(error, name, _setting_names(make)) from None
    except Invalid as error:
        hint = error.hint or "Look at the page of the platform"
        raise ConfigError(error.message, id=f"platforms.{name}", hint=hint) from error


def _factory(type: str, key: str) -> MakePlatform:
    """Find who makes platforms of a type: one of ours, or a package's."""
    from importlib.metadata import EntryPoint, entry_points

    known = {one.name: one for one in entry_points(group=ENTRY_POINTS)}
    known |= {
        name: EntryPoint(name=name, value=value, group=ENTRY_POINTS)
        for name, value in PLATFORMS.items()
    }
    if type not in known:
        hint = f"There are: {', '.join(sorted(known))}; a platform called otherwise needs a type"
        raise ConfigError(f"There is no platform of the type {type[:60]}", id=key, hint=hint)
    try:
        make: MakePlatform = known[type].load()
    except (ImportError, AttributeError) as error:
        hint = f"Install what {known[type].value} needs, or set enabled = false"
        raise ConfigError(f"The platform cannot be loaded: {error}", id=key, hint=hint) from error
    return make


def _setting_names(make: MakePlatform) -> list[str]:
    """List the settings that a platform has, where its module says so in the usual way."""
    module = sys.modules.get(getattr(make, "__module__", ""))
    return list(getattr(getattr(module, "Settings", None), "model_fields", ()))


async def restore(
    where: str | Path,
    backup: Path,
    *,
    replace: bool = False,
    now: datetime | None = None,
    told: Callable[[int, int], None] | None = None,
) -> Path | None:
    """Put what a backup holds into a database that is new or empty, or in the place of another.

    What was there before is kept aside in a file; answers which. Nobody may have it open.
    """
    location = checked_location(str(where))
    told = told or (lambda _done, _whole: None)
    now = now or datetime.now(UTC)
    if not is_server(location):
        from threadline.storage.sqlite.backup import restore as restore_file

        aside = await asyncio.to_thread(
            restore_file, _file(where), backup, replace=replace, now=now, told=told
        )
    else:
        aside = await _restore_server(location, backup, replace=replace, now=now, told=told)
    await _forget_again(where, aside)
    return aside


async def _forget_again(where: str | Path, aside: Path | None) -> None:
    """Let nothing come back with a backup that had been forgotten in what it replaces."""
    marks: list[str] = []
    try:
        if aside is not None:
            async with open(aside) as replaced:
                marks = await replaced.tombstones()
    except StorageError:
        marks = []  # It may be restored just because it is damaged.
    # Opening it also brings an older schema up to date.
    async with open(where) as restored:
        if marks:
            await restored.forget_again(marks)


async def _restore_server(
    url: str, backup: Path, *, replace: bool, now: datetime, told: Callable[[int, int], None]
) -> Path | None:
    database = await _open_postgres(url)
    from threadline.storage.backup import examine
    from threadline.storage.postgres.backup import is_used
    from threadline.storage.postgres.backup import restore as restore_tables
    from threadline.storage.postgres.connection import Target

    target, aside = Target(url), None
    try:
        await asyncio.to_thread(examine, backup)
        if replace and await asyncio.to_thread(is_used, target):
            aside = backup.with_name(f"{backup.name}.before-{now:%Y%m%d-%H%M%S}")
            await database.back_up(aside)
    finally:
        await database.close()
    await asyncio.to_thread(restore_tables, target, backup, replace=replace, now=now, told=told)
    return aside


def _file(where: str | Path) -> Path:
    return Path(where).expanduser()


async def _open_postgres(url: str) -> Database:
    try:
        from threadline.storage.postgres import PostgresDatabase
    except ImportError as error:
        raise ConfigError(
            "PostgreSQL needs an extra package", hint="Run: pip install 'threadline[postgres]'"
        ) from error
    postgres = PostgresDatabase(url)
    await postgres.open()
    return postgres
