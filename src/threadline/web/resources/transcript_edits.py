"""Transcript edits: undo, redo, retry and compaction of a transcript."""

from fastapi import APIRouter, Response
from pydantic import Field

from threadline.core.errors import Conflict
from threadline.core.hidden_range import HiddenRange, HiddenRangeKind, Redone, Retried, Undone
from threadline.store import Store
from threadline.web.bodies import Moment, RequestBody, ResponseBody
from threadline.web.gateway_protocol import upkeep_of
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import GatewayDep, SessionIdPath, StoreDep
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.problems import problem_responses


class HiddenRangeView(ResponseBody):
    """A stretch of a transcript that is out of sight, its first and last line included."""

    key: int
    kind: HiddenRangeKind
    from_seq: int
    to_seq: int
    user_messages: int
    summary: str | None = Field(description="What the model is shown in its place.")
    made_at: Moment

    @classmethod
    def from_cut(cls, cut: HiddenRange) -> "HiddenRangeView":
        """Show a cut."""
        return cls(
            key=cut.key,
            kind=cut.kind,
            from_seq=cut.from_seq,
            to_seq=cut.to_seq,
            user_messages=cut.user_messages,
            summary=cut.summary,
            made_at=cut.made_at,
        )


class HiddenRangesView(ResponseBody):
    """All cuts of a transcript, in the order they were made."""

    items: list[HiddenRangeView]


class UndoRequest(RequestBody):
    """How much is taken back."""

    turns: int = Field(default=1, ge=1, le=10_000)


class UndoneView(ResponseBody):
    """What was taken back."""

    from_seq: int
    messages: int
    turns: int
    texts: list[str] = Field(description="What the person had written, so that it can be offered.")

    @classmethod
    def from_undone(cls, undone: Undone) -> "UndoneView":
        """Show it."""
        return cls(
            from_seq=undone.from_seq,
            messages=undone.messages,
            turns=undone.turns,
            texts=list(undone.texts),
        )


class RedoneView(ResponseBody):
    """What is shown again."""

    from_seq: int
    messages: int

    @classmethod
    def from_redone(cls, redone: Redone) -> "RedoneView":
        """Show it."""
        return cls(from_seq=redone.from_seq, messages=redone.messages)


class RetriedView(ResponseBody):
    """A turn that answers the last words of a person once more."""

    turn_id: int
    messages: int = Field(description="The lines of the answer before it, which are hidden now.")

    @classmethod
    def from_retried(cls, retried: Retried) -> "RetriedView":
        """Show it."""
        return cls(turn_id=retried.turn_id, messages=retried.messages)


class CompressRequest(RequestBody):
    """What a summary shall look at above all."""

    focus: str = Field(default="", max_length=1000, examples=["what was decided"])


class CompressedView(ResponseBody):
    """What came of making room."""

    said: str = Field(description="As a sentence: what was done, or why nothing was.")
    cut: HiddenRangeView | None = Field(
        description="The cut that was made; null: nothing was done."
    )


router = APIRouter(prefix="/sessions/{id}", tags=["messages"])


@router.get("/cuts", summary="List cuts")
async def list_cuts(visitor: Reading, store: StoreDep, id: SessionIdPath) -> HiddenRangesView:
    """List the stretches of a transcript that are out of sight, in the order they were made."""
    session = await visible(store, visitor, id)
    return HiddenRangesView(
        items=[HiddenRangeView.from_cut(cut) for cut in await store.cuts(session.id)]
    )


@router.post("/undo", summary="Undo", response_model=UndoneView, responses=problem_responses(409))
async def undo_turns(
    visitor: Exchanging, store: StoreDep, id: SessionIdPath, wish: UndoRequest, once: OnceDep
) -> Response:
    """Take back what a person said last, and everything after it.

    The answer contains what they had written, so that it can be offered again. A turn under way
    has to be stopped first.
    """
    session = await visible(store, visitor, id)

    async def undo(store: Store) -> Undone:
        return await store.undo(session.id, wish.turns)

    return await once.answer(visitor.account, undo, UndoneView.from_undone, 200, about=session.id)


@router.post("/redo", summary="Redo", response_model=RedoneView, responses=problem_responses(409))
async def redo_turns(
    visitor: Writing, store: StoreDep, id: SessionIdPath, once: OnceDep
) -> Response:
    """Show what was undone last again, if nothing has been said since."""
    session = await visible(store, visitor, id)

    async def redo(store: Store) -> Redone:
        return await store.redo(session.id)

    return await once.answer(visitor.account, redo, RedoneView.from_redone, 200, about=session.id)


@router.post(
    "/retry",
    status_code=201,
    summary="Retry",
    response_model=RetriedView,
    responses=problem_responses(402, 409),
)
async def retry_turn(
    visitor: Writing, store: StoreDep, id: SessionIdPath, once: OnceDep
) -> Response:
    """Hide the last answer, and queue a turn that answers the same message again."""
    session = await visible(store, visitor, id)

    async def retry(store: Store) -> Retried:
        return await store.retry(session.id, by=visitor.asker(session.profile))

    return await once.answer(visitor.account, retry, RetriedView.from_retried, about=session.id)


@router.post(
    "/compress", summary="Compact", response_model=CompressedView, responses=problem_responses(409)
)
async def compress_session(
    *,
    visitor: Exchanging,
    store: StoreDep,
    gateway: GatewayDep,
    id: SessionIdPath,
    wish: CompressRequest,
    once: OnceDep,
) -> Response:
    """Let a summary replace the older part of a transcript, with a focus if you name one.

    If it cannot be written, nothing changes, and the answer says why.
    """
    session = await visible(store, visitor, id)
    upkeep = upkeep_of(gateway)
    if upkeep is None:
        raise Conflict("Nobody writes summaries here", hint="Use a server that runs turns")

    async def compress() -> CompressedView:
        made = await upkeep.make_cut(session.id, wish.focus, store=store)
        if made.cut is None:
            # It is said why nothing was done, but not to a user who may not see it any more.
            await store.check_access()
        return CompressedView(said=made.said, cut=made.cut and HiddenRangeView.from_cut(made.cut))

    return await once.answer_slowly(visitor.account, compress, 200, about=session.id)


@router.delete("/compaction", summary="Undo a compaction", responses=problem_responses(409))
async def undo_compaction(
    visitor: Exchanging, store: StoreDep, id: SessionIdPath
) -> HiddenRangeView:
    """Let the model read again what the last compaction replaced."""
    session = await visible(store, visitor, id)
    return HiddenRangeView.from_cut(await store.undo_compaction(session.id))
