"""Sources: the files and variables from which settings come, laid over each other.

This is not pydantic-settings: it does not say which source a value came from, passes over unknown
variables in silence, and reads lists in variables as JSON alone. Only the merging would be saved.
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from threadline.core.database_url import HOME_FOLDER, HOME_VARIABLE
from threadline.core.errors import ConfigError

PREFIX = "THREADLINE_"

Way: TypeAlias = tuple[str | int, ...]
"""The way to a setting through tables and lists: `("routing", 0, "profile")`."""


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that everything is in: `THREADLINE_HOME`, else `~/.threadline`."""
    try:
        if given := environ.get(HOME_VARIABLE):
            return Path(given).expanduser().absolute()
        home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    except RuntimeError as error:
        hint = f"Set HOME or {HOME_VARIABLE}"
        raise ConfigError("The home folder cannot be found", hint=hint) from error
    return home / HOME_FOLDER


def output_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that files are written to, with one folder below it for each profile."""
    return data_folder(environ) / "output"


def read_text(file: Path) -> str:
    """Read a file of settings; one that is not there is empty."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise ConfigError(f"The file cannot be read: {why}", id=str(file)) from error


def parse_file(text: str, origin: str) -> dict[str, object]:
    """Read what stands in a file of settings."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ConfigError(f"The file is no TOML: {error}", id=origin) from error


def read_variables(environ: Mapping[str, str]) -> dict[str, tuple[Way, object]]:
    """Return the settings in variables; two underscores lead into a table (`BUSY__DEFAULT`)."""
    return {
        name: (tuple(name.removeprefix(PREFIX).lower().split("__")), _value(value))
        for name, value in sorted(environ.items())
        if name.startswith(PREFIX) and name != HOME_VARIABLE and value
    }


def lay_over(
    values: dict[str, object], layer: object, origin: str, origins: dict[str, str], table: str = ""
) -> None:
    """Put one source of settings over those before it, setting by setting."""
    for name, value in layer.items() if isinstance(layer, dict) else ():
        below = values.get(name)
        if isinstance(value, dict):
            inner: dict[str, object] = below if isinstance(below, dict) else {}
            values[name] = inner
            lay_over(inner, value, origin, origins, f"{table}{name}.")
        else:
            values[name] = value
        origins[f"{table}{name}"] = origin


def leaves(values: Mapping[str, object], table: str = "") -> Iterator[tuple[str, object]]:
    """Walk over all values of nested tables, by their dotted names."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{table}{name}.")
        else:
            yield f"{table}{name}", value


def _value(text: str) -> object:
    """Read a list or a table as JSON or TOML writes it; everything else is a plain word."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return text
    try:
        return json.loads(text)
    except ValueError:
        pass  # TOML has other quotes and no colons
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text
