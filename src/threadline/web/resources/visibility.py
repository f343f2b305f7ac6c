"""Visibility: what routes about conversations have in common, as far as a visitor may see it."""

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from threadline.core.account import Account, TokenScope
from threadline.core.delivery import LOCAL
from threadline.core.errors import Refused
from threadline.core.person import Identity
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import Session, SessionId
from threadline.core.turn import Turn, TurnId
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.resources.auth_deps import SCOPE_HINT


def profile_of(visitor: Caller, named: str | None) -> str:
    """Tell which profile is meant: the one that is named, else the visitor's own, else main."""
    profile = canonical_profile(named or visitor.account.profile or MAIN_PROFILE)
    return visitor.asker(profile).profile


def identity_of(account: Account) -> Identity:
    """Tell by what id somebody is known who speaks here."""
    return Identity(platform=LOCAL, id=account.sender.id or account.chat)


def draft_device(visitor: Caller, device: str) -> str:
    """Name a device so that nobody finds what another one began to write."""
    return f"{visitor.account.sender.id}:{device}"


async def shown_session(store: Store, visitor: Caller, session: Session) -> Session:
    """Leave out what a visitor may not see of a session: kin of others, and an owner's project."""
    (shown,) = await shown_sessions(store, visitor, [session])
    return shown


async def shown_sessions(
    store: Store, visitor: Caller, sessions: Sequence[Session]
) -> Sequence[Session]:
    """Do the same for sessions of one profile, all at once."""
    if visitor.is_owner or not sessions:
        return sessions
    kin = {id for one in sessions for id in _kin(one)}
    seen = await store.seen(visitor.asker(sessions[0].profile), kin)
    return [_without_strangers(one, seen) for one in sessions]


async def shown_children(
    store: Store, visitor: Caller, session: Session
) -> Callable[[Session], Session]:
    """Answer what does the same for a session that is yet to come of this one."""
    if visitor.is_owner:
        return lambda child: child
    seen = await store.seen(visitor.asker(session.profile), {session.id, *_kin(session)})
    return lambda child: _without_strangers(child, seen)


def _kin(session: Session) -> set[SessionId]:
    return {id for id in (session.parent_id, session.root_id, session.base_id) if id}


def _without_strangers(session: Session, seen: Collection[SessionId]) -> Session:
    return replace(
        session,
        parent_id=session.parent_id if session.parent_id in seen else None,
        root_id=session.root_id if session.root_id in seen else session.id,
        base_id=session.base_id if session.base_id in seen else None,
        project=None,
    )


async def visible_turn(store: Store, visitor: Caller, id: int) -> Turn:
    """Read a turn of a session that a visitor may see; later transactions ask again."""
    store.require_turn(visitor.account, TurnId(id))
    return await store.turn(TurnId(id))


def require_owner(visitor: Caller, what: str) -> None:
    """Refuse what goes beyond a member's own conversations."""
    if not visitor.is_owner:
        raise Refused(f"Only an owner may {what}")


def require_admin(visitor: Caller, what: str) -> None:
    """Refuse what goes beyond conversations altogether; a token of an owner has to say that."""
    require_owner(visitor, what)
    if not visitor.may_administer:
        raise Refused(f"You need the scope {TokenScope.ADMIN} to {what}", hint=SCOPE_HINT)
