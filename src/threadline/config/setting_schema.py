"""Setting schema: what each setting is and must be, read from the JSON schema of the sections."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from threadline.config.sections import Section
from threadline.config.sources import Way

Node: TypeAlias = Mapping[str, Any]
"""What a JSON schema says of a setting or a table."""


def find_node(way: Way, root: type[Section]) -> Node | None:
    """Return what the schema says of what is found this way, or None if there is no such setting.

    What only a platform or a model knows has an empty node.
    """
    node = _schema(root)
    for name in way:
        inner = _inner(node, name, root)
        if inner is None:
            return None
        node = inner
    return node


def list_names(way: Way, root: type[Section]) -> list[str]:
    """List the names that a table can hold, or none if they are the user's choice."""
    node = find_node(way, root) or {}
    return list(node.get("properties", _keys(node)))


def walk_settings(root: type[Section], way: Way = ()) -> Iterator[tuple[Way, Node]]:
    """Yield the settings that are in no table with names of the user's choice."""
    for name in list_names(way, root):
        inner = (*way, name)
        node = find_node(inner, root) or {}
        if "properties" in node:
            yield from walk_settings(root, inner)
        else:
            yield inner, node


def help_of(way: Way, root: type[Section]) -> str | None:
    """Return what a setting does; one with a name of the user's choice does what its table does."""
    node = find_node(way, root)
    above = find_node(way[:-1], root) if way else None
    if node is None or above is None:
        return None
    if text := node.get("description"):
        return " ".join(text.split())
    return None if "properties" in above else help_of(way[:-1], root)


def must_be(node: Node) -> str | None:
    """Say in words what a setting must be, or return None if it may be anything."""
    if "must_be" in node:
        return str(node["must_be"])
    if "enum" in node:
        return f"one of {', '.join(node['enum'])}"
    match node.get("type"):
        case "boolean":
            return "true or false"
        case "integer":
            return f"a whole number{_range(node)}"
        case "number":
            return f"a number{_range(node)}"
        case "array":
            inner = must_be(node["items"])
            return "a list" if inner is None else f"a list; each entry is {inner}"
        case "object":
            if "properties" in node:
                return "a table of settings"
            keys = _keys(node)
            names = f"among {', '.join(keys)}" if keys else "of your choice"
            return f"a table with names {names}"
        case "string":
            return "text"
        case _:
            return None


def _range(node: Node) -> str:
    if "minimum" in node:
        return f" from {_shown(node['minimum'])} to {_shown(node['maximum'])}"
    return f" above {_shown(node['exclusiveMinimum'])}, at most {_shown(node['maximum'])}"


def _shown(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else str(number)


@cache
def _schema(root: type[Section]) -> Node:
    return root.model_json_schema()


def _inner(node: Node, name: str | int, root: type[Section]) -> Node | None:
    """Return the node of what has a name in a table, or a number in a list."""
    if isinstance(name, int):
        found = node.get("items")
    elif name in node.get("properties", {}):
        found = node["properties"][name]
    else:
        more = node.get("additionalProperties", "type" not in node)
        found = more if name in (_keys(node) or [name]) else False
    if found is True:
        return {}
    return _resolve(found, root) if found else None


def _resolve(node: Node, root: type[Section]) -> Node:
    """Put in what a node refers to, or may be beside null; what it says itself wins."""
    if "anyOf" in node:
        node = {**_resolve(node["anyOf"][0], root), **node}
    if "$ref" in node:
        node = {**_schema(root)["$defs"][node["$ref"].rpartition("/")[2]], **node}
    if "propertyNames" in node:
        node = {**node, "propertyNames": _resolve(node["propertyNames"], root)}
    return node


def _keys(node: Node) -> list[str]:
    return list(node.get("propertyNames", {}).get("enum", ()))
