"""Configuration: one typed Config, read from the environment, two files and the defaults."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from types import MappingProxyType

from pydantic import Field, PrivateAttr, ValidationError, field_validator

from threadline.config.layers import (
    PREFIX,
    Way,
    home_of,
    lay_over,
    leaves,
    parse_file,
    read_file,
    read_variables,
)
from threadline.config.mistakes import DEFAULT, check_names, explain, explain_platform
from threadline.config.secrets import (
    credentials_in,
    is_reference,
    is_secret_way,
    resolve,
    shown,
)
from threadline.config.sections import (
    BusyModes,
    Drain,
    Edits,
    Flag,
    Freshness,
    Lease,
    Minutes,
    People,
    Resets,
    Retain,
    Section,
    Shares,
    Spend,
    tried,
)
from threadline.config.serving import (
    AccessSettings,
    ContextSettings,
    Count,
    HookSettings,
    LogSettings,
    PlatformSettings,
    ProfileSettings,
    RoutingSettings,
    ServerSettings,
)
from threadline.core.errors import ConfigError, Invalid
from threadline.core.location import checked_location, hide_password, is_server
from threadline.core.person import PeopleMode
from threadline.core.policy import Policies, zone
from threadline.core.route import MAIN_PROFILE, Scopes, canonical_profile
from threadline.core.rules import EditMode, Rules
from threadline.core.secrecy import HIDDEN
from threadline.core.text import checked_name
from threadline.core.turn import FRESHNESS, LEASE

__all__ = [
    "DEFAULT",
    "FILE",
    "FOLDER",
    "OUTPUT",
    "PREFIX",
    "Config",
    "load_config",
    "machine_zone",
    "parse_config",
]

FILE = "threadline.toml"
FOLDER = Path("~/.threadline")
OUTPUT = FOLDER / "output"
"""Where files are written that somebody asked for, a folder for each profile."""

_LOCALTIME = Path("/etc/localtime")
_TABLE = "a table of settings"


class Config(Section):
    """All settings, and where each of them came from."""

    # A PostgreSQL URL may hold a password, so it is never part of how a Config shows itself.
    database: str = Field(
        default=str(FOLDER / "threadline.db"),
        repr=False,
        description="the path of a file, or a PostgreSQL URL",
    )
    profile: str = Field(
        default=MAIN_PROFILE,
        description="1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit",
    )
    reset: Resets = Field(default=Resets(), description=_TABLE)
    sharing: Shares = Field(default=Shares(), description=_TABLE)
    busy: BusyModes = Field(default=BusyModes(), description=_TABLE)
    edits: Edits = EditMode.NOTE
    people: People = PeopleMode.APART
    spend: Spend = Field(default=Spend(), description=_TABLE)
    retention: Retain = Field(default=Retain(), description=_TABLE)
    freshness_seconds: Freshness = int(FRESHNESS.total_seconds())
    lease_seconds: Lease = int(LEASE.total_seconds())
    drain_seconds: Drain = 20
    concurrency: Count = 32
    inactivity_minutes: Minutes = 30
    streaming: Flag = True
    access: AccessSettings = Field(default=AccessSettings(), description=_TABLE)
    routing: tuple[RoutingSettings, ...] = Field(
        default=(), description="a list of tables with a profile and where it holds"
    )
    profiles: dict[str, ProfileSettings] = Field(
        default={}, description="tables named after profiles"
    )
    platforms: dict[str, PlatformSettings] = Field(
        default={}, repr=False, description="tables named after platforms"
    )
    context: ContextSettings = Field(default=ContextSettings(), description=_TABLE)
    hooks: HookSettings = Field(default=HookSettings(), description=_TABLE)
    server: ServerSettings = Field(default=ServerSettings(), description=_TABLE)
    logs: LogSettings = Field(default=LogSettings(), description=_TABLE)

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _machine: tzinfo = PrivateAttr(default=UTC)
    _environ: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @field_validator("database")
    @classmethod
    def _names_a_place(cls, text: str) -> str:
        if not text or "\0" in text:
            raise ValueError("no place")
        return checked_location(text)

    @field_validator("profile")
    @classmethod
    def _is_a_name(cls, text: str) -> str:
        tried(lambda name: checked_name(canonical_profile(name), "profile"), text)
        return canonical_profile(text)

    @field_validator("profiles", "platforms")
    @classmethod
    def _are_named(cls, tables: dict[str, Section]) -> dict[str, Section]:
        for name in tables:
            tried(lambda name: checked_name(name, "name"), name)
        return tables

    @property
    def is_server(self) -> bool:
        """Whether the database is a PostgreSQL server, and no file."""
        return is_server(self.database)

    @property
    def path(self) -> Path:
        """Where the file of an embedded database lies; a relative path begins at its setting."""
        where = Path(self.database).expanduser()
        origin = Path(self.origin_of("database"))
        return origin.parent / where if origin.name == FILE else where

    @property
    def shown_database(self) -> str:
        """The database as anybody may see it."""
        return hide_password(self.database) if self.is_server else str(self.path)

    @property
    def known_profiles(self) -> frozenset[str]:
        """All profiles that the settings name, and the main one."""
        routed = (rule.profile for rule in self.routing)
        named = (MAIN_PROFILE, self.profile, *self.profiles, *routed)
        return frozenset(canonical_profile(name) for name in named)

    def origin_of(self, key: str) -> str:
        """Tell where a setting came from: a variable, a file, an option, or the defaults."""
        return self._origins.get(key, DEFAULT)

    def settings(
        self, public: Mapping[str, Collection[str]] = MappingProxyType({})
    ) -> Iterator[tuple[str, object, str]]:
        """Walk over all settings: dotted name, value as anybody may see it, and its origin.

        `public` names, by platform, those of its own settings that it knows to be no secrets. What
        else stands there may be a secret with a misspelt name.
        """
        for key, value in leaves(self.model_dump(mode="json")):
            seen = self.shown_database if key == "database" else shown(key, value)
            yield key, seen if self._is_public(key, value, public) else HIDDEN, self.origin_of(key)

    def _is_public(self, key: str, value: object, public: Mapping[str, Collection[str]]) -> bool:
        section, name, own = (*key.split(".", 2), "", "")[:3]
        own = own.partition(".")[0]
        if section != "platforms" or name not in self.platforms:
            return True
        if own not in self.platforms[name].own or own in public.get(name, ()):
            return True
        return not isinstance(value, str | list) or is_reference(value)

    def platform_settings(self, name: str) -> dict[str, object]:
        """Answer what only a platform itself knows, with its secrets fetched from their places."""
        return {
            key: self._fetch(f"platforms.{name}.{key}", value) for key, value in self._own(name)
        }

    def check_platform(self, name: str, names: Sequence[str], required: Sequence[str]) -> None:
        """Refuse a setting that a platform does not know, and then the lack of one."""
        check_names(self.platforms[name].own, name, names, required, self._origins)

    def explain_platform(
        self, error: ValidationError, name: str, names: Sequence[str]
    ) -> ConfigError:
        """Say what is wrong with the settings that only a platform itself knows."""
        return explain_platform(error, name, names, self._origins)

    def secrets(self) -> frozenset[str]:
        """Answer all secrets that the settings hold or name, so that nobody writes them down."""
        found: set[str] = set()
        for name in self.platforms:
            for key, value in leaves(dict(self._own(name))):
                fetched = _texts(self._fetch(f"platforms.{name}.{key}", value))
                if is_reference(value) or is_secret_way(f"platforms.{name}.{key}"):
                    found.update(fetched)
                for text in fetched:
                    found.update(credentials_in(text))
        return frozenset(found)

    def _own(self, name: str) -> Iterator[tuple[str, object]]:
        yield from self.platforms[name].own.items()

    def _fetch(self, key: str, value: object) -> object:
        folder = Path(self.origin_of(key)).parent
        return resolve(key, value, folder=folder, environ=self._environ)

    def rules(self) -> Rules:
        """Answer what the verbs must know of the settings."""
        machine = self._machine
        return Rules(
            policies=Policies(
                default=self.reset.default.policy(machine),
                by_kind={kind: own.policy(machine) for kind, own in self.reset.kinds.items()},
                by_platform={on: own.policy(machine) for on, own in self.reset.platforms.items()},
            ),
            scopes=Scopes(groups=self.sharing.groups, threads=self.sharing.threads),
            scopes_by_platform={on: self.sharing.on(on) for on in self.sharing.platforms},
            busy=self.busy.default,
            busy_by_platform=self.busy.platforms,
            edits=self.edits,
            people=self.people,
            spend=self.spend.caps(machine),
            retention=self.retention.retention(),
            lease=timedelta(seconds=self.lease_seconds),
            freshness=timedelta(seconds=self.freshness_seconds),
            homes={
                name: one.home_of(name)
                for name, one in self.platforms.items()
                if one.home and one.enabled
            },
        )


def load_config(
    options: Mapping[str, str | None] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
) -> Config:
    """Read the settings: options of the command line, environment, user's file, project's file."""
    given: dict[str, tuple[Way, object]] = {
        f"--{name}": (tuple(name.split(".")), value)
        for name, value in (options or {}).items()
        if value
    }
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    user = home_of(environ) / FOLDER.name / FILE
    for file in (folder.absolute() / FILE, user):
        lay_over(values, read_file(file), str(file), origins)
    for name, (way, value) in {**read_variables(environ), **given}.items():
        layer: object = value
        for key in reversed(way):
            layer = {key: layer}
        lay_over(values, layer, name, origins)
    return _make(values, origins, environ)


def parse_config(text: str, origin: str, *, environ: Mapping[str, str] = os.environ) -> Config:
    """Read settings from one text alone, as a file with this name would give them."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    lay_over(values, parse_file(text, origin), origin, origins)
    return _make(values, origins, environ)


def _make(values: dict[str, object], origins: dict[str, str], environ: Mapping[str, str]) -> Config:
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise explain(error, origins, Config) from None
    except ConfigError as error:  # only the database says by itself what is wrong with it
        origin = origins.get("database", DEFAULT)
        raise ConfigError(error.message, id=origin, hint=error.hint) from None
    config._origins = origins  # noqa: SLF001 - this is how a Config is made
    config._machine = machine_zone(environ)  # noqa: SLF001 - the same
    config._environ = environ  # noqa: SLF001 - the same
    return config


def machine_zone(environ: Mapping[str, str] = os.environ, link: Path = _LOCALTIME) -> tzinfo:
    """Find the time zone of this machine: TZ, else the link that systems keep; UTC at last."""
    name = environ.get("TZ", "").removeprefix(":")
    if not name and link.is_symlink():
        name = str(link.readlink())
    try:
        return zone(name.rpartition("zoneinfo/")[2]) if name else UTC
    except Invalid:
        return UTC  # as the C library does with a name that it does not know


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str) and one]
