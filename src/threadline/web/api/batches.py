"""Batches: the same for several sessions, each of which is answered for."""

from fastapi import APIRouter

from threadline.assembly.outputs import with_outputs
from threadline.core.errors import Invalid, ThreadlineError
from threadline.core.listing import Outcome
from threadline.core.session import ProjectKey, SessionId
from threadline.sessions.store import Store
from threadline.web.api.asking import Writing, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.looking import require_owner
from threadline.web.api.sessions import require_own
from threadline.web.api.shapes.session import BatchView, BatchWish, OutcomeView
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/batches", tags=["sessions"])


@router.post("", summary="Do the same with several sessions")
async def arrange_sessions(visitor: Writing, store: StoreDep, wish: BatchWish) -> BatchView:
    """Pin, archive, move, mark as read or forget up to 200 sessions.

    What cannot be done with one of them is told of it, and hinders no other.
    """
    if wish.project is not None and wish.action != "move":
        raise Invalid("Only `move` takes a project")
    if wish.project is not None:
        require_owner(visitor, "move sessions into projects")
    known, outcomes = await _sort(store, visitor, wish)
    outcomes += await _arrange(store, visitor, wish, known) if known else []
    order = {id: n for n, id in enumerate(wish.ids)}
    outcomes.sort(key=lambda one: order[one.id])
    return BatchView(outcomes=[OutcomeView.from_outcome(one) for one in outcomes])


async def _sort(
    store: Store, visitor: Visitor, wish: BatchWish
) -> tuple[list[SessionId], list[Outcome]]:
    """Tell apart what a visitor may do this to, each once, and what is told of the rest."""
    known: list[SessionId] = []
    refused: list[Outcome] = []
    for id in dict.fromkeys(wish.ids):
        try:
            session = await visible(store, visitor, id)
            if wish.action == "forget":
                require_own(visitor, session)
        except ThreadlineError as error:
            refused.append(Outcome(id=SessionId(id), error=error.message))
        else:
            known.append(session.id)
    return known, refused


async def _arrange(
    store: Store, visitor: Visitor, wish: BatchWish, ids: list[SessionId]
) -> list[Outcome]:
    match wish.action:
        case "move":
            to = None if wish.project is None else ProjectKey(wish.project)
            return await store.move(ids, to)
        case "read":
            for id in ids:
                await store.mark_read(id, visitor.account.sender.id or "")
            return [Outcome(id=id) for id in ids]
        case "forget":
            await with_outputs(await store.plan_forgetting(ids), store.forget_sessions(ids))
            for id in ids:
                await store.note_audit(visitor.account.key, "session.forgotten", id)
            return [Outcome(id=id) for id in ids]
        case "pin":
            return await store.pin(ids)
        case "unpin":
            return await store.unpin(ids)
        case "archive":
            return await store.archive(ids)
        case "unarchive":
            return await store.unarchive(ids)
