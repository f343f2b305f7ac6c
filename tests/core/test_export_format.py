"""Lines of an export: written in one way, read with care, described by a schema."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from tests.architecture.source import DOCS
from threadline.core.errors import Invalid
from threadline.core.export_format.codec import RECORD_TYPES, decode, encode, json_schema
from threadline.core.export_format.file_records import ExportScope, Selection, SenderReference
from threadline.core.export_format.session_records import PortableMessage
from threadline.core.message import Marker, MarkerKind, Role, Text, ToolResult

SCHEMA = Draft202012Validator(json_schema())
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
    SCHEMA.validate(json.loads(line))


@pytest.mark.parametrize("at", ["2026-03-02T09:00:00Z", "2026-03-02T14:00:00+05:00"])
def test_a_time_is_read_in_utc(at: str) -> None:
    """Whatever time zone a line names, the time that is read is in UTC."""
    line = {"type": "message", "role": "user", "parts": [{"type": "text", "text": "x"}], "at": at}
    message = decode(json.dumps(line).encode())

    assert isinstance(message, PortableMessage)
    assert message.at.isoformat() == "2026-03-02T09:00:00+00:00"
    assert json.loads(encode(message))["at"] == "2026-03-02T09:00:00Z"


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
    text = (DOCS / "schemas" / "export-v1.schema.json").read_text("utf-8")
    assert json.loads(text) == json_schema()


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_every_line_is_documented(name: str) -> None:
    """The description of the format names every type of line and all its fields."""
    text = (DOCS / "export-format.md").read_text("utf-8")
    defs = json_schema()["$defs"]
    assert isinstance(defs, dict)

    assert f"`{name}`" in text
    fields = defs[RECORD_TYPES[name].__name__]["properties"]
    missing = [field for field in fields if f"`{field}`" not in text]
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
    assert not SCHEMA.is_valid(line)
