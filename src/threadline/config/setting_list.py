"""Setting list: every setting with its value, its origin, and what it may be."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, get_args, get_origin

from pydantic_core import to_jsonable_python

from threadline.config.config import FILE, Config
from threadline.config.errors import DEFAULT, annotation_of, wish_of
from threadline.config.remote_policy import is_remote
from threadline.config.sections import Section
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting as anybody may see it."""

    key: str
    kind: SettingKind
    value: object
    default: object
    origin: SettingOrigin
    place: str | None
    """The file, variable or option from which it came."""
    description: str | None
    """What it must be."""
    choices: tuple[str, ...]
    """The words that it may be; none: others too."""
    is_overridden: bool
    """The user's file has no effect on it: an option, a variable or the project's file sets it."""
    is_hidden: bool
    """It is a secret, and not shown."""
    is_remote: bool
    """It may be changed from afar."""
    needs_restart: bool
    """A change holds only after a restart."""


def list_settings(
    config: Config, public: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Iterator[Setting]:
    """Walk over all settings; `public` is as for `Config.settings`."""
    for key, value, place in config.settings(public):
        way = tuple(key.split("."))
        wanted, default = annotation_of(way, Config), _default_of(way)
        yield Setting(
            key=key,
            kind=_kind_of(wanted, value if value is not None else default),
            value=value,
            default=default,
            origin=setting_origin(place),
            place=None if place == DEFAULT else place,
            description=None if wanted is None else wish_of(way, Config),
            choices=_choices_of(wanted),
            is_overridden=config.is_overridden(key),
            is_hidden=HIDDEN in str(value),
            is_remote=is_remote(key),
            needs_restart=key.startswith(AT_START),
        )


def setting_kind(key: str) -> SettingKind | None:
    """Tell what a setting must be; None: only its platform knows, or nobody."""
    wanted = annotation_of(tuple(key.split(".")), Config)
    return None if wanted is None else _kind_of(wanted, None)


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


def _default_of(way: tuple[str, ...]) -> object:
    section = annotation_of(way[:-1], Config)
    if isinstance(section, type) and issubclass(section, Section):
        field = section.model_fields.get(way[-1])
        if field is not None and not field.is_required():
            return to_jsonable_python(field.get_default(call_default_factory=True))
    return None


def _choices_of(wanted: object) -> tuple[str, ...]:
    for one in _parts_of(wanted):
        if isinstance(one, type) and issubclass(one, StrEnum):
            return tuple(word.value for word in one)
    return ()


def _kind_of(wanted: object, value: object) -> SettingKind:
    kinds = (
        (bool, SettingKind.TRUTH),
        ((int, float, Decimal), SettingKind.NUMBER),
        ((tuple, list), SettingKind.LIST),
        ((dict, Section), SettingKind.TABLE),
    )
    parts = [get_origin(one) or one for one in _parts_of(wanted)]
    for types, kind in kinds:
        if isinstance(value, types) or any(
            isinstance(p, type) and issubclass(p, types) for p in parts
        ):
            return kind
    return SettingKind.TEXT


def _parts_of(wanted: object) -> Iterator[object]:
    """Walk over what a setting may be, without what only describes it."""
    origin = get_origin(wanted)
    if origin is Annotated:
        yield from _parts_of(get_args(wanted)[0])
    elif origin in {tuple, list, dict} or not get_args(wanted):
        yield wanted
    else:
        for one in get_args(wanted):
            yield from _parts_of(one)
