"""JSON schemas: how the description of the API shows the structs of requests and responses."""

import ast
import inspect
import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from threadline.core.json_codec import json_schemas
from threadline.web.bodies import View

Schema: TypeAlias = dict[str, Any]

SCHEMAS = "#/components/schemas/"
"""Where OpenAPI looks for what is named."""

_REFERENCE = re.compile(f'(?<="{SCHEMAS})' + r'\w+(?=")')


_NONE = re.compile(r"\bNone\b")


def request_schemas(kinds: Sequence[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """Return the schema of each type of a body, and of what these use by their names."""
    return _schemas(kinds, _types_in(kinds))


def response_schemas(kinds: Sequence[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """Return the same for responses, where a field that has a default is present, too.

    A value of the store that is shown as it is is called a view like all others.
    """
    known = _types_in(kinds)
    schemas, parts = _schemas(kinds, known)
    structs = {name: kind for name, kind in known.items() if issubclass(kind, Struct)}
    for name, kind in structs.items():
        if not kind.__struct_config__.omit_defaults:
            parts[name]["required"] = list(parts[name]["properties"])
            for one in parts[name]["properties"].values():
                one.pop("default", None)
    views = {name: f"{name}View" for name, kind in structs.items() if not issubclass(kind, View)}
    written = _REFERENCE.sub(lambda name: _renamed(name[0], views), json.dumps([schemas, parts]))
    schemas, parts = json.loads(written, object_hook=_open_tuple)
    return schemas, {_renamed(name, views): part for name, part in parts.items()}


def _open_tuple(schema: Schema) -> Schema:
    """Leave out `"items": false`, which says what the number of items says, too.

    Generators of clients expect a schema there.
    """
    return {key: one for key, one in schema.items() if key != "items" or one is not False}


def _renamed(name: str, views: Mapping[str, str]) -> str:
    """Return the name of a view, or of a generic type with the names of its views."""
    return "_".join(views.get(word, word) for word in name.split("_"))


def _schemas(
    kinds: Sequence[Any], known: Mapping[str, type]
) -> tuple[list[Schema], dict[str, Schema]]:
    schemas, parts = json_schemas(kinds, SCHEMAS)
    found: dict[str, Schema] = parts  # type: ignore[assignment]
    for name, kind in known.items():
        found[name].pop("title", None)
        if issubclass(kind, Enum):
            found[name]["enum"] = [one.value for one in kind]  # in their order
            found[name]["type"] = "string"
        elif issubclass(kind, Struct):
            _describe(found[name]["properties"], kind)
    return schemas, found


def _types_in(kinds: Sequence[Any]) -> dict[str, type]:
    """Return all structs and enums that types are made of, as msgspec names them."""
    found: dict[str, type] = {}
    rest = list(kinds)
    while rest:
        one = rest.pop()
        kind, inner = get_origin(one) or one, get_args(one)
        if isinstance(kind, type) and issubclass(kind, Struct | Enum):
            name = "_".join((kind.__name__, *(part.__name__ for part in inner)))
            name += "_" if inner else ""  # as in `Page_TurnView_`
            if name not in found and issubclass(kind, Struct):
                rest += get_type_hints(kind).values()
            found[name] = kind
        rest += inner
    return found


def _describe(properties: Mapping[str, Schema], kind: type[Struct]) -> None:
    """Add what the type knows of its fields: the words below them, and which are times."""
    words, hints = _words_of(kind), get_type_hints(kind)
    for one in fields(kind):
        schema = properties[one.encode_name]
        if one.name in words:
            schema.setdefault("description", words[one.name])
        if _has_time(hints[one.name]):
            for inner in (schema, schema.get("items", {}), *schema.get("anyOf", ())):
                if inner.get("type") == "string" and "enum" not in inner:
                    inner["format"] = "date-time"


def _has_time(hint: object) -> bool:
    return hint is datetime or any(_has_time(one) for one in get_args(hint))


def _words_of(kind: type) -> dict[str, str]:
    """Return the docstrings below the fields of a struct and of those that it extends."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        found |= _field_words(one.__module__).get(one.__name__, {})
    return found


@cache
def _field_words(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings below the fields of all classes of a module."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):  # it came without its source
        return {}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: dict(_words_in(node)) for node in classes}


def _words_in(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, _NONE.sub("null", " ".join(below.value.value.split())))
        for field, below in pairwise(node.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    ]
