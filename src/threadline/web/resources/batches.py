"""Batches: the same for several sessions, each of which is answered for."""

from typing import Annotated, Literal

from msgspec import Meta

from threadline.core.errors import Invalid, NotFound, ThreadlineError
from threadline.core.session import ProjectKey, SessionId, checked_session_id
from threadline.core.session_list import BatchOutcome
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, View
from threadline.web.resources.auth_deps import Writing
from threadline.web.resources.deletions import require_own
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import require_owner

BATCH_MOST = 200
"""With how many sessions the same may be done by one request."""


class BatchRequest(Body, frozen=True, kw_only=True):
    """The same for several sessions."""

    ids: Annotated[list[str], Meta(min_length=1, max_length=BATCH_MOST)]
    action: Literal["pin", "unpin", "archive", "unarchive", "move", "read", "forget"]
    project: Annotated[int, Meta(ge=1)] | None = None
    """Where `move` puts them."""


class BatchView(View, frozen=True, kw_only=True):
    """What became of each of several sessions."""

    outcomes: list[BatchOutcome]


router = Router(prefix="/batches", tags=["sessions"])

_GONE = "There is no such session"


@router.post("", summary="Do the same with several sessions")
async def arrange_sessions(visitor: Writing, store: StoreDep, wish: BatchRequest) -> BatchView:
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
    return BatchView(outcomes=outcomes)


async def _sort(
    store: Store, visitor: Caller, wish: BatchRequest
) -> tuple[list[SessionId], list[BatchOutcome]]:
    """Tell apart what a visitor may do this to, each once, and what is told of the rest."""
    known: list[SessionId] = []
    refused: list[BatchOutcome] = []
    ids = list(dict.fromkeys(SessionId(id) for id in wish.ids))
    kinds = await store.visible([id for id in ids if _is_id(id)], viewer=visitor.account)
    for id in ids:
        try:
            if checked_session_id(id) not in kinds:
                raise NotFound(_GONE, id=id)
            if wish.action == "forget":
                require_own(visitor, id, kinds[id])
        except ThreadlineError as error:
            refused.append(BatchOutcome(id=id, error=error.message))
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
    store: Store, visitor: Caller, wish: BatchRequest, ids: list[SessionId]
) -> list[BatchOutcome]:
    match wish.action:
        case "move":
            to = None if wish.project is None else ProjectKey(wish.project)
            return await store.move(ids, to)
        case "read":
            return await store.mark_all_read(ids, visitor.account.sender.id or "")
        case "forget":
            plan = await store.forget_present(ids, by=visitor.actor)
            # Somebody else may have been quicker.
            return [BatchOutcome(id=id, error=None if id in plan.sessions else _GONE) for id in ids]
        case "pin":
            return await store.pin(ids)
        case "unpin":
            return await store.unpin(ids)
        case "archive":
            return await store.archive(ids)
        case "unarchive":
            return await store.unarchive(ids)
