"""Reach: which settings may be changed from afar, and which only at the machine itself."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from threadline.config.layers import leaves
from threadline.config.secrets import is_reference, is_secret_way
from threadline.core.errors import Refused
from threadline.core.reach import is_machine_own

if TYPE_CHECKING:
    from threadline.config.config import Config

_AT_HOME = frozenset({"command", "python", "environment", "folder"})
"""What decides which programs run here, and with what: somebody's login is no shell."""
_TABLES_AT_HOME = frozenset({"database", "hooks"})
_TABLES_OF_OTHERS = frozenset({"providers", "mcp", "platforms"})
"""In each of their tables stands whom to call, and with what secret."""


def require_near(changes: Mapping[str, object], config: "Config") -> None:
    """Refuse changes from afar that would run a program here, or give away what is kept here.

    That is a variable or a file which the setting does not name already, and a secret that somebody
    else would be sent from then on. `config` is what holds until now.
    """
    given, held = dict(leaves(changes)), dict(leaves(config.model_dump(mode="json")))
    for key, value in given.items():
        if not is_remote(key):
            hint = f"Run: threadline config set {key} …"
            raise Refused(
                "This setting can only be changed on the machine itself", id=key, hint=hint
            )
        for text in _texts(value):
            if is_reference(text) and text not in _texts(held.get(key)):
                hint = f"Enter the secret itself, or run: threadline config set {key} …"
                raise Refused(
                    "A variable or a file can only be named on the machine itself",
                    id=key,
                    hint=hint,
                )
            if is_machine_own(text):
                hint = f"If you mean it, run: threadline config set {key} …"
                raise Refused("This address is internal to the machine", id=key, hint=hint)
        _require_secrets(key, value, given, held, config)


def is_remote(key: str) -> bool:
    """Tell whether a setting may be changed from afar."""
    names = key.split(".")
    if names[0] in _TABLES_AT_HOME:
        return False
    return names[0] == "platforms" or _AT_HOME.isdisjoint(names)


def _texts(value: object) -> Iterator[str]:
    """Walk over the texts of a value, however deep they stand."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _require_secrets(
    key: str,
    value: object,
    given: Mapping[str, object],
    held: Mapping[str, object],
    config: "Config",
) -> None:
    """Refuse another address for secrets that whoever wants it does not show to know."""
    section, _, rest = key.partition(".")
    name = rest.partition(".")[0]
    if section not in _TABLES_OF_OTHERS:
        return
    now = held.get(key)
    if key == f"providers.{name}.base_url":
        now = config.provider_for(name).base_url
    if {_origin(text) for text in _texts(value)} <= {None, *map(_origin, _texts(now))}:
        return
    for secret in _kept(section, name, held, config):
        if not isinstance(given.get(secret), str) or is_reference(given[secret]):
            hint = f"Enter {secret} again together with the new address"
            raise Refused(
                "The new address would be sent the secret of the old one", id=key, hint=hint
            )


def _kept(section: str, name: str, held: Mapping[str, object], config: "Config") -> Iterator[str]:
    """Name the settings of a table that hold a secret, or say where one stands."""
    if section == "providers" and config.provider_for(name).api_key:
        yield f"providers.{name}.api_key"
    for key, value in held.items():
        is_inside = key.startswith(f"{section}.{name}.")
        if is_inside and value and (is_secret_way(key) or any(map(is_reference, _texts(value)))):
            yield key


def _origin(text: str) -> tuple[str, str | None, int | None] | None:
    """Answer who is called at an address; None: it is none."""
    try:
        url = urlsplit(text)
        return (url.scheme, url.hostname, url.port) if "://" in text else None
    except ValueError:
        return (text, None, None)
