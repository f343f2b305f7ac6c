"""Shapes: nouns are told as their views describe them."""

import json
from datetime import UTC, datetime, timedelta, timezone

from msgspec.structs import replace
from pydantic import TypeAdapter

from threadline.core.address import Kind
from threadline.core.message import (
    Attachment,
    Marker,
    MarkerKind,
    MediaKind,
    Message,
    MessageKey,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    checked_hash,
)
from threadline.core.session import (
    Cause,
    EndReason,
    ModelChoice,
    ProjectKey,
    Session,
    SessionId,
    Worktree,
)
from threadline.core.session_list import SessionRow, Speaker
from threadline.core.turn import TurnState
from threadline.web.resources.messages import MessagePageView, MessageView
from threadline.web.resources.session_list import SessionRowView, shown_row, tell_rows
from threadline.web.resources.sessions import SessionView

AT = datetime(2026, 1, 31, 18, 45, tzinfo=UTC)
ELSEWHERE = AT.astimezone(timezone(timedelta(hours=2)))
WRITTEN = "2026-01-31T18:45:00.000000Z"
ID = SessionId("20260131_184500_0a1b2c3d")
SESSION = Session(
    id=ID,
    profile="main",
    platform="telegram",
    kind=Kind.DM,
    parent_id=None,
    root_id=ID,
    cause=Cause.FIRST,
    opened_at=AT,
    last_activity_at=ELSEWHERE,
    ended_at=AT,
    end_reason=EndReason.IDLE,
    suspended_at=None,
    title="Holidays",
    titled_by=None,
    choice=ModelChoice(model="large", provider="example"),
    last_seq=3,
    revision=4,
    tools=("clock",),
    worktree=Worktree(path="/a", branch="b", repository="/c", at=AT),
)
ROW = SessionRow(
    session=SESSION,
    label="Alice",
    people=("Alice",),
    people_count=1,
    last_words="hello",
    last_speaker=Speaker(role=Role.USER, name="Alice"),
    held=TurnState.WAITING,
    queued=0,
    project_name=None,
    is_unread=True,
    has_draft=False,
    has_failed_delivery=False,
)
PARTS: tuple[tuple[Part, dict[str, object]], ...] = (
    (Text(text="a", raw="{}"), {"type": "text", "text": "a"}),
    (
        Attachment(kind=MediaKind.FILE, blob=checked_hash("0" * 64), media_type="a/b", size=1),
        {
            "type": "attachment",
            "kind": "file",
            "blob": "0" * 64,
            "media_type": "a/b",
            "size": 1,
            "name": None,
        },
    ),
    (
        ToolCall(id="1", name="clock", arguments="{}", raw="{}"),
        {"type": "tool_call", "id": "1", "name": "clock", "arguments": "{}"},
    ),
    (
        ToolResult(call_id="1", text="noon"),
        {"type": "tool_result", "call_id": "1", "text": "noon", "is_error": False},
    ),
    (Reasoning(text="hm", raw="{}"), {"type": "reasoning", "text": "hm"}),
    (
        Marker(kind=MarkerKind.FAILED, text="no"),
        {"type": "marker", "kind": "failed", "text": "no"},
    ),
)


def test_a_row_tells_its_session_as_the_session_itself_is_told() -> None:
    """Each field is there by the name of the view, moments in UTC and words of enums as text."""
    page = json.loads(bytes(tell_rows([ROW], "more").body))

    (told,) = page["items"]
    assert page["next"] == "more"
    assert list(told) == list(SessionRowView.model_fields)
    session = told["session"]
    assert session == json.loads(SessionView.from_session(SESSION).model_dump_json(by_alias=True))
    assert list(session) == list(SessionView.model_fields)
    assert session["model"] == {"model": "large", "provider": "example", "base_url": None}
    assert (session["opened_at"], session["last_activity_at"]) == (WRITTEN, WRITTEN)
    assert session["worktree"] == {"path": "/a", "branch": "b", "repository": "/c", "at": WRITTEN}
    assert (session["kind"], session["end_reason"], session["tools"]) == ("dm", "idle", ["clock"])
    assert told["last_speaker"] == {"role": "user", "name": "Alice"}
    assert (told["held"], told["needs_you"], told["is_read_only"]) == ("waiting", True, False)


def test_a_row_names_no_project_that_its_session_does_not() -> None:
    """Whoever may not know of the project of a session is not told its name either."""
    row = replace(ROW, session=replace(SESSION, project=ProjectKey(7)), project_name="secret")

    assert shown_row(row, row.session) == row
    assert shown_row(row, SESSION) == ROW


def test_all_parts_of_a_message_are_told_without_what_is_for_replays() -> None:
    """On a page and alone a line is told alike, and nothing verbatim of a provider is in it."""
    parts = tuple(part for part, _ in PARTS)
    line = Message(key=MessageKey(1), session_id=ID, seq=1, role=Role.TOOL, parts=parts, at=AT)

    page = MessagePageView.from_messages([line], is_beginning=True)
    (told,) = json.loads(page.model_dump_json(by_alias=True))["items"]

    assert told == json.loads(MessageView.from_message(line).model_dump_json(by_alias=True))
    assert told["parts"] == [written for _, written in PARTS]
    assert (told["role"], told["at"]) == ("tool", WRITTEN)


def test_a_page_describes_the_views_of_what_it_holds() -> None:
    """Whoever reads the description finds the views, by their names."""
    described = TypeAdapter(MessagePageView).json_schema(mode="serialization")

    assert described["properties"]["items"]["items"] == {"$ref": "#/$defs/MessageView"}
    assert list(described["$defs"]["MessageView"]["properties"]) == list(MessageView.model_fields)
    parts = described["$defs"]["MessageView"]["properties"]["parts"]["items"]
    assert parts["discriminator"]["mapping"]["text"] == "#/$defs/TextPart"
