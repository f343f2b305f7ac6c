"""Sessions, as answers show them and as requests change them."""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field, TypeAdapter
from starlette.responses import Response

from threadline.core.address import Kind
from threadline.core.deletion import Certificate, DeletionPreview, DeletionState
from threadline.core.errors import Invalid
from threadline.core.message import Role
from threadline.core.session import (
    PATH_LIMIT,
    TOOLS_LIMIT,
    BusyMode,
    Cause,
    EndReason,
    ModelChoice,
    Origin,
    ProjectKey,
    Session,
    TitleSource,
    Worktree,
)
from threadline.core.session_list import BatchOutcome, SessionCounts, SessionRow, Speaker
from threadline.core.session_patch import KEPT, SessionPatch
from threadline.core.turn import TurnState
from threadline.core.validation import ID_LIMIT
from threadline.store.turns.turn_context import StreamedText
from threadline.web.resources.pagination import Page
from threadline.web.resources.schemas.bodies import Moment, RequestBody, ResponseBody, Told
from threadline.web.resources.schemas.parts import Words

TITLE_MOST = 1000
"""Characters that are looked at; a title keeps fewer of them."""
BATCH_MOST = 200
"""With how many sessions the same may be done by one request."""


class ModelView(ResponseBody):
    """The model that a session was told to use."""

    model: str
    provider: str | None
    base_url: str | None


class WorktreeView(ResponseBody):
    """A working copy that a session has for itself."""

    path: str
    branch: str
    repository: str
    at: Moment


class SessionView(ResponseBody):
    """One stretch of conversation."""

    id: str
    revision: int = Field(description="Grows with every event of the session.")
    profile: str
    platform: str
    kind: Kind
    origin: Origin
    title: str | None
    titled_by: TitleSource | None
    parent_id: str | None
    root_id: str | None
    base_id: str | None
    base_seq: int | None
    cause: Cause
    opened_at: Moment
    last_activity_at: Moment
    ended_at: Moment | None
    end_reason: EndReason | None
    suspended_at: Moment | None
    last_seq: int
    user_messages: int
    project: int | None
    pinned_at: Moment | None
    archived_at: Moment | None
    model: Annotated[ModelChoice, Told(ModelView)] | None = Field(validation_alias="choice")
    personality: str | None
    tools: tuple[str, ...] | None
    workspace: str | None
    worktree: Annotated[Worktree, Told(WorktreeView)] | None
    taken_at: Moment | None = Field(
        description="Since when a person answers here instead of the agent; null: the agent does."
    )
    taken_by: str | None = Field(description="Who has taken it over.")

    @classmethod
    def from_session(cls, session: Session) -> "SessionView":
        """Show a session."""
        return cls.model_validate(session)


class SpeakerView(ResponseBody):
    """Who said something."""

    role: Role
    name: str | None = Field(description="Null: nobody knows, or it was the agent.")


class SessionRowView(ResponseBody):
    """A session as a list shows it."""

    session: Annotated[Session, Told(SessionView)]
    label: str = Field(description="Where it takes place, as a person would call it.")
    people: tuple[str, ...]
    people_count: int
    last_words: str | None
    last_speaker: Annotated[Speaker, Told(SpeakerView)] | None = Field(description="Who said them.")
    held: TurnState | None = Field(description="The state of the turn under way, if there is one.")
    queued: int
    project_name: str | None
    is_unread: bool
    has_draft: bool
    has_failed_delivery: bool = Field(
        description="What was last said to its people did not reach all of them."
    )
    needs_you: bool
    is_read_only: bool


_Rows = Page[Annotated[SessionRow, Told(SessionRowView)]]
_rows = TypeAdapter(_Rows)


def shown_row(row: SessionRow, session: Session) -> SessionRow:
    """Show a row, with its session as far as whoever asks may know it."""
    if session is row.session:
        return row
    named = None if session.project is None else row.project_name
    return replace(row, session=session, project_name=named)


def tell_rows(rows: list[SessionRow], next: str | None = None) -> Response:
    """Tell a page of rows, as a page of their views is told."""
    page = _Rows(items=rows, next=next)
    return Response(_rows.dump_json(page, by_alias=True), media_type="application/json")


class CountsView(ResponseBody):
    """How many sessions there are of each sort."""

    total: int
    unread: int
    pinned: int
    by_platform: dict[str, int]
    by_project: dict[int, int]
    archived: int
    scheduled: int

    @classmethod
    def from_counts(cls, counts: SessionCounts) -> "CountsView":
        """Show counts."""
        return cls(
            total=counts.total,
            unread=counts.unread,
            pinned=counts.pinned,
            by_platform=dict(counts.by_platform),
            by_project={int(key): count for key, count in counts.by_project.items()},
            archived=counts.archived,
            scheduled=counts.scheduled,
        )


