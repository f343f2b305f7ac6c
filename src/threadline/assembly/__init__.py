"""Assembly: the only place where ports meet adapters."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from threadline.assembly.agent_factory import has_model, make_scribe, name_agent, open_agent
from threadline.assembly.model_list import list_models
from threadline.core.database_url import checked_location, is_server
from threadline.core.errors import ConfigError, Conflict, Invalid, StorageError
from threadline.core.platform import Platform
from threadline.core.settings import Settings
from threadline.database.port import Database
from threadline.store import Store
from threadline.store.deletion.forget import forget_again, list_tombstones

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from threadline.config import Config
    from threadline.gateway.gateway import Gateway
    from threadline.gateway.settings import GatewaySettings

PLATFORMS = {
    "telegram": "threadline.platforms.telegram:make",
    "webhook": "threadline.platforms.webhook:make",
}
"""The platforms that come with us, by type. Packages add theirs as entry points."""
_NEEDED = {"telegram": "aiogram"}
"""The packages that those need which are installed as an extra of the same name."""
ENTRY_POINTS = "threadline.platforms"

__all__ = [
    "ENTRY_POINTS",
    "PLATFORMS",
    "MakePlatform",
    "check_platforms",
    "gateway_settings",
    "list_models",
    "make_platform",
    "make_platforms",
    "make_scribe",
    "name_agent",
    "open",
    "open_agent",
    "open_database",
    "open_gateway",
    "prepare_gateway",
    "public_settings",
    "restore",
]


class MakePlatform(Protocol):
    """Makes a platform of a name from its settings; what is wrong with them it raises."""

    def __call__(self, name: str, settings: Mapping[str, object], /) -> Platform:
        """Make it."""
        ...


@asynccontextmanager
async def open(where: str | Path, *, rules: Settings | None = None) -> AsyncIterator[Store]:
    """Open a store: the path of a file, or a PostgreSQL URL.

    Rules that name no time zone go by that of the machine.
    """
    from threadline.assembly.export_files import drop_outputs
    from threadline.config import machine_zone

    located = (rules or Settings()).in_zone(machine_zone())
    database = await open_database(where)
    async with Store(database, located, drop_outputs=drop_outputs) as store:
        yield store


async def open_database(where: str | Path) -> Database:
    """Open the database that a path or URL names."""
    location = checked_location(str(where))
    if is_server(location):
        return await _open_postgres(location)
    from threadline.database.sqlite import SqliteDatabase

    sqlite = SqliteDatabase(_file(where))
    await sqlite.open()
    return sqlite


def refuse_lost(path: Path) -> None:
    """Raise `Misplaced` if a database file is gone that another process still has open."""
    from threadline.database.sqlite import process_locks

    process_locks.refuse_lost(path)


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

    if platforms is None:
        check_platforms(config)
    settings = gateway_settings(config)
    served = make_platforms(config) if platforms is None else platforms
    where = config.database if config.is_server else config.path
    async with (
        open_agent(config) as (agent, scribe),
        open(where, rules=config.rules()) as store,
    ):
        yield Gateway(store, agent, served, settings=settings, scribe=scribe)


def make_platforms(config: "Config") -> list[Platform]:
    """Make all platforms that the settings name and that are not switched off, and our own."""
    from threadline.config import output_folder
    from threadline.platforms.local import Local

    check_platforms(config)
    named = [make_platform(config, name) for name in _wanted(config)]
    return [*named, Local(output_folder())]


def check_platforms(config: "Config") -> None:
    """Refuse a platform of no known type, and settings that it does not know or that it misses.

    No secret is fetched for that: what is misspelt is told first.
    """
    for name in _wanted(config):
        fields = _fields(_factory(config, name))
        if fields:
            required = [key for key, field in fields.items() if field.is_required()]
            config.check_platform(name, list(fields), required)


def public_settings(config: "Config") -> dict[str, list[str]]:
    """List, by platform, those of its own settings that it knows, and that are no secrets."""
    found: dict[str, list[str]] = {}
    for name in config.platforms:
        with suppress(ConfigError):
            fields = _fields(_factory(config, name)).items()
            found[name] = [key for key, field in fields if "Secret" not in str(field.annotation)]
    return found


def _wanted(config: "Config") -> list[str]:
    return [name for name, one in config.platforms.items() if one.enabled]


def gateway_settings(config: "Config") -> "GatewaySettings":
    """Make the settings of a gateway."""
    from threadline.gateway.intervals import Intervals
    from threadline.gateway.settings import GatewaySettings

    profiles = config.profiles.items()
    return GatewaySettings(
        access=config.access.rules(),
        routing=tuple(one.rule() for one in config.routing),
        default_profile=config.profile,
        instructions=tuple(one.instructions() for one in config.context.instructions),
        redact=config.context.redact,
        concurrency=config.concurrency,
        per_profile={name: one.concurrency for name, one in profiles if one.concurrency},
        hooks=config.hooks.model_dump(),
        streams=config.streaming,
        compact_at=config.scribe.compact_at,
        titles=config.scribe.titles and has_model(config),
        secrets=config.secrets(),
        pace=Intervals(
            drain=timedelta(seconds=config.drain_seconds),
            inactivity=timedelta(minutes=config.inactivity_minutes),
        ),
    )


def make_platform(config: "Config", name: str) -> Platform:
    """Make one platform of the settings."""
    from pydantic import ValidationError

    make, settings = _factory(config, name), config.platform_settings(name)
    try:
        made = make(name, settings)
    except ValidationError as error:
        raise config.explain_platform(error, name, list(_fields(make))) from None
    except Invalid as error:
        hint = error.hint or "Look at the page of the platform"
        raise ConfigError(error.message, id=f"platforms.{name}", hint=hint) from error
    if made.name != name:
        # Who speaks there is known by the name: with another one they could pass for the owner.
        hint = "Its package must use the name that it is given"
        raise ConfigError(
            f"The platform calls itself {made.name[:60]!r}", id=f"platforms.{name}", hint=hint
        )
    return made


def _factory(config: "Config", name: str) -> MakePlatform:
    """Find who makes platforms of a type: one of ours, or a package's."""
    from importlib.metadata import EntryPoint, entry_points
    from importlib.util import find_spec

    key, kind = f"platforms.{name}", config.platforms[name].type or name
    known = {one.name: one for one in entry_points(group=ENTRY_POINTS)}
    known |= {
        ours: EntryPoint(name=ours, value=value, group=ENTRY_POINTS)
        for ours, value in PLATFORMS.items()
    }
    if name in PLATFORMS and kind != name:
        hint = "Its senders would count as those of that platform: choose another name"
        raise ConfigError(f"{key} has the name of another kind of platform", id=key, hint=hint)
    if kind not in known:
        hint = f"There are: {', '.join(sorted(known))}; a platform called otherwise needs a type"
        if config.platforms[name].type is None:
            raise ConfigError(f"{key}.type is missing", id=config.origin_of(key), hint=hint)
        raise ConfigError(f"There is no platform of the type {kind[:60]}", id=key, hint=hint)
    if kind in _NEEDED and find_spec(_NEEDED[kind]) is None:
        hint = f"Run: pip install 'threadline[{kind}]', or set enabled = false"
        raise ConfigError("The platform needs an extra package", id=key, hint=hint)
    try:
        make: MakePlatform = known[kind].load()
    except (ImportError, AttributeError) as error:
        hint = f"Install what {known[kind].value} needs, or set enabled = false"
        raise ConfigError(f"The platform cannot be loaded: {error}", id=key, hint=hint) from error
    return make


