# ruff: noqa: INP001 - the documents are no package
"""Writes the reference of the HTTP API from its OpenAPI description."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from docs.typescript import Json, operations_of, type_name, type_of
from threadline.config import Config
from threadline.store import Store
from threadline.web.gateway_protocol import GatewayPort
from threadline.web.resources.app import make_api

_DULL = "Successful Response"
"""What FastAPI says where a route says nothing."""


def describe_api() -> Json:
    """Ask the application for its description; for that it needs nobody behind it."""
    return make_api(cast("GatewayPort", None), cast("Store", None), Config()).openapi()


def write_operations(openapi: Json) -> Iterator[str]:
    """Write what each resource offers: its operations, what they take and what they answer."""
    operations = list(operations_of(openapi))
    everywhere = set.intersection(*(_refusals(one) for *_, one in operations))
    said = ", ".join(sorted(everywhere))
    yield (
        "Besides what is listed with it, every operation may answer with a `Problem` and one of "
        f"these: {said}. What they mean is told in [the tour](../http-api.md#errors)."
    )
    by_tag: dict[str, list[str]] = {}
    for key, method, path, one in operations:
        tag = next(iter(one.get("tags", ())), "other")
        parts = _operation(key, method, path, one, everywhere)
        by_tag.setdefault(tag, []).append("\n\n".join(parts))
    for tag, found in sorted(by_tag.items()):
        yield "\n\n".join((f"## {tag.capitalize()}", *found))


def write_bodies(openapi: Json) -> Iterator[str]:
    """Write what the bodies hold that go in and out."""
    yield "## Bodies"
    for name, schema in sorted(openapi["components"]["schemas"].items()):
        yield f"### `{type_name(name)}`"
        if says := " ".join(schema.get("description", "").split()):
            yield says
        if schema.get("properties"):
            yield _table(("field", "type", ""), _fields(schema))
        else:
            yield f"`{type_of(schema)}`"


def _refusals(one: Json) -> set[str]:
    return {str(status) for status in one["responses"] if not str(status).startswith("2")}


def _operation(key: str, method: str, path: str, one: Json, everywhere: set[str]) -> Iterator[str]:
    yield f"### `{key}`"
    yield f"```text\n{method} {path}\n```"
    yield one.get("description", "").strip() or one["summary"]
    if taken := list(_taken(one)):
        yield _table(("takes", "in", "type", ""), taken)
    answers = [
        (str(status), _kinds(answer), answer["description"].replace(_DULL, ""))
        for status, answer in one["responses"].items()
        if str(status) not in everywhere
    ]
    yield _table(("answers", "with", ""), answers)


def _taken(one: Json) -> Iterator[tuple[str, str, str, str]]:
    for given in one.get("parameters", ()):
        kind = _optional(type_of(given.get("schema", True)), given.get("required", False))
        yield f"`{given['name']}`", given["in"], kind, given.get("description", "")
    if body := one.get("requestBody"):
        yield "the body", "body", _kinds(body), body.get("description", "")


def _fields(schema: Json) -> Iterator[tuple[str, str, str]]:
    for name, inner in schema["properties"].items():
        said = inner.get("description", "") if isinstance(inner, dict) else ""
        yield f"`{name}`", _optional(type_of(inner), name in schema.get("required", ())), said


def _optional(kind: str, required: bool) -> str:  # noqa: FBT001 - as OpenAPI has it
    return f"`{kind}`" if required else f"`{kind}`, optional"


def _kinds(given: Json) -> str:
    found = (
        f"`{type_of(inner['schema'])}`" if media.endswith("json") and inner.get("schema") else media
        for media, inner in given.get("content", {}).items()
    )
    return " or ".join(dict.fromkeys(found))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    cells = ([" ".join(cell.replace("|", "\\|").split()) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
