"""Reset policy: when it ends by itself, and what becomes of words meanwhile."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from threadline.core.reset_policy import ResetMode
from threadline.core.session import BusyMode, Cause
from threadline.store.sessions.route_explanation import ResetOutlook
from threadline.web.bodies import Time, View
from threadline.web.resources.auth_deps import Reading, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep
from threadline.web.resources.router import Router


class PolicyView(View, frozen=True, kw_only=True):
    """By which rules a session goes on."""

    routes: list[str]
    """The conversations that go on with it."""
    mode: ResetMode
    idle_minutes: int
    at_hour: int
    timezone: str
    notify: bool
    carry: Annotated[str, Meta(examples=["nothing"])]
    """What the next session begins with."""
    resets_at: Time | None
    """When it is over if nothing more happens; null: never, or it is over already."""
    next_cause: Cause | None
    """Why the next message would begin a new session; null: it would go on here."""
    busy_mode: BusyMode
    """What becomes of words while a turn runs."""
    chosen_busy_mode: BusyMode | None
    """What was chosen for this session; null: it is as on its platform."""

    @classmethod
    def from_outlook(cls, outlook: ResetOutlook) -> "PolicyView":
        """Return the view of the rules of a session."""
        policy = outlook.policy
        return cls(
            routes=list(outlook.routes),
            mode=policy.mode,
            idle_minutes=policy.idle // timedelta(minutes=1),
            at_hour=policy.at_hour,
            timezone=policy.zone_name,
            notify=policy.notify,
            carry=str(policy.carry),
            resets_at=outlook.resets_at,
            next_cause=outlook.cause,
            busy_mode=outlook.busy_mode,
            chosen_busy_mode=outlook.chosen_busy_mode,
        )


router = Router(prefix="/sessions", tags=["sessions"])


@router.get("/{id}/policy", summary="Read the policy of a session")
async def read_policy(visitor: Reading, store: StoreDep, id: SessionIdPath) -> PolicyView:
    """Tell which routes lead to a session, when it ends automatically, and its busy mode."""
    session = await visible(store, visitor, id)
    return PolicyView.from_outlook(await store.outlook(session.id))
