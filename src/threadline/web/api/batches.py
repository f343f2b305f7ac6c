"""Batches: the same for several sessions, each of which is answered for."""

from fastapi import APIRouter

from threadline.core.errors import Invalid, NotFound, ThreadlineError
from threadline.core.listing import Outcome
from threadline.core.session import ProjectKey, SessionId, checked_session_id
from threadline.sessions.store import Store
from threadline.web.api.asking import Writing
from threadline.web.api.deps import StoreDep
from threadline.web.api.looking import require_owner
from threadline.web.api.sessions import require_own
from threadline.web.api.shapes.session import BatchView, BatchWish, OutcomeView
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/batches", tags=["sessions"])

_GONE = "There is no such session"


@router.post("", summary="Do the same with several sessions")
async def arrange_sessions(visitor: Writing, store: StoreDep, wish: BatchWish) -> BatchView:
    """Pin, archive, move, mark as read or forget up to 200 sessions.

    If it fails for one of them, that one's outcome says so, and the others are still done.
    """
    if wish.project is not None and wish.action != "move":
        raise Invalid("Only `move` takes a project")
    if wish.action == "move":
        require_owner(visitor, "move sessions into projects, or out of them")
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
    ids = list(dict.fromkeys(SessionId(id) for id in wish.ids))
    kinds = await store.visible([id for id in ids if _is_id(id)], viewer=visitor.account)
    for id in ids:
        try:
            if checked_session_id(id) not in kinds:
                raise NotFound(_GONE, id=id)
            if wish.action == "forget":
                require_own(visitor, id, kinds[id])
        except ThreadlineError as error:
            refused.append(Outcome(id=id, error=error.message))
        else:
            known.append(id)
    return known, refused


def _is_id(written: SessionId) -> bool:
    try:
        checked_session_id(written)
    except Invalid:
        return False
    return True


async def _arrange(
    store: Store, visitor: Visitor, wish: BatchWish, ids: list[SessionId]
) -> list[Outcome]:
    match wish.action:
        case "move":
            to = None if wish.project is None else ProjectKey(wish.project)
            return await store.move(ids, to)
        case "read":
            return await store.mark_all_read(ids, visitor.account.sender.id or "")
        case "forget":
            plan = await store.forget_present(ids, by=visitor.account.actor)
            # Somebody else may have been quicker.
            return [Outcome(id=id, error=None if id in plan.sessions else _GONE) for id in ids]
        case "pin":
            return await store.pin(ids)
        case "unpin":
            return await store.unpin(ids)
        case "archive":
            return await store.archive(ids)
        case "unarchive":
            return await store.unarchive(ids)
