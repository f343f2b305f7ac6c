"""The policy of a session: when it ends by itself, and what becomes of words meanwhile."""

from fastapi import APIRouter

from threadline.web.api.asking import Reading, visible
from threadline.web.api.deps import SessionIdPath, StoreDep
from threadline.web.api.shapes.policy import PolicyView

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get("/{id}/policy", summary="Read the policy of a session")
async def read_policy(visitor: Reading, store: StoreDep, id: SessionIdPath) -> PolicyView:
    """Tell which routes lead to a session, when it ends automatically, and its busy mode."""
    session = await visible(store, visitor, id)
    return PolicyView.from_outlook(await store.outlook(session.id))