class ModelRequest(RequestBody):
    """The model that a session shall use; its address is for an owner to choose."""

    model: str = Field(min_length=1, max_length=ID_LIMIT, examples=["openai:gpt-5"])
    provider: str | None = Field(default=None, max_length=ID_LIMIT)
    base_url: str | None = Field(default=None, max_length=ID_LIMIT)

    def choice(self) -> ModelChoice:
        """Make the choice that the store keeps."""
        return ModelChoice(model=self.model, provider=self.provider, base_url=self.base_url)


class SessionRequest(Words):
    """The first words of a conversation; without them there is none."""

    profile: str | None = Field(default=None, max_length=100, examples=["main"])
    title: str | None = Field(default=None, max_length=TITLE_MOST)
    project: int | None = Field(default=None, ge=1)
    model: ModelRequest | None = None

    def wanted(self) -> SessionPatch:
        """Tell what the session shall be like; what is null is left to the configuration."""
        return SessionPatch(
            title=KEPT if self.title is None else self.title,
            project=KEPT if self.project is None else ProjectKey(self.project),
            model=KEPT if self.model is None else self.model.choice(),
        )


class SessionUpdateRequest(RequestBody):
    """What shall be different; what is not named stays, and null takes a choice back."""

    title: str | None = Field(default=None, max_length=TITLE_MOST, examples=["Holidays"])
    is_pinned: bool | None = None
    is_archived: bool | None = None
    project: int | None = Field(default=None, ge=1, description="Null takes it out of its project.")
    model: ModelRequest | None = None
    busy_mode: BusyMode | None = None
    personality: str | None = Field(default=None, max_length=ID_LIMIT)
    tools: list[str] | None = Field(default=None, max_length=TOOLS_LIMIT)
    workspace: str | None = Field(default=None, max_length=PATH_LIMIT)

    def wanted(self) -> SessionPatch:
        """Tell what shall be different about the session."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        if self.model is not None:
            named["model"] = self.model.choice()
        if self.tools is not None:
            named["tools"] = tuple(self.tools)
        if "title" in named and self.title is None:
            raise Invalid("A title cannot be removed, only replaced")
        for name in named.keys() & {"is_pinned", "is_archived"}:
            named[name] = bool(named[name])
        return SessionPatch(**named)


class BatchRequest(RequestBody):
    """The same for several sessions."""

    ids: list[str] = Field(min_length=1, max_length=BATCH_MOST)
    action: Literal["pin", "unpin", "archive", "unarchive", "move", "read", "forget"]
    project: int | None = Field(default=None, ge=1, description="Where `move` puts them.")


class BatchOutcomeView(ResponseBody):
    """What became of one of several sessions."""

    id: str
    error: str | None = Field(description="Why nothing was done with this one.")

    @classmethod
    def from_outcome(cls, outcome: BatchOutcome) -> "BatchOutcomeView":
        """Show an outcome."""
        return cls(id=outcome.id, error=outcome.error)


class BatchView(ResponseBody):
    """What became of each of several sessions."""

    outcomes: list[BatchOutcomeView]


class DeletionPreviewView(ResponseBody):
    """What would go if something were forgotten now."""

    sessions: list[str]
    shared: list[str]
    branches: list[str]
    messages: int
    attachments: int
    senders: int

    @classmethod
    def from_plan(cls, plan: DeletionPreview) -> "DeletionPreviewView":
        """Show a plan."""
        return cls(
            sessions=list(plan.sessions),
            shared=list(plan.shared),
            branches=list(plan.branches),
            messages=plan.messages,
            attachments=plan.attachments,
            senders=plan.senders,
        )


class CertificateView(ResponseBody):
    """What was removed, and what no program can take back."""

    id: int
    state: DeletionState
    asked_at: Moment
    done_at: Moment | None
    counts: dict[str, int]
    out_of_reach: list[str]

    @classmethod
    def from_certificate(cls, one: Certificate) -> "CertificateView":
        """Show a certificate."""
        return cls(
            id=one.id,
            state=one.state,
            asked_at=one.asked_at,
            done_at=one.done_at,
            counts=dict(one.counts),
            out_of_reach=list(one.out_of_reach),
        )


class StreamingView(ResponseBody):
    """How far a session has come: its lines, and what is said but no line yet."""

    last_seq: int
    turn_id: int | None = Field(description="The turn that runs.")
    text: str = Field(description="What it has said since the last line; at most a second late.")

    @classmethod
    def from_streaming(cls, streaming: StreamedText) -> "StreamingView":
        """Show it."""
        return cls(last_seq=streaming.last_seq, turn_id=streaming.turn_id, text=streaming.text)


class MarkRequest(RequestBody):
    """How far somebody has read."""

    seq: int | None = Field(
        default=None, ge=0, le=2**53, description="The last line that was read; null: all of them."
    )


class MarkView(ResponseBody):
    """How far somebody has read."""

    seq: int


class RoundsView(ResponseBody):
    """How often somebody spoke and got an answer."""

    rounds: int
