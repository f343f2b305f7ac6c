"""Configuration: one typed Config, read from the environment, two files and the defaults."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, timedelta, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias, get_args

from pydantic import Field, PrivateAttr, ValidationError, field_validator

from threadline.config.sections import (
    BusyModes,
    Drain,
    Edits,
    Freshness,
    Lease,
    People,
    Resets,
    Retain,
    Section,
    Shares,
    Spend,
    tried,
)
from threadline.core.errors import ConfigError, Invalid
from threadline.core.location import checked_location, hide_password, is_server
from threadline.core.person import PeopleMode
from threadline.core.policy import Policies, zone
from threadline.core.route import MAIN_PROFILE, Scopes, canonical_profile
from threadline.core.rules import EditMode, Rules
from threadline.core.text import checked_name
from threadline.core.turn import FRESHNESS, LEASE

PREFIX = "THREADLINE_"
FILE = "threadline.toml"
FOLDER = Path("~/.threadline")
DEFAULT = "default"

Way: TypeAlias = tuple[str, ...]
"""The way to a setting through the tables: `("reset", "default", "mode")`."""

_LOCALTIME = Path("/etc/localtime")


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
    reset: Resets = Field(default=Resets(), description="a table of settings")
    sharing: Shares = Field(default=Shares(), description="a table of settings")
    busy: BusyModes = Field(default=BusyModes(), description="a table of settings")
    edits: Edits = EditMode.NOTE
    people: People = PeopleMode.APART
    spend: Spend = Field(default=Spend(), description="a table of settings")
    retention: Retain = Field(default=Retain(), description="a table of settings")
    freshness_seconds: Freshness = int(FRESHNESS.total_seconds())
    lease_seconds: Lease = int(LEASE.total_seconds())
    drain_seconds: Drain = 20

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _machine: tzinfo = PrivateAttr(default=UTC)

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

    def origin_of(self, key: str) -> str:
        """Tell where a setting came from: a variable, a file, an option, or the defaults."""
        return self._origins.get(key, DEFAULT)

    def settings(self) -> Iterator[tuple[str, object, str]]:
        """Walk over all settings: dotted name, value, and where it came from."""
        for key, value in _leaves(self.model_dump(mode="json")):
            yield key, value, self.origin_of(key)

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
        )


def load_config(
    options: Mapping[str, str | None] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
) -> Config:
    """Read the settings: options of the command line, environment, user's file, project's file."""
    given = {f"--{name}": ((name,), value) for name, value in (options or {}).items() if value}
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    user = _home(environ) / FOLDER.name / FILE
    for file in (folder.absolute() / FILE, user):
        _lay_over(values, _read(file), str(file), origins)
    for name, (way, value) in {**_variables(environ), **given}.items():
        layer: object = value
        for key in reversed(way):
            layer = {key: layer}
        _lay_over(values, layer, name, origins)
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise _explain(error, origins) from None
    except ConfigError as error:  # only the database says by itself what is wrong with it
        origin = origins.get("database", DEFAULT)
        raise ConfigError(error.message, id=origin, hint=error.hint) from None
    config._origins = origins  # noqa: SLF001 - this is how a Config is made
    config._machine = machine_zone(environ)  # noqa: SLF001 - the same
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


def _home(environ: Mapping[str, str]) -> Path:
    try:
        return Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    except RuntimeError as error:
        raise ConfigError("Nobody's home folder can be found", hint="Set HOME") from error


def _read(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"The file cannot be read: {why}", id=str(file)) from error
    except ValueError as error:
        raise ConfigError(f"The file is no TOML: {error}", id=str(file)) from error


def _variables(environ: Mapping[str, str]) -> dict[str, tuple[Way, str]]:
    """Find our variables; two underscores lead into a table: THREADLINE_BUSY__DEFAULT."""
    return {
        name: (tuple(name.removeprefix(PREFIX).lower().split("__")), value)
        for name, value in sorted(environ.items())
        if name.startswith(PREFIX) and value
    }


def _lay_over(
    values: dict[str, object], layer: object, origin: str, origins: dict[str, str], way: Way = ()
) -> None:
    """Put one source of settings over those before it, setting by setting."""
    for name, value in layer.items() if isinstance(layer, dict) else ():
        below = values.get(name)
        if isinstance(value, dict):
            inner: dict[str, object] = below if isinstance(below, dict) else {}
            values[name] = inner
            _lay_over(inner, value, origin, origins, (*way, name))
        else:
            values[name] = value
        origins[".".join((*way, name))] = origin


def _leaves(table: Mapping[str, object], way: Way = ()) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*way, name))
        else:
            yield ".".join((*way, name)), value


def _explain(error: ValidationError, origins: Mapping[str, str]) -> ConfigError:
    """Say of the first wrong setting which one it is, what it was, and what it should be."""
    wrong = error.errors(include_url=False)[0]
    way = tuple(str(part) for part in wrong["loc"] if part != "[key]")
    key = ".".join(way)
    origin = origins.get(key, DEFAULT)
    names = _names(way[:-1])
    if wrong["type"] == "extra_forbidden" or ("[key]" in wrong["loc"] and names):
        near = difflib.get_close_matches(way[-1], names, n=1, cutoff=0.6)
        known = f"Did you mean {'.'.join((*way[:-1], near[0]))}?" if near else ""
        hint = known or f"There are: {', '.join(names)}"
        return ConfigError(f"There is no setting {key}", id=origin, hint=hint)
    value = wrong["input"]
    shown = repr(hide_password(value) if isinstance(value, str) else value)[:80]
    if way[0] == "database":
        shown = "what it is"  # It may hold a password, in whatever form.
    return ConfigError(
        f"{key} cannot be {shown}",
        id=origin,
        hint=f"It must be {_wish(way) or wrong['msg']}",
    )


def _names(way: Way) -> list[str]:
    """List the settings that a table can have, where they are known."""
    found = _annotation(way)
    if isinstance(found, type) and issubclass(found, Section):
        return list(found.model_fields)
    key = [*get_args(found), None][0]
    return list(key) if isinstance(key, type) and issubclass(key, StrEnum) else []


def _wish(way: Way) -> str | None:
    """Find what a setting must be: its own word, or that of the table it stands in."""
    while way:
        section = _section(way[:-1])
        field = None if section is None else section.model_fields.get(way[-1])
        if field is not None:
            return field.description
        way = way[:-1]
    return None


def _section(way: Way) -> type[Section] | None:
    """Find the section that stands at the end of a way through the tables."""
    found = _annotation(way)
    return found if isinstance(found, type) and issubclass(found, Section) else None


def _annotation(way: Way) -> object:
    """Find what may stand at the end of a way through the tables."""
    found: object = Config
    for name in way:
        if isinstance(found, type) and issubclass(found, Section):
            field = found.model_fields.get(name)
            found = None if field is None else field.annotation
        else:  # a table of tables, by platform or kind
            found = [*get_args(found), None][1]
    return found
