"""Transcript edits: undo, redo, retry and compaction of a transcript."""

from fastapi import APIRouter, Response

from threadline.core.errors import Conflict
from threadline.core.hidden_range import Redone, Retried, Undone
from threadline.store import Store
from threadline.web.gateway_protocol import upkeep_of
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import GatewayDep, SessionIdPath, StoreDep
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.schemas.transcript_edits import (
    CompressedView,
    CompressRequest,
    HiddenRangesView,
    HiddenRangeView,
    RedoneView,
    RetriedView,
    UndoneView,
    UndoRequest,
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
