"""Sessions: listed, begun by their first words, changed, and forgotten."""

from typing import Annotated

from fastapi import Query, Response
from msgspec import UNSET, Meta, UnsetType, field
from msgspec.structs import asdict

from threadline.core.address import Kind
from threadline.core.session import (
    PATH_LIMIT,
    TOOLS_LIMIT,
    BusyMode,
    Cause,
    EndReason,
    ModelChoice,
    Origin,
    ProjectKey,
    TitleSource,
    Worktree,
)
from threadline.core.session_patch import KEPT, SessionPatch
from threadline.core.validation import ID_LIMIT
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.web.bodies import Body, Time, View
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.choice_limits import require_leave
from threadline.web.resources.deps import MomentQuery, SessionIdPath, StoreDep
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.inbound import SentView, Words, make_inbound
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of, shown_session

TITLE_MOST = 1000
"""Characters that are looked at; a title keeps fewer of them."""


class ModelView(View, frozen=True, kw_only=True):
    """The model that a session was told to use."""

    model: str
    provider: str | None
    base_url: str | None


class SessionView(View, frozen=True, kw_only=True):
    """One stretch of conversation."""

    id: str
    revision: int
    """Grows with every event of the session."""
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
    opened_at: Time
    last_activity_at: Time
    ended_at: Time | None
    end_reason: EndReason | None
    suspended_at: Time | None
    last_seq: int
    user_messages: int
    project: int | None
    pinned_at: Time | None
    archived_at: Time | None
    choice: ModelView | None = field(name="model")
    personality: str | None
    tools: tuple[str, ...] | None
    workspace: str | None
    worktree: Worktree | None
    taken_at: Time | None
    """Since when a person answers here instead of the agent; null: the agent does."""
    taken_by: str | None
    """Who has taken it over."""


class ModelRequest(Body, frozen=True, kw_only=True):
    """The model that a session shall use; its address is for an owner to choose."""

    model: Annotated[str, Meta(min_length=1, max_length=ID_LIMIT, examples=["openai:gpt-5"])]
    provider: Annotated[str, Meta(max_length=ID_LIMIT)] | None = None
    base_url: Annotated[str, Meta(max_length=ID_LIMIT)] | None = None

    def choice(self) -> ModelChoice:
        """Make the choice that the store keeps."""
        return ModelChoice(model=self.model, provider=self.provider, base_url=self.base_url)


class SessionRequest(Words, frozen=True, kw_only=True):
    """The first words of a conversation; without them there is none."""

    profile: Annotated[str, Meta(max_length=100, examples=["main"])] | None = None
    title: Annotated[str, Meta(max_length=TITLE_MOST)] | None = None
    project: Annotated[int, Meta(ge=1)] | None = None
    model: ModelRequest | None = None

    def wanted(self) -> SessionPatch:
        """Tell what the session shall be like; what is null is left to the configuration."""
        return SessionPatch(
            title=KEPT if self.title is None else self.title,
            project=KEPT if self.project is None else ProjectKey(self.project),
            model=KEPT if self.model is None else self.model.choice(),
        )


class SessionUpdateRequest(Body, frozen=True, kw_only=True):
    """What shall be different; what is not named stays, and null takes a choice back."""

    title: Annotated[str, Meta(max_length=TITLE_MOST, examples=["Holidays"])] | UnsetType = UNSET
    is_pinned: bool | UnsetType | None = UNSET
    is_archived: bool | UnsetType | None = UNSET
    project: Annotated[int, Meta(ge=1)] | UnsetType | None = UNSET
    """Null takes it out of its project."""
    model: ModelRequest | UnsetType | None = UNSET
    busy_mode: BusyMode | UnsetType | None = UNSET
    personality: Annotated[str, Meta(max_length=ID_LIMIT)] | UnsetType | None = UNSET
    tools: Annotated[tuple[str, ...], Meta(max_length=TOOLS_LIMIT)] | UnsetType | None = UNSET
    workspace: Annotated[str, Meta(max_length=PATH_LIMIT)] | UnsetType | None = UNSET

    def wanted(self) -> SessionPatch:
        """Return what shall be different about the session."""
        named = {name: value for name, value in asdict(self).items() if value is not UNSET}
        if isinstance(self.model, ModelRequest):
            named["model"] = self.model.choice()
        for name in named.keys() & {"is_pinned", "is_archived"}:
            named[name] = bool(named[name])
        return SessionPatch(**named)


