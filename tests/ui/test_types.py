"""The types for TypeScript say what the description of an API says."""

import json
import re
import shutil
from pathlib import Path

import pytest

from docs.typescript import type_name, type_of, write_types
from tests.ui.compiler import UI, compile_into, run_compiled
from tests.ui.sample import make_sample

USAGE = """
import {{ Client, Problem }} from "./client.ts";
const asked: string[] = [];
const answers = [
  new Response('{{"items": [{{"name": "a"}}], "next": null}}', {{
    headers: {{ "Content-Type": "application/json", ETag: '"3"' }},
  }}),
  new Response(null, {{ status: 204 }}),
  new Response('{{"title": "NotFound", "detail": "No pot", "hint": "Look again"}}', {{
    status: 404,
    headers: {{ "Content-Type": "application/problem+json", "Retry-After": "7" }},
  }}),
  new Response('{{"a file": "of JSON"}}', {{ headers: {{ "Content-Type": "application/json" }} }}),
];
const client = new Client({{
  base: "http://shelf",
  csrf: () => "word",
  fetch: async (address, options) => {{
    const headers = new Headers(options?.headers);
    asked.push([options?.method, address, headers.get("X-CSRF-Token")].join(" "));
    return answers.shift()!;
  }},
}});
{}
console.log(JSON.stringify(asked));
export {{ Problem }};
"""
TALK = """
const page = await client.call("list_pots", { query: { most: 3, colour: undefined } });
const names: string[] = page.data.items.map((pot) => pot.name);
await client.call("delete_pot", { path: { pot: "a/b" }, header: { "if-match": page.etag ?? "*" } });
try {
  await client.call("make_pot", { body: { name: "c", colour: "red" } });
} catch (error) {
  if (error instanceof Problem) asked.push(`${error.message} ${error.retryAfter} ${error.hint}`);
}
const label: Response = (await client.call("read_label")).data;
asked.push(await label.text(), names.join());
"""
WRONG = {
    "a body is missing": 'await client.call("make_pot");',
    "a colour that is not there": 'await client.call("list_pots", {query: {colour: "green"}});',
    "a header is missing": 'await client.call("delete_pot", {path: {pot: "a"}});',
    "a body that is not taken": 'await client.call("list_pots", {body: {}});',
    "a field that is not there": '(await client.call("list_pots")).data.itms;',
    "an operation that is not there": 'await client.call("list_pans");',
}


def write_sample(folder: Path, talk: str) -> None:
    """Lay out a client of the sample API, and a program that uses it."""
    folder.mkdir()
    types = write_types(json.loads(json.dumps(make_sample().openapi())))
    (folder / "schema.ts").write_text(types, encoding="utf-8")
    shutil.copy(UI / "src" / "api" / "client.ts", folder)
    (folder / "usage.ts").write_text(USAGE.format(talk), encoding="utf-8")


def test_a_client_asks_as_the_description_says(tmp_path: Path) -> None:
    """Paths are filled in, queries written, changes marked, and problems thrown with their hint."""
    write_sample(tmp_path / "source", TALK)
    wrong = compile_into(tmp_path / "built", tmp_path / "source")
    (tmp_path / "built" / "package.json").write_text('{"type": "module"}', encoding="utf-8")

    done = run_compiled(tmp_path / "built" / "usage.js")

    assert wrong == ""
    assert done.stderr == ""
    assert json.loads(done.stdout) == [
        "GET http://shelf/api/pots?most=3 ",
        "DELETE http://shelf/api/pots/a%2Fb word",
        "POST http://shelf/api/pots word",
        "No pot 7 Look again",
        "GET http://shelf/api/label ",
        '{"a file": "of JSON"}',
        "a",
    ]


def test_the_compiler_finds_wrong_calls(tmp_path: Path) -> None:
    """What the API would refuse by its form is refused by the compiler, each with its line."""
    write_sample(tmp_path / "source", "\n".join(WRONG.values()))
    first = USAGE.partition("{}\n")[0].count("\n") + 1

    wrong = compile_into(tmp_path / "built", tmp_path / "source")

    lines = {int(line) - first for line in re.findall(r"usage\.ts[(:](\d+)", wrong)}
    assert lines == set(range(len(WRONG))), wrong


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({}, "unknown"),
        (True, "unknown"),
        (False, "never"),
        ({"type": "integer"}, "number"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"const": 'say "hi"'}, '"say \\"hi\\""'),
        ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
        ({"anyOf": [{"type": "string"}, {"type": "string"}]}, "string"),
        ({"allOf": [{"$ref": "#/x/One"}, {"enum": [1, 2]}]}, "One & (1 | 2)"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
        ({"type": "array", "prefixItems": [{"type": "string"}, True]}, "[string, unknown]"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
        ({"type": "object", "properties": {"a-b": True}}, '{\n  "a-b"?: unknown;\n}'),
    ],
)
def test_every_kind_of_schema_has_a_type(schema: dict[str, object] | bool, written: str) -> None:
    """Each form that a description may use becomes the type that holds the same values."""
    assert type_of(schema) == written


def test_two_schemas_never_share_a_name() -> None:
    """Names that would be the same in TypeScript are refused, not mixed up."""
    schemas: dict[str, object] = {"Page[Pot]": {}, "Page_Pot_": {}}

    assert {type_name(name) for name in schemas} == {"PagePot"}
    with pytest.raises(ValueError, match="one name"):
        write_types({"paths": {}, "components": {"schemas": schemas}})


def test_a_comment_cannot_be_left() -> None:
    """Words that would end a comment stay inside it."""
    schemas = {"Pot": {"type": "string", "description": "odd */ alert(1) /*"}}

    written = write_types({"paths": {}, "components": {"schemas": schemas}})

    assert "/** odd * / alert(1) /* */" in written
