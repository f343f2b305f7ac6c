"""Takeovers: an owner answers in a conversation on a platform, and the agent is silent."""

from threadline.core.session import Session
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.resources.auth_deps import Exchanging, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router
from threadline.web.resources.sessions import SessionView
from threadline.web.resources.visibility import require_owner, shown_session

router = Router(prefix="/sessions/{id}/takeover", tags=["messages"])


@router.put("", summary="Take over", responses=problem_responses(409))
async def take_over(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> SessionView:
    """Answer the people of a session on a platform yourself, in the agent's place.

    From now on what they say is kept and starts no turn, and no reset ends the session. A turn
    under way is finished; those that wait are stopped, and their words are yours to answer.
    """
    session = await _own(store, visitor, id)
    account = visitor.account
    session = await store.take_over(session.id, account.sender, by=visitor.actor)
    return SessionView.of(await shown_session(store, visitor, session))


@router.delete("", summary="Give back")
async def hand_back(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> SessionView:
    """Let the agent answer the next message again; it reads what was said meanwhile with that."""
    session = await _own(store, visitor, id)
    session = await store.hand_back(session.id, by=visitor.actor)
    return SessionView.of(await shown_session(store, visitor, session))


async def _own(store: Store, visitor: Caller, id: str) -> Session:
    session = await visible(store, visitor, id)
    require_owner(visitor, "take over a conversation")
    return session
