"""Approvals: what agents ask, the answers to it, and leave that was given for longer."""

from typing import Annotated

from msgspec import Meta

from threadline.core.approval import AllowanceKey, Approval, PermissionDuration, ToolPermission
from threadline.core.errors import NotFound
from threadline.core.turn import TurnId, TurnState
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, Time, View
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import SessionIdQuery, StoreDep, path_key
from threadline.web.resources.pagination import (
    PAGE_MOST,
    After,
    Most,
    Page,
    moment_after,
    number_after,
    place_at,
)
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.turns import TurnIdPath, TurnView
from threadline.web.resources.visibility import profile_of, require_admin

WORDS_MOST = 10_000


class DecisionRequest(Body, frozen=True, kw_only=True):
    """What is decided about what an agent asks."""

    approval: Approval
    asked_at: Time
    """The question that is decided, by the `asked_at` of its turn as it was shown."""
    extent: PermissionDuration = PermissionDuration.ONCE
    """How long permission is given for."""
    words: Annotated[str, Meta(max_length=WORDS_MOST)] = ""
    """What the agent is told."""


class DecidedView(View, frozen=True, kw_only=True):
    """What a decision brought a turn to."""

    turn_id: int
    state: TurnState


class ToolPermissionView(View, frozen=True, kw_only=True):
    """Leave to use a tool without asking."""

    key: int
    profile: str
    session_id: str | None
    """Null: in every conversation of the profile."""
    tool: str
    extent: PermissionDuration
    allowed_at: Time
    by_name: str | None


router = Router(tags=["approvals"])


@router.get("/approvals", summary="List open questions")
async def list_approvals(
    visitor: Reading,
    store: StoreDep,
    profile: OfProfile = None,
    after: After = None,
    most: Most = PAGE_MOST,
) -> Page[TurnView]:
    """List the turns that wait for an answer you may give, latest first."""
    asker, place = visitor.asker(profile_of(visitor, profile)), moment_after(after)
    before = None if place is None else (place[0], TurnId(number_after(place[1]) or 0))
    found = await store.questions(asker, before=before, most=most + 1)
    return Page.cut(
        found,
        most,
        TurnView.of,
        lambda turn: place_at(turn.asked_at or turn.queued_at, turn.id),
    )


@router.post("/approvals/{turn_id}", summary="Approve or deny", responses=problem_responses(409))
async def decide_approval(
    visitor: Writing, store: StoreDep, turn_id: TurnIdPath, wish: DecisionRequest
) -> DecidedView:
    """Say yes or no to what an agent asks, with an optional note.

    `session` permits it for as long as the conversation lasts, `always` in every conversation of
    the profile; only an owner can do that. What changes something is approved by an approver
    (`tools.approvers`); a member can only deny it. Whoever comes second is told so, and so is
    whoever answers a question that is over while the turn asks another one.
    """
    if wish.extent is PermissionDuration.ALWAYS:
        require_admin(visitor, "always allow a tool")
    turn = await store.turn(TurnId(turn_id))
    session = await store.session(turn.session_id)
    state = await store.decide(
        visitor.asker(session.profile),
        turn.id,
        wish.approval,
        asked_at=wish.asked_at,
        extent=wish.extent,
        words=wish.words,
    )
    return DecidedView(turn_id=turn.id, state=state)


@router.get("/allowances", summary="List permissions")
async def list_allowances(
    visitor: Reading,
    store: StoreDep,
    profile: OfProfile = None,
    session: SessionIdQuery = None,
) -> Page[ToolPermissionView]:
    """List the tools that need no approval, in a profile or in one session.

    A member has to name one of their own sessions.
    """
    if session is not None:
        id = (await visible(store, visitor, session)).id
        found = await store.allowances(id=id)
    elif visitor.is_owner:
        found = await store.allowances(profile_of(visitor, profile))
    else:
        found = []
    return Page(items=[ToolPermissionView.of(one) for one in found])


@router.delete("/allowances/{key}", summary="Revoke permission")
async def revoke_allowance(
    visitor: Exchanging,
    store: StoreDep,
    key: Annotated[int, path_key("The number of a permission.")],
) -> ToolPermissionView:
    """Revoke permission: from its next turn on the agent asks again."""
    known = await _visible(store, visitor, AllowanceKey(key))
    return ToolPermissionView.of(await store.revoke_allowance(known.key, by=visitor.actor))


async def _visible(store: Store, visitor: Caller, key: AllowanceKey) -> ToolPermission:
    """Read leave that a visitor may take back; of any other it is not told that it exists."""
    unknown = NotFound("There is no such allowance", id=str(key))
    try:
        known = await store.allowance(key)
    except NotFound:
        raise unknown from None
    if not visitor.knows(known.profile) or not (known.session_id or visitor.is_owner):
        raise unknown
    if known.session_id is not None:
        await visible(store, visitor, known.session_id, refusal=unknown)
    return known
