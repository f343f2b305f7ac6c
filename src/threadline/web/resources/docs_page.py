"""Docs page: the description of the API as a page to read.

Where the web app was built, a script of it lets people try out what they read. All of it is there
to be read without.
"""

import asyncio
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any, TypeAlias

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

from threadline.web.resources.examples import example_of
from threadline.web.spa import Entry, SpaFiles

SOURCE = "src/api_docs/main.ts"
"""What makes it interactive, in `ui/`."""

Schema: TypeAlias = Mapping[str, Any]

_STYLE = files("threadline.web.resources").joinpath("docs_page.css")
_CODE = re.compile(r"`([^`]+)`")


def show_manual(app: FastAPI, screens: SpaFiles | None = None) -> None:
    """Let an application show its description, to programs and as a page to read."""
    written: dict[object, bytes] = {}  # encoded once, and shared by all answers

    async def write(kind: object, work: Callable[[], str]) -> bytes:
        if kind not in written:
            # On a thread, as it takes longer than others would like to wait.
            written[kind] = (await asyncio.to_thread(work)).encode()
        return written[kind]

    @app.get("/openapi.json", include_in_schema=False)
    async def read_description() -> Response:
        text = await write("json", lambda: json.dumps(app.openapi(), ensure_ascii=False))
        return Response(text, media_type="application/json")

    @app.get("/docs", include_in_schema=False)
    async def read_manual() -> Response:
        # Looked up each time: a newer build may have taken the place of the files of the last one.
        entry = await asyncio.to_thread(screens.entry, SOURCE) if screens else None
        page = await write(entry, lambda: "\n".join(write_manual(app.openapi(), entry)))
        return HTMLResponse(page)

    @app.get("/docs.css", include_in_schema=False)
    async def read_style() -> Response:
        style = await write("style", lambda: _STYLE.read_text(encoding="utf-8"))
        return Response(style, media_type="text/css")


def write_manual(schema: Schema, entry: Entry | None = None) -> Iterator[str]:
    """Write the page, line by line; with an entry it loads what makes it interactive."""
    title = f"{escape(schema['info']['title'])}: the HTTP API"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield from _loaded(entry)
    yield f"<title>{title}</title>\n</head>\n<body>\n<header><h1>{title}</h1>"
    yield _paragraphs(schema["info"]["description"])
    yield '<p><a href="/api/openapi.json">As OpenAPI</a></p></header>'
    groups = _by_tag(schema)
    links = (f'<a href="#{tag}">{tag}</a>' for tag in groups)
    yield f'<nav aria-label="Resources"><p>{" ".join(links)}</p></nav>\n<main>'
    for tag, operations in groups.items():
        yield f'<section id="{tag}">\n<h2>{tag}</h2>'
        for method, path, operation in operations:
            yield from _operation(schema, method, path, operation)
        yield "</section>"
    yield "</main>\n</body>\n</html>"


def _loaded(entry: Entry | None) -> Iterator[str]:
    for style in entry.styles if entry else ("/api/docs.css",):
        yield f'<link rel="stylesheet" href="{escape(style)}">'
    if entry:
        yield '<link rel="icon" href="/favicon.svg" type="image/svg+xml">'
        yield f'<script type="module" src="{escape(entry.script)}"></script>'


