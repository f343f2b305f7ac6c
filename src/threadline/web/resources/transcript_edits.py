"""Transcript edits: undo, redo, retry and compaction of a transcript."""

from typing import Annotated

from fastapi import Response
from msgspec import Meta

from threadline.core.errors import Conflict
from threadline.core.hidden_range import HiddenRange, Redone, Retried, Undone
from threadline.store import Store
from threadline.web.bodies import Body, View
from threadline.web.gateway_protocol import upkeep_of
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import GatewayDep, SessionIdPath, StoreDep
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class HiddenRangesView(View, frozen=True, kw_only=True):
    """All cuts of a transcript, in the order they were made."""

    items: list[HiddenRange]


class UndoRequest(Body, frozen=True, kw_only=True):
    """How much is taken back."""

    turns: Annotated[int, Meta(ge=1, le=10000)] = 1


class CompressRequest(Body, frozen=True, kw_only=True):
    """What a summary shall look at above all."""

    focus: Annotated[str, Meta(max_length=1000, examples=["what was decided"])] = ""


class CompressedView(View, frozen=True, kw_only=True):
    """What came of making room."""

    said: str
    """As a sentence: what was done, or why nothing was."""
    cut: HiddenRange | None
    """The cut that was made; null: nothing was done."""


router = Router(prefix="/sessions/{id}", tags=["messages"])


@router.get("/cuts", summary="List cuts")
async def list_cuts(visitor: Reading, store: StoreDep, id: SessionIdPath) -> HiddenRangesView:
    """List the stretches of a transcript that are out of sight, in the order they were made."""
    session = await visible(store, visitor, id)
    return HiddenRangesView(items=await store.cuts(session.id))


@router.post("/undo", summary="Undo", response_model=Undone, responses=problem_responses(409))
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

    return await once.answer(visitor.account, undo, lambda made: made, 200, about=session.id)


@router.post("/redo", summary="Redo", response_model=Redone, responses=problem_responses(409))
async def redo_turns(
    visitor: Writing, store: StoreDep, id: SessionIdPath, once: OnceDep
) -> Response:
    """Show what was undone last again, if nothing has been said since."""
    session = await visible(store, visitor, id)

    async def redo(store: Store) -> Redone:
        return await store.redo(session.id)

    return await once.answer(visitor.account, redo, lambda made: made, 200, about=session.id)


@router.post(
    "/retry",
    status_code=201,
    summary="Retry",
    response_model=Retried,
    responses=problem_responses(402, 409),
)
async def retry_turn(
    visitor: Writing, store: StoreDep, id: SessionIdPath, once: OnceDep
) -> Response:
    """Hide the last answer, and queue a turn that answers the same message again."""
    session = await visible(store, visitor, id)

    async def retry(store: Store) -> Retried:
        return await store.retry(session.id, by=visitor.asker(session.profile))

    return await once.answer(visitor.account, retry, lambda made: made, about=session.id)


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
        made = await upkeep.make_cut(session.id, wish.focus, database=store.database)
        if made.cut is None:
            # It is said why nothing was done, but not to a user who may not see it any more.
            await store.check_access()
        return CompressedView(said=made.said, cut=made.cut)

    return await once.answer_slowly(visitor.account, compress, 200, about=session.id)


@router.delete("/compaction", summary="Undo a compaction", responses=problem_responses(409))
async def undo_compaction(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> HiddenRange:
    """Let the model read again what the last compaction replaced."""
    session = await visible(store, visitor, id)
    return await store.undo_compaction(session.id)
