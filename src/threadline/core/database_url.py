"""Database url: the folder of an installation, and its database, which is a file or a URL."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from threadline.core.errors import ConfigError

_POSTGRES = re.compile(r"postgres(?:ql)?:", re.IGNORECASE)
_SERVER = re.compile(r"(postgres(?:ql)?)://", re.IGNORECASE)
_PASSWORD = re.compile(r"(?:^|\s)\w*password\s*=", re.IGNORECASE)
_SECRET = re.compile(r"password|secret|key|token", re.IGNORECASE)
_HOST = re.compile(r"(?:\[[^\]@]*\]|[^:@\[\]]*)(?::[0-9]*)?")
_LOOKS = "It looks like postgresql://user@host:5432/database"

HOME_VARIABLE = "THREADLINE_HOME"
"""The variable that names the folder of an installation."""
HOME_FOLDER = ".threadline"
"""The name of that folder in the user's home, unless the variable is set."""


def home_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the database, settings, secrets and output; it may begin with `~`."""
    return environ.get(HOME_VARIABLE) or f"~/{HOME_FOLDER}"


def is_server(location: str) -> bool:
    """Tell whether it is the URL of a PostgreSQL server, and no file."""
    return _SERVER.match(location) is not None


def is_secret(name: str) -> bool:
    """Tell whether a parameter of that name may hold a secret."""
    return _SECRET.search(unquote(name)) is not None


def checked_location(location: str) -> str:
    """Refuse what would be taken for a file, or for a host, but may hold a password.

    No error repeats it.
    """
    server = _SERVER.match(location)
    if server is None:
        if "://" in location or _POSTGRES.match(location):
            raise ConfigError("The database's URL is none of PostgreSQL's", hint=_LOOKS)
        if _PASSWORD.search(location):
            raise ConfigError("The database must be a path or a URL, not key=value", hint=_LOOKS)
    elif not _is_clear(location[server.end() :]):
        raise ambiguous()
    return location


def ambiguous() -> ConfigError:
    """Say that nobody can tell where the password in a URL ends."""
    return ConfigError(
        "The PostgreSQL URL cannot be read: host, port and database are not clear",
        hint="In a password write %40 for @, %2F for / and %3A for :",
    )


def hide_password(location: str) -> str:
    """Show a URL without the secrets that it may carry."""
    shown = re.sub(r"^(\w+://[^:@/?]*):.*@", r"\1:…@", location)
    address, mark, query = shown.partition("?")
    return address + mark + "&".join(map(_without_secret, query.split("&")))


def _without_secret(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    if not equals:
        return "…" if name else ""  # What has no name may be the rest of a secret.
    return f"{name}={'…' if is_secret(name) else value}"


def _is_clear(rest: str) -> bool:
    """Read on as PostgreSQL does: the first @ before a / ends the password, whatever was meant."""
    before, at, after = rest.partition("@")
    place = after if at and "/" not in before else rest
    hosts, _, base = place.partition("?")[0].partition("/")
    return "@" not in base and all(_HOST.fullmatch(host) for host in hosts.split(","))
