"""Deletions: a session is deleted with everything that was said in it."""

from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.deletion import DeletionState
from threadline.core.errors import Refused
from threadline.core.session import SessionId
from threadline.web.authentication import Caller
from threadline.web.bodies import Time, View
from threadline.web.resources.auth_deps import Reading, Writing, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep
from threadline.web.resources.etags import IfMatch, seen_in
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class DeletionPreviewView(View, frozen=True, kw_only=True):
    """What would go if something were forgotten now."""

    sessions: list[str]
    shared: list[str]
    branches: list[str]
    messages: int
    attachments: int
    senders: int


class CertificateView(View, frozen=True, kw_only=True):
    """What was removed, and what no program can take back."""

    id: int
    state: DeletionState
    asked_at: Time
    done_at: Time | None
    counts: dict[str, int]
    out_of_reach: list[str]


router = Router(prefix="/sessions", tags=["sessions"])


@router.get("/{id}/forgetting", summary="Plan to forget a session")
async def plan_forgetting(
    visitor: Reading, store: StoreDep, id: SessionIdPath
) -> DeletionPreviewView:
    """Tell what would be removed with a session, without changing anything."""
    session = await visible(store, visitor, id)
    plan = await store.plan_forgetting([session.id])
    if not visitor.is_owner:
        seen = await store.visible(plan.branches, viewer=visitor.account)
        plan = replace(plan, branches=tuple(id for id in plan.branches if id in seen))
    return DeletionPreviewView.of(plan)


@router.delete("/{id}", summary="Forget a session", responses=problem_responses(409, 412, 428))
async def forget_session(
    visitor: Writing, store: StoreDep, id: SessionIdPath, seen: IfMatch = None
) -> CertificateView:
    """Forget a session for good: rows, attachments, index, journal and free pages.

    A member may forget their own direct conversations.
    """
    session = await visible(store, visitor, id)
    expected = seen_in(seen)
    require_own(visitor, session.id, session.kind)
    by = visitor.actor
    certificate = await store.forget_session(session.id, seen=expected, by=by)
    return CertificateView.of(certificate)


def require_own(visitor: Caller, id: SessionId, kind: Kind) -> None:
    """Refuse that a member does away with what others wrote, too."""
    if not visitor.is_owner and kind is not Kind.DM:
        raise Refused("Only an owner may delete a shared conversation", id=id)
