"""Remote policy: which settings may be changed from afar, and which only at the machine itself."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from threadline.config.errors import DEFAULT
from threadline.config.secrets import is_reference, is_secret_way
from threadline.config.setting_schema import find_node
from threadline.config.sources import leaves
from threadline.core.errors import Refused
from threadline.core.ssrf import is_machine_own, plain_address

if TYPE_CHECKING:
    from threadline.config.config import Config

_REMOTE_TABLES = frozenset(
    {
        "access",
        "busy",
        "concurrency",
        "context",
        "deliveries",
        "drain_seconds",
        "edits",
        "freshness_seconds",
        "inactivity_minutes",
        "lease_seconds",
        "logs",
        "people",
        "platforms",
        "profile",
        "providers",
        "reset",
        "retention",
        "routing",
        "scribe",
        "sharing",
        "spend",
        "streaming",
        "tools",
    }
)
"""Tables that may be changed over HTTP. What is not named here or below can only be changed on the
machine: `database`, `hooks`, and `server`, which says whose requests and which proxies are trusted.
"""
_REMOTE_FIELDS = {
    "agent": frozenset(
        {
            "context_tokens",
            "fallback",
            "instructions",
            "max_steps",
            "model",
            "models",
            "options",
            "personalities",
            "type",
        }
    ),
    "mcp": frozenset({"headers", "timeout_seconds", "url"}),
}
"""Of these tables only some settings: the others decide which programs run on the machine."""
_TABLES_OF_OTHERS = frozenset({"providers", "mcp", "platforms"})
"""In each of their tables stands whom to call, and with what secret."""


def require_near(changes: Mapping[str, object], config: "Config") -> None:
    """Refuse changes from afar that would run a program here, or give away what is kept here.

    That is a variable or a file which the setting does not name already, and a secret that somebody
    else would be sent from then on. `config` is what holds until now.
    """
    given, held = dict(leaves(changes)), dict(leaves(config.model_dump(mode="json")))
    for key in (*given, *_tables_in(changes), *_gone(changes, given, held, config)):
        # An unknown setting is refused as such, when the file is written.
        if not is_remote(key) and find_node(tuple(key.split(".")), type(config)) is not None:
            hint = f"Run: threadline config set {key} …"
            raise Refused(
                "This setting can only be changed on the machine itself", id=key, hint=hint
            )
    for key, value in given.items():
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
    """Return whether a setting may be changed over HTTP; one that is not classified may not."""
    table, *names = key.split(".")
    if table == "profiles":
        # What a profile has of its own is classified like the table of the same name.
        return len(names) < 2 or is_remote(".".join(names[1:]))
    if table in _REMOTE_FIELDS:
        names = names[1:] if table == "mcp" else names
        return not names or names[0] in _REMOTE_FIELDS[table]
    return table in _REMOTE_TABLES


def _tables_in(changes: Mapping[str, object]) -> Iterator[str]:
    """Walk over the tables that are given as a whole; an empty one has no settings to look at."""
    for key, value in changes.items():
        if isinstance(value, dict):
            yield key
            yield from _tables_in({f"{key}.{name}": one for name, one in value.items()})


def _gone(
    changes: Mapping[str, object],
    given: Mapping[str, object],
    held: Mapping[str, object],
    config: "Config",
) -> Iterator[str]:
    """Walk over the settings that are taken out because a table around them is changed."""
    tables = tuple(f"{key}." for key in changes)
    for key in held:
        if key.startswith(tables) and key not in given and config.origin_of(key) != DEFAULT:
            yield key


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
    address = plain_address(text)
    if "\\" in address:
        return (text, None, None)  # clients do not agree on who is meant
    try:
        url = urlsplit(address)
        return (url.scheme, url.hostname, url.port) if "://" in address else None
    except ValueError:
        return (text, None, None)