def _fields(make: MakePlatform) -> "Mapping[str, FieldInfo]":
    """Answer the settings that a platform has, where its module says so in the usual way."""
    module = sys.modules.get(getattr(make, "__module__", ""))
    return getattr(getattr(module, "Settings", None), "model_fields", {})


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
        from threadline.database.sqlite.backup import restore as restore_file

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
                marks = await list_tombstones(replaced.database)
    except StorageError:
        marks = []  # It may be restored just because it is damaged.
    # Opening it also brings an older schema up to date.
    async with open(where) as restored:
        if marks:
            await forget_again(restored.database, marks)


async def _restore_server(
    url: str, backup: Path, *, replace: bool, now: datetime, told: Callable[[int, int], None]
) -> Path | None:
    with _postgres_needed():
        from threadline.database.postgres.backup import restore as restore_tables
        from threadline.database.postgres.connection import ConnectionTarget

    aside = backup.with_name(f"{backup.name}.before-{now:%Y%m%d-%H%M%S}")
    if aside.exists():
        raise Conflict("There is a file of that name already", id=str(aside), hint="Move it away")
    return await asyncio.to_thread(
        restore_tables,
        ConnectionTarget(url),
        backup,
        aside=aside,
        replace=replace,
        now=now,
        told=told,
    )


def _file(where: str | Path) -> Path:
    return Path(where).expanduser()


@contextmanager
def _postgres_needed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            "PostgreSQL needs an extra package", hint="Run: pip install 'threadline[postgres]'"
        ) from error


async def _open_postgres(url: str) -> Database:
    with _postgres_needed():
        from threadline.database.postgres import PostgresDatabase

    postgres = PostgresDatabase(url)
    await postgres.open()
    return postgres
