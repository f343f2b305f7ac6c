"""Configuration: one typed Config, read from the environment, two files and the defaults."""

import logging
import os
from collections.abc import Mapping
from datetime import UTC, tzinfo
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from threadline.config.config import DATABASE, FILE, Config
from threadline.config.cross_checks import check_consistency
from threadline.config.errors import DEFAULT, explain_invalid_setting, find_nearest
from threadline.config.setting_schema import find_node
from threadline.config.sources import (
    PREFIX,
    Way,
    data_folder,
    lay_over,
    output_folder,
    parse_file,
    read_text,
    read_variables,
)
from threadline.core.database_url import HOME_VARIABLE
from threadline.core.errors import ConfigError, Invalid
from threadline.core.reset_policy import zone

__all__ = [
    "DEFAULT",
    "FILE",
    "PREFIX",
    "Config",
    "data_folder",
    "load_config",
    "machine_zone",
    "output_folder",
    "parse_config",
    "user_file",
]

log = logging.getLogger("threadline.config")

_LOCALTIME = Path("/etc/localtime")


def load_config(
    options: Mapping[str, str | None] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path = Path(),
    draft: str | None = None,
) -> Config:
    """Read the settings: options of the command line, environment, project's file, user's file.

    The first of these that has a setting wins. A `draft` is read instead of the user's file. A
    variable that is no setting is ignored with a warning.
    """
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    user = user_file(environ)
    for file in (user, folder.absolute() / FILE):
        text = draft if draft is not None and file == user else read_text(file)
        lay_over(values, parse_file(text, str(file)), str(file), origins)
    given = read_variables(environ)
    for name in [name for name, (way, _) in given.items() if find_node(way, Config) is None]:
        _warn_unknown(name, given.pop(name)[0])
    for name, option in (options or {}).items():
        if option:
            given[f"--{name}"] = (tuple(name.split(".")), option)
    for name, (way, value) in given.items():
        for key in reversed(way):
            value = {key: value}  # noqa: PLW2901 - a table around it
        lay_over(values, value, name, origins)
    return _make(values, origins, environ)


@cache
def _warn_unknown(name: str, way: Way) -> None:
    """Warn once in a process that a variable is no setting."""
    near = find_nearest(way, Config)
    hint = (
        f"Did you mean {PREFIX}{near.upper()}?"
        if near
        else "`threadline config` shows all settings."
    )
    log.warning("The variable %s is ignored: there is no such setting. %s", name, hint)


def user_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the user's file of settings."""
    return data_folder(environ) / FILE


def parse_config(text: str, origin: str, *, environ: Mapping[str, str] = os.environ) -> Config:
    """Read settings from one text alone, as a file with this name would give them."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    lay_over(values, parse_file(text, origin), origin, origins)
    return _make(values, origins, environ)


def _make(values: dict[str, object], origins: dict[str, str], environ: Mapping[str, str]) -> Config:
    if environ.get(HOME_VARIABLE) and "database" not in values:
        values["database"] = str(data_folder(environ) / DATABASE)
        origins["database"] = HOME_VARIABLE
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise explain_invalid_setting(error, origins, Config) from None
    except ConfigError as error:  # only the database says by itself what is wrong with it
        origin = origins.get("database", DEFAULT)
        raise ConfigError(error.message, id=origin, hint=error.hint) from None
    config._origins = origins  # noqa: SLF001 - this is how a Config is made
    config._machine = machine_zone(environ)  # noqa: SLF001 - the same
    config._environ = environ  # noqa: SLF001 - the same
    check_consistency(config)
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