class StreamingView(View, frozen=True, kw_only=True):
    """How far a session has come: its lines, and what is said but no line yet."""

    last_seq: int
    turn_id: int | None
    """The turn that runs."""
    text: str
    """What it has said since the last line; at most a second late."""


class MarkRequest(Body, frozen=True, kw_only=True):
    """How far somebody has read."""

    seq: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    """The last line that was read; null: all of them."""


class MarkView(View, frozen=True, kw_only=True):
    """How far somebody has read."""

    seq: int


class RoundsView(View, frozen=True, kw_only=True):
    """How often somebody spoke and got an answer."""

    rounds: int


router = Router(prefix="/sessions", tags=["sessions"])


@router.post(
    "",
    status_code=201,
    summary="Start a session",
    response_model=SentView,
    responses=problem_responses(402, 409),
)
async def begin_session(
    visitor: Writing, store: StoreDep, wish: SessionRequest, once: OnceDep
) -> Response:
    """Start a conversation with its first message; before that nothing is stored.

    The agent is asked, and `turn_id` is the turn that answers.
    """
    profile = profile_of(visitor, wish.profile)
    require_leave(visitor, wish.wanted(), store.rules)

    async def begin(store: Store) -> Arrival:
        said = await make_inbound(
            store, visitor, wish, once.name, profile=profile, thread=once.name[:16]
        )
        return await store.begin(said, wish.wanted())

    return await once.answer(visitor.account, begin, SentView.of)


@router.get("/{id}", summary="Read a session")
async def read_session(
    visitor: Reading, store: StoreDep, id: SessionIdPath, response: Response
) -> SessionView:
    """Read a session; pass its `ETag` as `If-Match` to change it."""
    session = await visible(store, visitor, id)
    tell_tag(response, session.etag)
    return SessionView.of(await shown_session(store, visitor, session))


@router.patch("/{id}", summary="Change a session", responses=problem_responses(409, 412, 428))
async def change_session(
    *,
    visitor: Exchanging,
    store: StoreDep,
    id: SessionIdPath,
    wish: SessionUpdateRequest,
    response: Response,
    seen: IfMatch = None,
) -> SessionView:
    """Rename, pin, archive or move a session, or choose how its agent works.

    What you do not name stays as it is. Only an owner can set tools, folders and a model's address.
    """
    session = await visible(store, visitor, id)
    expected = seen_in(seen)
    require_leave(visitor, wish.wanted(), store.rules)
    session = await store.change_session(session.id, wish.wanted(), seen=expected, by=visitor.actor)
    tell_tag(response, session.etag)
    return SessionView.of(await shown_session(store, visitor, session))


@router.post("/{id}/end", summary="End a session")
async def end_session(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> SessionView:
    """End a session; the next message there starts a new one."""
    session = await visible(store, visitor, id)
    await store.end(session.id)
    session = await store.session(session.id)
    return SessionView.of(await shown_session(store, visitor, session))


@router.get("/{id}/streaming", summary="Read what is being said")
async def read_streaming(visitor: Reading, store: StoreDep, id: SessionIdPath) -> StreamingView:
    """Read what the turn under way has said so far, whichever process runs it."""
    session = await visible(store, visitor, id)
    return StreamingView.of(await store.streaming(session.id))


@router.put("/{id}/mark", summary="Mark as read")
async def mark_read(
    visitor: Writing, store: StoreDep, id: SessionIdPath, wish: MarkRequest
) -> MarkView:
    """Mark everything up to a line, or everything, as read. This never moves the mark back."""
    session = await visible(store, visitor, id)
    reader = visitor.account.sender.id or ""
    return MarkView(seq=await store.mark_read(session.id, reader, seq=wish.seq))


@router.delete("/{id}/mark", summary="Mark as unread")
async def mark_unread(
    visitor: Writing,
    store: StoreDep,
    id: SessionIdPath,
    seq: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> MarkView:
    """Mark everything from a line on, or only the last line, as unread."""
    session = await visible(store, visitor, id)
    reader = visitor.account.sender.id or ""
    return MarkView(seq=await store.mark_unread(session.id, reader, seq=seq))


@router.get("/{id}/rounds", summary="Count rounds")
async def count_rounds(
    visitor: Reading, store: StoreDep, id: SessionIdPath, since: MomentQuery = None
) -> RoundsView:
    """Count the questions that were answered, in all or since a moment."""
    session = await visible(store, visitor, id)
    return RoundsView(rounds=await store.rounds(session.id, since=since))
