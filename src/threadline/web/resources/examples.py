"""Examples: a value for every schema, from what its fields give as one."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_PLAIN: Mapping[str, object] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
}
_DEEP = 6
"""How far values are looked for inside of others."""


def example_of(schema: Schema, field: Schema, deep: int = 0) -> object:
    """Make an example; of an object only what is needed, and what gives an example itself."""
    if "$ref" in field:
        named: Schema = schema["components"]["schemas"][field["$ref"].rpartition("/")[2]]
        return example_of(schema, named, deep)
    for key in ("examples", "enum"):
        if field.get(key):
            return next(iter(field[key]))
    if "const" in field:
        return field["const"]
    if "anyOf" in field:
        return example_of(schema, field["anyOf"][0], deep)
    if "properties" in field and deep < _DEEP:
        return _object(schema, field, deep)
    if field.get("type") == "array":
        return [example_of(schema, field.get("items", {}), deep + 1)] if deep < _DEEP else []
    return _PLAIN.get(str(field.get("type")), {})


def _object(schema: Schema, field: Schema, deep: int) -> dict[str, object]:
    needed = set(field.get("required", ()))
    return {
        name: example_of(schema, one, deep + 1)
        for name, one in field["properties"].items()
        if name in needed or _has_example(one)
    }


def _has_example(field: Schema) -> bool:
    return bool(field.get("examples")) or any(map(_has_example, field.get("anyOf", ())))
