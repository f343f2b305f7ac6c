"""Messages: a transcript page by page, and words for it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from fastapi import Query, Response
from msgspec import Meta
from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.errors import Invalid, NotFound
from threadline.core.hidden_range import Edited
from threadline.core.message import Message, Role
from threadline.core.session import BusyMode, Session, SessionId
from threadline.core.validation import TEXT_LIMIT
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.store.queries import Revision
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, Time, View
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep, path_key
from threadline.web.resources.idempotency import IdempotentRequest, OnceDep
from threadline.web.resources.inbound import SentView, Words, make_inbound, parts_of
from threadline.web.resources.pagination import PAGE, Most, Page
from threadline.web.resources.parts import PartView, parts_view
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router
from threadline.web.resources.sessions import TITLE_MOST, SessionView
from threadline.web.resources.visibility import require_owner, shown_children


class MessageView(View, frozen=True, kw_only=True):
    """One line of a transcript."""

    key: int
    session_id: str
    """Where it was written; of a branch's shared lines its base."""
    seq: int | None
    """Its place; null while it waits for its turn."""
    role: Role
    parts: tuple[PartView, ...]
    at: Time
    """When it was written."""
    arrived_at: Time | None
    """When it arrived, if that was noticeably later."""
    turn_id: int | None
    sender_id: str | None
    sender_name: str | None
    changed_at: Time | None
    deleted_at: Time | None

    @classmethod
    def from_message(cls, message: Message) -> "MessageView":
        """Return the view of a message."""
        return MessageView(
            key=message.key,
            session_id=message.session_id,
            seq=message.seq,
            role=message.role,
            parts=parts_view(message.parts),
            at=message.at,
            arrived_at=message.arrived_at,
            turn_id=message.turn_id,
            sender_id=message.sender_id,
            sender_name=message.sender_name,
            changed_at=message.changed_at,
            deleted_at=message.deleted_at,
        )


class MessagePageView(View, frozen=True, kw_only=True):
    """A stretch of a transcript, in order."""

    items: list[MessageView]
    before: int | None
    """Give this as `before` for what is earlier, if any is."""
    after: int | None
    """Give this as `after` for what is later."""

    @classmethod
    def from_messages(cls, found: Sequence[Message], *, is_beginning: bool) -> "MessagePageView":
        """Return a page of messages, and where the pages beside it are."""
        seqs = [one.seq for one in found if one.seq is not None]
        return cls(
            items=[MessageView.from_message(one) for one in found],
            before=None if is_beginning or not seqs else seqs[0],
            after=seqs[-1] if seqs else None,
        )


class RevisionView(View, frozen=True, kw_only=True):
    """What a message said before it was changed."""

    version: int
    parts: tuple[PartView, ...]
    replaced_at: Time

    @classmethod
    def from_revision(cls, revision: Revision) -> "RevisionView":
        """Return the view of a revision."""
        parts = parts_view(revision.parts)
        return cls(version=revision.version, parts=parts, replaced_at=revision.replaced_at)


class Speech(StrEnum):
    """For whom words are meant."""

    ASK = "ask"
    """For the agent, which answers them."""
    ANSWER = "answer"
    """For whoever is on the other side: they are delivered there, and the agent is not asked."""


class MessageRequest(Words, frozen=True, kw_only=True):
    """Words for a conversation."""

    speech: Speech = Speech.ASK
    """Whether the agent is asked."""
    busy_mode: BusyMode | None = None
    """What becomes of it while a turn runs; null: as everywhere."""


class TextRequest(Body, frozen=True, kw_only=True):
    """What a line reads from now on."""

    text: Annotated[
        str, Meta(min_length=1, max_length=TEXT_LIMIT, examples=["What is on tomorrow?"])
    ]


class EditedView(View, frozen=True, kw_only=True):
    """The branch in which a line reads differently, and the turn that answers it there."""

    session: SessionView
    turn_id: int


class BranchRequest(Body, frozen=True, kw_only=True):
    """A branch of a conversation."""

    title: Annotated[str, Meta(max_length=TITLE_MOST)] | None = None


router = Router(prefix="/sessions/{id}/messages", tags=["messages"])

Seq = Annotated[int, path_key("The place of a line.", 7)]
Place = Annotated[int | None, Query(ge=0, le=2**53)]


@router.get("", summary="Read a transcript")
async def list_messages(
    *,
    visitor: Reading,
    store: StoreDep,
    id: SessionIdPath,
    before: Place = None,
    after: Place = None,
    around: Place = None,
    most: Most = PAGE,
    hidden: Annotated[bool, Query(description="Include what was undone or retried.")] = False,
) -> MessagePageView:
    """Read a page of a transcript, in order: its end, or what is before, after or around a line.

    What was undone or retried is left out, unless it is asked for.
    """
    if sum(place is not None for place in (before, after, around)) > 1:
        raise Invalid("Give only one of before, after and around")
    found = await store.transcript(
        id,
        before=before,
        after=after,
        around=around,
        most=most,
        hidden=hidden,
        viewer=visitor.account,
    )
    if around is not None:
        earlier = sum(line.seq is not None and line.seq < around for line in found)
        is_beginning = around <= 1 or earlier < most // 2
    else:
        is_beginning = after == 0 or (after is None and len(found) < most)
    return MessagePageView.from_messages(found, is_beginning=is_beginning)


