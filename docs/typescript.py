# ruff: noqa: INP001 - the documents are no package
"""Writes the types of the HTTP API for TypeScript, from its OpenAPI description."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Mapping[str, Any]

_METHODS = ("get", "put", "post", "delete", "patch")
_PLACES = ("path", "query", "header")
_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_HEAD = "// Written by `make docs` from the code. Changes here are lost.\n"


def write_types(openapi: Json, choices: Iterable[type[StrEnum]] = ()) -> str:
    """Write one type for each schema, one entry for each operation, and where each is found.

    Choices are those that the description does not know, as they are told by the feed alone.
    """
    operations = list(operations_of(openapi))
    schemas = {one.__name__: _choice(one) for one in choices} | _schemas(openapi)
    parts = [_HEAD]
    parts += [_declared(name, one) for name, one in sorted(schemas.items())]
    entries = "\n".join(_operation(*one) for one in operations)
    parts.append(
        "/** Every operation of the API: what it takes, and what it answers. */\n"
        f"export interface Operations {{\n{entries}\n}}\n"
    )
    rows = "\n".join(
        f"  {key}: [{_text(how)}, {_text(path)}, {_text(_reading(one))}],"
        for key, how, path, one in operations
    )
    parts.append(
        "/** The method and the path of every operation, and how its answer is read. */\n"
        f"export const ROUTES = {{\n{rows}\n}} as const;\n"
    )
    return "\n".join(parts)


def operations_of(openapi: Json) -> Iterator[tuple[str, str, str, Json]]:
    """Walk over all operations: its id, method and path, and what is said of it."""
    base = next((one["url"].rstrip("/") for one in openapi.get("servers", ())), "")
    for path, item in openapi["paths"].items():
        for method in _METHODS:
            if method in item:
                one = item[method]
                yield one["operationId"], method.upper(), base + path, one


def type_of(schema: Json | bool) -> str:  # noqa: FBT001 - JSON Schema has `true` for anything
    """Write the type of what a schema describes."""
    if isinstance(schema, bool):
        return "unknown" if schema else "never"
    if "$ref" in schema:
        return type_name(schema["$ref"].rpartition("/")[2])
    if "enum" in schema or "const" in schema:
        return _union(map(_text, schema.get("enum", [schema.get("const")])))
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return _union(map(type_of, several))
    if "allOf" in schema:
        return " & ".join(_grouped(type_of(one)) for one in schema["allOf"])
    return _typed(schema)


def type_name(name: str) -> str:
    """Make a name that TypeScript takes of one in the description: `Page_Row_` is PageRow."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_+", name) if word)


def _typed(schema: Json) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return _union(type_of({**schema, "type": one}) for one in kind)
    if kind == "array":
        return _array(schema)
    if kind == "object" or "properties" in schema:
        return _object(schema)
    return _PLAIN.get(str(kind), "unknown")


def _choice(choice: type[StrEnum]) -> Json:
    return {"enum": [one.value for one in choice], "description": choice.__doc__ or ""}


def _schemas(openapi: Json) -> dict[str, Json]:
    given = openapi.get("components", {}).get("schemas", {})
    named = {type_name(name): schema for name, schema in given.items()}
    if len(named) < len(given):
        raise ValueError("two schemas of the API have one name in TypeScript")
    return named


def _declared(name: str, schema: Json) -> str:
    says = _comment(schema.get("description", ""))
    if schema.get("properties"):
        return f"{says}export interface {name} {_object(schema)}\n"
    return f"{says}export type {name} = {type_of(schema)};\n"


def _array(schema: Json) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
    return f"{_grouped(type_of(schema.get('items', True)))}[]"


def _object(schema: Json) -> str:
    if not schema.get("properties"):
        more = schema.get("additionalProperties", True)
        return f"Record<string, {type_of(more)}>"
    required = set(schema.get("required", ()))
    lines = []
    for name, inner in schema["properties"].items():
        said = "" if isinstance(inner, bool) else inner.get("description", "")
        mark = "" if name in required else "?"
        lines.append(f"{_comment(said)}{_key(name)}{mark}: {type_of(inner)};")
    return "{\n" + _indented("\n".join(lines)) + "\n}"


def _operation(key: str, _: str, __: str, one: Json) -> str:
    lines = [f"{place}: {_parameters(one, place)};" for place in _PLACES]
    lines += [f"body: {_body(one)};", f"answer: {_answer(one)};"]
    says = _comment(one.get("description", "").partition("\n\n")[0] or one["summary"])
    return _indented(f"{says}{key}: {{\n" + _indented("\n".join(lines)) + "\n};")


def _parameters(one: Json, place: str) -> str:
    found = [given for given in one.get("parameters", ()) if given["in"] == place]
    if not found:
        return "never"
    lines = []
    for given in found:
        kind, mark = type_of(given.get("schema", True)), ""
        if not given.get("required"):
            kind, mark = f"{kind} | undefined", "?"  # so that it may also be given as undefined
        says = _comment(given.get("description", ""))
        lines.append(f"{says}{_key(given['name'])}{mark}: {kind};")
    return "{\n" + _indented("\n".join(lines)) + "\n}"


def _body(one: Json) -> str:
    given = one.get("requestBody")
    if given is None:
        return "never"
    kinds = given["content"]
    if "application/json" in kinds:
        kind = type_of(kinds["application/json"].get("schema", True))
    else:
        kind = "FormData" if "multipart/form-data" in kinds else "Blob"
    return kind if given.get("required") else f"{kind} | undefined"


def _answer(one: Json) -> str:
    """Write what comes back when it went well; what is no JSON is left to be read as it comes."""
    found = []
    for status, answer in one["responses"].items():
        if str(status).startswith("2"):
            kinds = answer.get("content", {})
            if "application/json" in kinds:
                found.append(type_of(kinds["application/json"].get("schema", True)))
            else:
                found.append("Response" if kinds else "undefined")
    return _union(found) if found else "undefined"


def _reading(one: Json) -> str:
    """Tell whether an answer is data, or is left alone: a file may happen to be JSON, too."""
    return "stream" if _answer(one) == "Response" else "data"


def _union(types: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def _grouped(written: str) -> str:
    return f"({written})" if " | " in written or " & " in written else written


def _key(name: str) -> str:
    return name if _WORD.fullmatch(name) else _text(name)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _comment(says: str) -> str:
    words = " ".join(says.split()).replace("*/", "* /")
    return f"/** {words} */\n" if words else ""


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
