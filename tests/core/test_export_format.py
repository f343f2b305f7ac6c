"""Lines of an export: written in one way, read with care, described by a schema."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.architecture.source import DOCS
from threadline.core.errors import Invalid
from threadline.core.export_format.codec import RECORD_TYPES, decode, encode, json_schema
from threadline.core.export_format.files import ExportScope, Selection, SenderReference
from threadline.core.export_format.sessions import PortableMessage
from threadline.core.message import Marker, MarkerKind, Role, Text, ToolResult

SCHEMA = DOCS / "schemas" / "export-v1.schema.json"
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
messages = st.builds(
    PortableMessage,
    seq=st.none() | st.integers(1, 2**62),
    turn=st.none() | st.integers(1, 100),
    role=st.sampled_from(Role),
    sender=st.none()
    | st.builds(SenderReference, platform=st.just("telegram"), id=texts.filter(bool)),
    parts=st.lists(
        st.builds(Text, text=texts)
        | st.builds(ToolResult, call_id=st.just("c"), text=texts, is_error=st.booleans())
        | st.builds(Marker, kind=st.sampled_from(MarkerKind), text=texts),
        min_size=1,
        max_size=4,
    ).map(tuple),
    at=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(
        lambda at: at.replace(tzinfo=UTC)
    ),
)


@given(messages)
def test_a_line_is_read_as_it_was_written(message: PortableMessage) -> None:
    """Every message comes back equal, and is written again as the same bytes, on one line."""
    line = encode(message)

    assert decode(line) == message
    assert encode(decode(line)) == line
    assert line.count(b"\n") == 1
    assert not list(complaints(json.loads(line), json_schema()))


def test_a_moment_is_written_in_utc() -> None:
    """Whatever the time zone, with six digits behind the point."""
    east = AT.astimezone(timezone(timedelta(hours=5)))
    message = PortableMessage(role=Role.USER, parts=(Text(text="x"),), at=east)

    assert json.loads(encode(message))["at"] == "2026-03-02T09:00:00.000000Z"


def test_what_is_missing_is_left_out() -> None:
    """A line has no fields that say nothing."""
    message = PortableMessage(role=Role.USER, parts=(Text(text="x"),), at=AT)

    assert list(json.loads(encode(message))) == ["type", "role", "parts", "at"]


@pytest.mark.parametrize(
    "given",
    [
        {"extent": ExportScope.PROFILE},
        {"extent": ExportScope.ALL, "profile": "main"},
        {"extent": ExportScope.PROJECT, "project": "x"},
        {"extent": ExportScope.SESSION},
        {"extent": ExportScope.PERSON, "profile": "main"},
    ],
)
def test_a_selection_says_which(given: dict[str, object]) -> None:
    """An export of a profile names it, and one of all names nothing."""
    with pytest.raises(Invalid):
        Selection(**given)  # type: ignore[arg-type]


def test_the_schema_is_that_of_the_code() -> None:
    """The schema in the documents is the one that the records have; `make docs` writes it."""
    assert json.loads(SCHEMA.read_text("utf-8")) == json_schema()


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_every_line_is_documented(name: str) -> None:
    """The description of the format names every type of line and all its fields."""
    text = (DOCS / "export-format.md").read_text("utf-8")
    defs = json_schema()["$defs"]
    assert isinstance(defs, dict)

    assert f"`{name}`" in text
    missing = [field for field in defs[name]["properties"] if f"`{field}`" not in text]
    assert not missing


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message", "role": "user", "parts": [{"type": "text"}], "at": 5},
        {"type": "message", "role": "nobody", "parts": [], "at": "2026-03-02T09:00:00.000000Z"},
        {"type": "nothing"},
        {"type": "footer", "lines": -1},
    ],
)
def test_the_schema_refuses_what_is_wrong(line: dict[str, object]) -> None:
    """The check against the schema can fail."""
    assert list(complaints(line, json_schema()))


def complaints(value: object, schema: dict[str, object]) -> list[str]:
    """Check a value against as much of JSON Schema as our schema uses."""
    return list(_complaints(value, schema, schema))


def _complaints(value: object, schema: dict[str, object], whole: dict[str, object]) -> list[str]:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        defs = whole["$defs"]
        assert isinstance(defs, dict)
        return _complaints(value, defs[name], whole)
    choices = schema.get("oneOf")
    if isinstance(choices, list):
        fitting = [each for each in choices if not _complaints(value, each, whole)]
        return [] if len(fitting) == 1 else [f"{len(fitting)} fit"]
    found = _unfit(value, schema)
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(value, dict) and isinstance(properties, dict):
        required = schema.get("required", [])
        assert isinstance(required, list)
        found += [f"lacks {name}" for name in required if name not in value]
        if schema.get("additionalProperties") is False:
            found += [f"unknown {name}" for name in value if name not in properties]
        for name, inner in value.items():
            if name in properties:
                found += _complaints(inner, properties[name], whole)
    if isinstance(value, list) and isinstance(items, dict):
        for item in value:
            found += _complaints(item, items, whole)
    return found


KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def _unfit(value: object, schema: dict[str, object]) -> list[str]:
    kind = schema.get("type")
    if isinstance(kind, str) and not isinstance(value, KINDS[kind]):
        return [f"no {kind}"]
    found = []
    if "const" in schema and value != schema["const"]:
        found.append("not const")
    enum = schema.get("enum")
    if isinstance(enum, list) and value not in enum:
        found.append("not in enum")
    least = schema.get("minimum")
    if isinstance(value, int) and isinstance(least, int) and value < least:
        found.append("below minimum")
    if isinstance(value, str):
        if not re.search(str(schema.get("pattern", "")), value):
            found.append("no match")
        longest = schema.get("maxLength")
        if isinstance(longest, int) and len(value) > longest:
            found.append("too long")
    if isinstance(value, list) and len(value) < (1 if schema.get("minItems") else 0):
        found.append("empty")
    return found