def _by_tag(schema: Schema) -> dict[str, list[tuple[str, str, Schema]]]:
    groups: dict[str, list[tuple[str, str, Schema]]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            tag = escape(operation.get("tags", ["other"])[0])
            groups.setdefault(tag, []).append((method.upper(), path, operation))
    return groups


def _operation(schema: Schema, method: str, path: str, operation: Schema) -> Iterator[str]:
    name = escape(operation["operationId"])
    yield f'<details id="{name}">\n<summary><b class="{method.lower()}">{method}</b>'
    yield f"<code>{escape(path)}</code> {escape(operation.get('summary', name))}</summary>"
    yield _paragraphs(operation.get("description", ""))
    if operation.get("parameters"):
        yield '<div class="parameters"><h3>Parameters</h3>'
        yield _table(_parameter(schema, one) for one in operation["parameters"]) + "</div>"
    body = _body(operation)
    if body is not None:
        yield "<h3>Body</h3>"
        yield _table(_fields(schema, body))
    yield f'<pre class="line">{escape(write_curl(schema, method, path, operation))}</pre>'
    yield from _answers(schema, operation["responses"])
    yield "</details>"


def _answers(schema: Schema, answers: Mapping[str, Schema]) -> Iterator[str]:
    """Write what is answered; what may go wrong nearly everywhere is folded away."""
    good = {status: one for status, one in answers.items() if status.startswith(("2", "3"))}
    bad = {status: one for status, one in answers.items() if status not in good}
    yield "<h3>Responses</h3>" + _statuses(schema, good)
    for answer in good.values():
        shape = answer.get("content", {}).get("application/json", {}).get("schema")
        if shape:
            example = json.dumps(example_of(schema, shape), ensure_ascii=False, indent=2)
            # Longer ones scroll, for which they can be reached by keyboard.
            yield f'<pre tabindex="0" role="group" aria-label="Example">{escape(example)}</pre>'
    if bad:
        yield f"<details><summary>Problems: {escape(', '.join(bad))}</summary>"
        yield _statuses(schema, bad) + "</details>"


def _statuses(schema: Schema, answers: Mapping[str, Schema]) -> str:
    rows = answers.items()
    return _table((status, _answer(schema, one), one["description"]) for status, one in rows)


def write_curl(schema: Schema, method: str, path: str, operation: Schema) -> str:
    """Write the line with which an operation is asked for, with examples in the places."""
    lines = [f'curl -X {method} "$THREADLINE/api{_filled(path, operation)}"']
    lines.append('  -H "Authorization: Bearer $TOKEN"')
    if any(one["name"] == "If-Match" for one in operation.get("parameters", ())):
        lines.append('  -H "If-Match: *"')
    body = _body(operation)
    if body is not None:
        example = json.dumps(example_of(schema, body), ensure_ascii=False)
        lines.append('  -H "Content-Type: application/json"')
        lines.append(f"  -d {shlex.quote(example)}")
    return " \\\n".join(lines)


def _filled(path: str, operation: Schema) -> str:
    for one in operation.get("parameters", ()):
        if one["in"] == "path":
            examples = one["schema"].get("examples") or one.get("examples") or ["1"]
            path = path.replace(f"{{{one['name']}}}", str(next(iter(examples))))
    return path


def _body(operation: Schema) -> Schema | None:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    found: Schema | None = content.get("schema")
    return found


def _parameter(schema: Schema, one: Schema) -> tuple[str, str, str]:
    where = f"{one['in']}{', required' if one.get('required') else ''}"
    described = one.get("description", one["schema"].get("description", ""))
    return one["name"], f"{value_kind(schema, one['schema'])} ({where})", described


def _fields(schema: Schema, body: Schema) -> Iterator[tuple[str, str, str]]:
    resolved = _resolved(schema, body)
    needed = resolved.get("required", ())
    for name, field in resolved.get("properties", {}).items():
        kind = value_kind(schema, field) + (" (required)" if name in needed else "")
        yield name, kind, field.get("description", _resolved(schema, field).get("description", ""))


def _answer(schema: Schema, answer: Schema) -> str:
    for content in answer.get("content", {}).values():
        return value_kind(schema, content.get("schema", {}))
    return ""


def value_kind(schema: Schema, field: Schema) -> str:
    """Say in a word or two what a value is."""
    if "$ref" in field:
        found = _resolved(schema, field)
        return " | ".join(found["enum"]) if "enum" in found else _called(field["$ref"])
    if "anyOf" in field:
        return " | ".join(value_kind(schema, one) for one in field["anyOf"])
    if field.get("type") == "array":
        return f"list of {value_kind(schema, field.get('items', {}))}"
    if "const" in field or "enum" in field:
        return " | ".join(str(one) for one in field.get("enum", [field.get("const")]))
    return str(field.get("format") or field.get("type") or "any")


def _called(reference: str) -> str:
    """Name a shape as people would: what it is of, and not whether it goes in or out."""
    name = re.sub(r"-(Input|Output)$", "", reference.rpartition("/")[2])
    return re.sub(r"^([A-Za-z]+)_(\w+)_$", r"\1 of \2", name)


def _resolved(schema: Schema, field: Schema) -> Schema:
    if "$ref" not in field:
        return field
    found: Schema = schema["components"]["schemas"][field["$ref"].rpartition("/")[2]]
    return found


def _table(rows: Iterable[tuple[str, str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(kind)}</td>'
        f"<td>{_words(about)}</td></tr>"
        for name, kind, about in rows
    )
    return f"<table>{cells}</table>"


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_words(one)}</p>" for one in text.strip().split("\n\n") if one)


def _words(text: str) -> str:
    """Write what others may have written: only what they quote as code is more than text."""
    return _CODE.sub(r"<code>\1</code>", escape(text))
