"""Views: values of the store are shown as the description of the API says."""

import json
from datetime import UTC, datetime, timedelta
from typing import get_args

from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.draft import Draft
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
from threadline.web.bodies import encode
from threadline.web.resources.json_schemas import SCHEMAS, response_schemas
from threadline.web.resources.messages import MessagePageView, MessageView
from threadline.web.resources.pagination import Page
from threadline.web.resources.session_list import SessionRowView, shown_row
from threadline.web.resources.sessions import SessionView

AT = datetime(2026, 1, 31, 18, 45, tzinfo=UTC)
LATER = AT + timedelta(microseconds=1)
WRITTEN = "2026-01-31T18:45:00Z"
WRITTEN_LATER = "2026-01-31T18:45:00.000001Z"
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
    last_activity_at=LATER,
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


def test_a_row_shows_its_session_as_the_session_itself_is_shown() -> None:
    """Each field is there by the name of the view, times in UTC and words of enums as text."""
    row = json.loads(encode(SessionRowView.of(ROW)))

    assert list(row) == list(SessionRowView.__struct_fields__)
    session = row["session"]
    assert session == json.loads(encode(SessionView.of(SESSION)))
    assert list(session) == list(SessionView.__struct_encode_fields__)
    assert session["model"] == {"model": "large", "provider": "example", "base_url": None}
    assert (session["opened_at"], session["last_activity_at"]) == (WRITTEN, WRITTEN_LATER)
    assert session["worktree"] == {"path": "/a", "branch": "b", "repository": "/c", "at": WRITTEN}
    assert (session["kind"], session["end_reason"], session["tools"]) == ("dm", "idle", ["clock"])
    assert row["last_speaker"] == {"role": "user", "name": "Alice"}
    assert (row["held"], row["needs_you"], row["is_read_only"]) == ("waiting", True, False)


def test_a_row_names_no_project_that_its_session_does_not() -> None:
    """Whoever may not know of the project of a session is not told its name either."""
    row = replace(ROW, session=replace(SESSION, project=ProjectKey(7)), project_name="secret")

    assert shown_row(row, row.session) == row
    assert shown_row(row, SESSION) == ROW


def test_all_parts_of_a_message_are_shown_without_what_is_for_replays() -> None:
    """On a page and alone a message is shown alike, without what a provider said verbatim."""
    parts = tuple(part for part, _ in PARTS)
    line = Message(key=MessageKey(1), session_id=ID, seq=1, role=Role.TOOL, parts=parts, at=AT)

    page = MessagePageView.from_messages([line], is_beginning=True)
    (shown,) = json.loads(encode(page))["items"]

    assert shown == json.loads(encode(MessageView.from_message(line)))
    assert shown["parts"] == [written for _, written in PARTS]
    assert (shown["role"], shown["at"]) == ("tool", WRITTEN)


def test_a_page_describes_the_views_of_what_it_holds() -> None:
    """The description has the views by their names, and the parts by their types."""
    (page,), described = response_schemas([MessagePageView])

    assert page == {"$ref": f"{SCHEMAS}MessagePageView"}
    items = described["MessagePageView"]["properties"]["items"]
    assert items["items"] == {"$ref": f"{SCHEMAS}MessageView"}
    fields = described["MessageView"]["properties"]
    assert list(fields) == list(MessageView.__struct_fields__)
    mapping = fields["parts"]["items"]["discriminator"]["mapping"]
    assert mapping["text"] == f"{SCHEMAS}TextPart"
    assert len(mapping) == len(get_args(Part))


def test_a_value_of_the_store_is_described_as_a_view() -> None:
    """Its name ends as those of other views, its fields are all present, its times are times."""
    (page,), described = response_schemas([Page[Draft]])

    assert page == {"$ref": f"{SCHEMAS}Page_DraftView_"}
    draft = described["DraftView"]
    assert draft["required"] == list(Draft.__struct_fields__)
    assert draft["properties"]["changed_at"] == {"type": "string", "format": "date-time"}
    assert described["Page_DraftView_"]["required"] == ["items", "next"]


def test_the_words_below_a_field_describe_it() -> None:
    """The docstring of a field stands in the description, with `null` for what JSON has there."""
    _, described = response_schemas([SessionRowView])

    fields = described["SessionRowView"]["properties"]
    assert fields["label"]["description"] == "Where it takes place, as a person would call it."
    name = described["SpeakerView"]["properties"]["name"]["description"]
    assert name == "null: nobody knows, or it was the agent."
    assert described["Role"]["enum"] == list(Role)
