"""Takeovers: an owner answers in a conversation on a platform, and the agent is silent."""

from fastapi import APIRouter

from threadline.core.session import Session
from threadline.sessions.store import Store
from threadline.web.api.asking import Exchanging, visible
from threadline.web.api.deps import SessionIdPath, StoreDep
from threadline.web.api.looking import require_owner, shown_session
from threadline.web.api.problems import told
from threadline.web.api.shapes.session import SessionView
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/sessions/{id}/takeover", tags=["messages"])


@router.put("", summary="Take over", responses=told(409))
async def take_over(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> SessionView:
    """Answer the people of a session on a platform yourself, in the agent's place.

    From now on what they say is kept and starts no turn, and no reset ends the session. A turn
    under way is finished; those that wait are stopped, and their words are yours to answer.
    """
    session = await _own(store, visitor, id)
    account = visitor.account
    session = await store.take_over(session.id, account.sender, by=account.actor)
    return SessionView.from_session(await shown_session(store, visitor, session))


@router.delete("", summary="Give back")
async def hand_back(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> SessionView:
    """Let the agent answer the next message again; it reads what was said meanwhile with that."""
    session = await _own(store, visitor, id)
    session = await store.hand_back(session.id, by=visitor.account.actor)
    return SessionView.from_session(await shown_session(store, visitor, session))


async def _own(store: Store, visitor: Visitor, id: str) -> Session:
    session = await visible(store, visitor, id)
    require_owner(visitor, "take over a conversation")
    return session
