"""Route explanation: why a message goes where it goes, told without sending it."""

from datetime import datetime

from msgspec import Struct

from threadline.core.address import Address, Sender
from threadline.core.reset_policy import ResetPolicy
from threadline.core.route import Route, Scopes, is_multi_user, route
from threadline.core.session import BusyMode, Cause, SessionId
from threadline.database.port import Transaction
from threadline.store.people.aliases import resolve_aliases
from threadline.store.queries import session_state
from threadline.store.session_writer import SessionState
from threadline.store.sessions.merge_dms import find_person_route, is_one_conversation
from threadline.store.sessions.reset_check import find_reset_cause, read_load


class Explanation(Struct, frozen=True, kw_only=True):
    """Which conversation a message would go to, and why."""

    route: Route
    multi_user: bool
    policy: ResetPolicy
    session_id: SessionId | None
    """The session that the route is bound to."""
    cause: Cause | None
    """Why the message would begin a new session; None: it would go on in that one."""


class ResetOutlook(Struct, frozen=True, kw_only=True):
    """By which rules a session goes on."""

    routes: tuple[Route, ...]
    """The conversations that go on with it."""
    policy: ResetPolicy
    resets_at: datetime | None
    """When it is over if nothing more happens; whoever holds it, or runs in it, prolongs that."""
    cause: Cause | None
    """Why the next message would begin a new session; None: it would go on in this one."""
    busy_mode: BusyMode
    """What becomes of a message that arrives while a turn runs."""
    chosen_busy_mode: BusyMode | None
    """What was chosen for this session; None: it is as on its platform."""


def read_outlook(tx: Transaction, id: SessionId) -> ResetOutlook:
    """Tell by which rules a session goes on."""
    session = session_state(tx, id)
    policy = tx.settings.policies.resolve(session.platform, session.kind)
    ends = session.is_open and session.taken_at is None
    return ResetOutlook(
        routes=tuple(tx.all("list_routes", Route, session_key=session.key)),
        policy=policy,
        resets_at=policy.resets_at(session.last_activity_at) if ends else None,
        cause=find_reset_cause(tx, session, read_load(tx, session.key)),
        busy_mode=session.busy_mode or tx.settings.busy_for(session.platform),
        chosen_busy_mode=session.busy_mode,
    )


def explain_route(
    tx: Transaction, address: Address, sender: Sender, *, profile: str, scopes: Scopes | None = None
) -> Explanation:
    """Tell where a message would go if it came now.

    `scopes` say how conversations are shared there; None: as the settings say.
    """
    scopes = scopes or tx.settings.scopes_for(address.platform)
    address, sender = resolve_aliases(tx, address, sender)
    where = route(address, sender, scopes, profile)
    ahead = None
    if is_one_conversation(address, tx.settings):
        ahead = find_person_route(tx, where, address, sender, profile=profile)
    bound = tx.one("find_bound", SessionState, route=ahead or where)
    load = None if bound is None else read_load(tx, bound.key)
    kind = address.kind if bound is None else bound.kind
    return Explanation(
        route=where,
        multi_user=is_multi_user(address, scopes),
        policy=tx.settings.policies.resolve(address.platform, kind),
        session_id=None if bound is None else bound.id,
        cause=find_reset_cause(tx, bound, load),
    )
