"""Setting list: every setting with its value, its origin, and what it may be."""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from threadline.config.config import FILE, Config
from threadline.config.errors import DEFAULT
from threadline.config.remote_policy import is_remote
from threadline.config.setting_schema import Node, find_node, help_of, must_be
from threadline.config.sources import leaves
from threadline.core.redaction import HIDDEN

AT_START = ("database", "lease_seconds", "server.", "logs.")
"""Settings that are only read when a process starts."""


class SettingKind(StrEnum):
    """What a setting is."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    LIST = "list"
    TABLE = "table"


class SettingOrigin(StrEnum):
    """What kind of place a setting came from."""

    DEFAULT = "default"
    FILE = "file"
    VARIABLE = "variable"
    OPTION = "option"


_KINDS = {
    "boolean": SettingKind.TRUTH,
    "integer": SettingKind.NUMBER,
    "number": SettingKind.NUMBER,
    "array": SettingKind.LIST,
    "object": SettingKind.TABLE,
}
_SHAPES = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


class Setting(BaseModel):
    """One setting; of a secret it is told only that there is one."""

    model_config = ConfigDict(frozen=True)

    key: str = Field(examples=["spend.day"])
    kind: SettingKind
    value: JsonValue = Field(description="A secret reads ••••••, unless it says where it stands.")
    default: JsonValue
    origin: SettingOrigin
    place: str | None = Field(description="The file, variable or option from which it came.")
    overridden: bool = Field(
        description="An option, a variable or the project's file sets it, and wins over the file."
    )
    help: str | None = Field(description="What it does; null: only its platform knows.")
    description: str | None = Field(description="What it must be.")
    choices: list[str] = Field(description="The words that it may be; none: others too.")
    secret: bool
    remote: bool = Field(description="It can be changed here, and not only at the machine itself.")
    restart: bool = Field(description="A change takes effect only after a restart.")


def list_settings(
    config: Config, public: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Iterator[Setting]:
    """Walk over all settings; `public` is as for `Config.settings`."""
    for key, value, place in config.settings(public):
        way = tuple(key.split("."))
        node = find_node(way, Config) or {}
        default = node.get("default")
        yield Setting(
            key=key,
            kind=_kind_of(node, value if value is not None else default),
            value=value,
            default=default,
            origin=setting_origin(place),
            place=None if place == DEFAULT else place,
            overridden=config.is_overridden(key),
            help=help_of(way, Config),
            description=must_be(node),
            choices=node.get("enum", []),
            secret=HIDDEN in str(value),
            remote=is_remote(key),
            restart=key.startswith(AT_START),
        )


def setting_kind(key: str) -> SettingKind | None:
    """Tell what a setting must be; None: only its platform knows, or nobody."""
    node = find_node(tuple(key.split(".")), Config)
    return _kind_of(node, None) if node else None


def setting_origin(place: str) -> SettingOrigin:
    """Tell what kind of place it is from which a setting came."""
    if place == DEFAULT:
        return SettingOrigin.DEFAULT
    if place.startswith("--"):
        return SettingOrigin.OPTION
    return SettingOrigin.FILE if place.endswith(FILE) else SettingOrigin.VARIABLE


def changed_at_start(before: Config, now: Config) -> tuple[str, ...]:
    """List the settings that differ and hold only after a restart."""
    was = dict(leaves(before.model_dump(mode="json")))
    new = leaves(now.model_dump(mode="json"))
    return tuple(k for k, value in new if k.startswith(AT_START) and value != was.get(k))


def _kind_of(node: Node, value: object) -> SettingKind:
    """Tell what a setting is, by its value if that is open."""
    shape = node.get("type", _SHAPES.get(type(value)))
    return _KINDS.get(str(shape), SettingKind.TEXT)
