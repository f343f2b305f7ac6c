"""Messages: parts survive being stored byte by byte, and nothing unfit becomes one."""

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.errors import Invalid
from threadline.core.message import (
    Attachment,
    BlobHash,
    Marker,
    MarkerKind,
    MediaKind,
    NewMessage,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    pack,
    parts_from,
    plain_text,
    say,
    unpack,
)

HASH = BlobHash("0" * 64)

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
ids = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=40)
parts = st.lists(
    st.one_of(
        st.builds(Text, text=texts),
        st.builds(ToolCall, id=ids, name=ids, arguments=texts),
        st.builds(ToolResult, call_id=ids, text=texts, is_error=st.booleans()),
        st.builds(Reasoning, text=texts, raw=st.none() | texts),
        st.builds(Marker, kind=st.sampled_from(MarkerKind), text=texts),
        st.builds(
            Attachment,
            kind=st.sampled_from(MediaKind),
            blob=st.just(HASH),
            media_type=ids,
            size=st.integers(0, 2**40),
            name=st.none() | ids,
        ),
    ),
    min_size=1,
    max_size=6,
).map(tuple)


@given(parts)
def test_parts_come_back_as_they_were_stored(given_parts: tuple[Part, ...]) -> None:
    """Whatever an agent said is replayed exactly, the provider's own items included."""
    assert unpack(*pack(given_parts)) == given_parts


def test_plain_words_need_no_structure() -> None:
    """A message of plain words is stored as these words and nothing else."""
    assert pack((Text(text="hello"),)) == ("hello", None)


def test_what_a_person_reads_leaves_out_calls_and_thoughts() -> None:
    """The readable text of a message holds words, results and markers."""
    spoken = (
        Reasoning(text="hm"),
        Text(text="one"),
        ToolCall(id="1", name="t", arguments="{}"),
        ToolResult(call_id="1", text="two"),
        Marker(kind=MarkerKind.STOPPED, text="three"),
    )
    assert plain_text(spoken) == "one\ntwo\nthree"


@pytest.mark.parametrize(
    "items",
    [
        None,
        {},
        ["text"],
        [{"text": "without a type"}],
        [{"type": "song", "text": "la"}],
        [{"type": "text"}],
        [{"type": "text", "text": 7}],
        [{"type": "text", "text": "x", "extra": 1}],
        [{"type": "text", "text": "\0"}],
        [{"type": "text", "text": "\ud800"}],
        [{"type": "marker", "kind": "happy", "text": "x"}],
        [{"type": "attachment", "kind": "image", "blob": "../../x", "media_type": "a", "size": 1}],
        [{"type": "attachment", "kind": "image", "blob": HASH, "media_type": "a", "size": -1}],
        [{"type": "tool_call", "id": "x" * 300, "name": "t", "arguments": ""}],
    ],
)
def test_malformed_parts_are_refused(items: object) -> None:
    """Garbage where parts should be is an error that says so, never a crash."""
    with pytest.raises(Invalid):
        parts_from(items)


@pytest.mark.parametrize("role", ["robot", "", None, "USER"])
def test_an_unknown_role_is_refused(role: object) -> None:
    """Only the four roles exist."""
    with pytest.raises(Invalid, match="no role"):
        NewMessage(role=cast("Role", role), parts=(Text(text="x"),))


def test_a_message_has_at_least_one_part_and_not_too_many() -> None:
    """An empty message, or one of a thousand parts, is refused."""
    for count in (0, 257):
        with pytest.raises(Invalid, match="1 to 256"):
            NewMessage(role=Role.USER, parts=(Text(text="x"),) * count)


def test_a_part_must_be_one() -> None:
    """A plain string is no part."""
    with pytest.raises(Invalid, match="no part"):
        NewMessage(role=Role.USER, parts=cast("tuple[Part, ...]", ("hello",)))


def test_a_text_of_ten_megabytes_is_refused_shortly() -> None:
    """A huge text is refused by an error that does not repeat it."""
    with pytest.raises(Invalid) as caught:
        say(Role.USER, "x" * 10_000_000)
    assert len(str(caught.value)) < 300


@given(texts)
def test_stored_parts_are_json(text: str) -> None:
    """The stored form can be read by anybody."""
    _, stored = pack((Text(text=text), Text(text="second")))
    assert stored is not None
    assert json.loads(stored)[0] == {"type": "text", "text": text}