@router.get("/{seq}", summary="Read a message")
async def read_message(
    visitor: Reading, store: StoreDep, id: SessionIdPath, seq: Seq
) -> MessageView:
    """Read one line of a transcript, even one that is out of sight."""
    session = await visible(store, visitor, id)
    return MessageView.from_message(await _line(store, session.id, seq))


@router.get("/{seq}/revisions", summary="Read what a message said before")
async def list_revisions(
    visitor: Reading, store: StoreDep, id: SessionIdPath, seq: Seq
) -> Page[RevisionView]:
    """Read what a line said before it was changed, oldest first."""
    session = await visible(store, visitor, id)
    message = await _line(store, session.id, seq)
    found = await store.revisions(message.key)
    return Page(items=[RevisionView.from_revision(one) for one in found])


async def _line(store: Store, id: SessionId, seq: int) -> Message:
    found = await store.transcript(id, after=seq - 1, most=1, hidden=True)
    if not found or found[0].seq != seq:
        raise NotFound("There is no such line", id=f"{id}/{seq}")
    return found[0]


@router.post(
    "",
    status_code=201,
    summary="Send a message",
    response_model=SentView,
    responses=problem_responses(402, 409),
)
async def send_message(
    visitor: Writing, store: StoreDep, id: SessionIdPath, wish: MessageRequest, once: OnceDep
) -> Response:
    """Send a message in a session, whichever platform it lives on.

    With `ask` the agent answers, on that platform too. With `answer` an owner writes in its place:
    the text is delivered on the platform, and the agent is not asked.
    """
    session = await visible(store, visitor, id)

    async def send(store: Store) -> Arrival:
        say_it = _answer if wish.speech is Speech.ANSWER else _ask
        return await say_it(store, visitor, session, wish, once)

    return await once.answer(visitor.account, send, SentView.of, about=session.id)


async def _ask(
    store: Store, visitor: Caller, session: Session, wish: MessageRequest, once: IdempotentRequest
) -> Arrival:
    said = await make_inbound(store, visitor, wish, once.name, profile=session.profile)
    rank = AccessLevel.OWNER if visitor.is_owner else AccessLevel.MEMBER
    return await store.ask_in(session.id, said, answers=rank, busy=wish.busy_mode)


async def _answer(
    store: Store, visitor: Caller, session: Session, wish: MessageRequest, once: IdempotentRequest
) -> Arrival:
    require_owner(visitor, "answer in the agent's place")
    if wish.busy_mode is not None:
        raise Invalid("An answer is sent at once", hint="Leave out busy_mode")
    parts = await parts_of(store, visitor, wish)
    return await store.answer_into(session.id, visitor.account.sender, parts, once.name)


@router.post(
    "/{seq}/edits",
    status_code=201,
    summary="Edit a message",
    response_model=EditedView,
    responses=problem_responses(402, 409),
)
async def edit_message(
    *,
    visitor: Exchanging,
    store: StoreDep,
    id: SessionIdPath,
    seq: Seq,
    wish: TextRequest,
    once: OnceDep,
) -> Response:
    """Edit a message of a person, in a branch that starts before it.

    You are the author of the new text, and its turn counts towards your spending caps. The reply
    is shown here and not sent to a platform.
    """
    session = await visible(store, visitor, id)

    shown = await shown_children(store, visitor, session)

    editor = replace(visitor.asker(session.profile), address=visitor.account.place(once.name[:16]))

    async def edit(store: Store) -> Edited:
        return await store.edit(session.id, seq, wish.text, by=editor)

    def shape(made: Edited) -> EditedView:
        return EditedView.of(replace(made, session=shown(made.session)))

    return await once.answer(visitor.account, edit, shape)


@router.post(
    "/{seq}/branches",
    status_code=201,
    summary="Branch at a message",
    response_model=SessionView,
    responses=problem_responses(409),
)
async def branch_session(
    *,
    visitor: Exchanging,
    store: StoreDep,
    id: SessionIdPath,
    seq: Seq,
    wish: BranchRequest,
    once: OnceDep,
) -> Response:
    """Start a session that shares the transcript up to a line."""
    session = await visible(store, visitor, id)

    shown = await shown_children(store, visitor, session)

    async def branch(store: Store) -> Session:
        return await store.branch(session.id, at=seq, title=wish.title)

    return await once.answer(visitor.account, branch, lambda made: SessionView.of(shown(made)))
