"""Approvals: what agents ask, the answers to it, and leave that was given for longer."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from threadline.core.approval import AllowanceKey
from threadline.core.errors import NotFound
from threadline.core.session import checked_session_id
from threadline.web.api.asking import Reading, Writing, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.looking import profile_of, visible_turn
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.shapes.turn import AllowanceView, DecidedView, Decision, TurnView
from threadline.web.api.turns import TurnIdPath

router = APIRouter(tags=["approvals"])

Profile = Annotated[str | None, Query(max_length=100)]


@router.get("/approvals", summary="List open questions")
async def list_approvals(
    visitor: Reading, store: StoreDep, profile: Profile = None
) -> Page[TurnView]:
    """List the turns that wait for an answer which you may give, the latest first."""
    asker = visitor.asker(profile_of(visitor, profile))
    return Page(items=[TurnView.from_turn(turn) for turn in await store.questions(asker)])


@router.post("/approvals/{turn_id}", summary="Approve or deny", responses=told(409))
async def decide_approval(
    visitor: Writing, store: StoreDep, turn_id: TurnIdPath, wish: Decision
) -> DecidedView:
    """Say yes or no to what an agent asks, with words for it.

    `session` gives leave as long as the conversation goes on, `always` in every conversation of
    the profile; that is for an owner. Whoever comes second is told so.
    """
    turn = await visible_turn(store, visitor, turn_id)
    session = await store.session(turn.session_id)
    state = await store.decide(
        visitor.asker(session.profile),
        turn.id,
        wish.approval,
        extent=wish.extent,
        words=wish.words,
    )
    return DecidedView(turn_id=turn.id, state=state)


@router.get("/allowances", summary="List leave")
async def list_allowances(
    visitor: Reading,
    store: StoreDep,
    profile: Profile = None,
    session: Annotated[str | None, Query(pattern="^[0-9]{8}_[0-9]{6}_[0-9a-f]{8}$")] = None,
) -> Page[AllowanceView]:
    """List the tools for which nobody is asked, in a profile or in one session.

    A member has to name a session of theirs.
    """
    if session is not None:
        id = (await visible(store, visitor, session)).id
        found = await store.allowances(id=id)
    elif visitor.is_owner:
        found = await store.allowances(profile_of(visitor, profile))
    else:
        found = []
    return Page(items=[AllowanceView.from_allowance(one) for one in found])


@router.delete("/allowances/{key}", summary="Take leave back")
async def revoke_allowance(
    visitor: Writing, store: StoreDep, key: Annotated[int, Path(ge=1, le=2**53)]
) -> AllowanceView:
    """Take leave back: from its next turn on the agent asks again."""
    known = [one for one in await store.allowances() if one.key == key]
    if not known or not visitor.knows(known[0].profile):
        raise NotFound("Nothing is allowed under this number", id=str(key))
    if not visitor.is_owner:
        if known[0].session_id is None:
            raise NotFound("Nothing is allowed under this number", id=str(key))
        await visible(store, visitor, checked_session_id(known[0].session_id))
    return AllowanceView.from_allowance(await store.revoke_allowance(AllowanceKey(key)))
