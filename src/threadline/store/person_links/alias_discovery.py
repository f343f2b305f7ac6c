"""Alias discovery: a platform tells, sooner or later, that two of its ids are one human."""

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.errors import Invalid
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.core.route import Route, RouteParts, parse_route
from threadline.core.session import EndReason
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.people.address_book import add_sender
from threadline.store.people.aliases import ALIASED_PLATFORMS, known_as
from threadline.store.people.persons import join_senders
from threadline.store.people.visibility import find_sender_by_id
from threadline.store.session_writer import SessionWriter, write_session_by_key
from threadline.store.sessions.merge_dms import has_active_turn
from threadline.store.sessions.session_end import end_if_unbound


class _SenderBinding(Struct, frozen=True, kw_only=True):
    """A route on which a sender speaks, and the session that it is bound to."""

    route: Route
    session_key: int


class _Session(Struct, frozen=True, kw_only=True):
    """What decides whether a session goes on, or another one."""

    key: int
    is_open: bool
    last_activity_at: int


def merge_aliases(tx: Transaction, platform: str, id: str, same_as: str) -> bool:
    """Go by `same_as` for both ids from now on; what either of them said becomes one's.

    Answers False if that was known. However aliases are told, each leads to its goal in one step.
    """
    alias, goal = Identity(platform=platform, id=id), Identity(platform=platform, id=same_as)
    if platform not in ALIASED_PLATFORMS:
        known = ", ".join(sorted(ALIASED_PLATFORMS))
        raise Invalid("Nobody has two ids there", id=platform, hint=f"Only on {known}")
    tx.run("lock_aliases", platform=platform)
    old, new = known_as(tx, alias), known_as(tx, goal)
    if old == new:
        return False
    new_key = _sender_key(tx, new) or add_sender(tx, platform, new.id)
    tx.run("add_alias", platform=platform, id=old.id, sender_key=new_key, now=stamp(tx.now))
    old_key = _sender_key(tx, old)
    if old_key is not None:
        tx.run("repoint_aliases", from_key=old_key, to_key=new_key)
        join_senders(tx, old_key, new_key)
        _move_routes(tx, (old.id, old_key), (new.id, new_key))
    return True


def _sender_key(tx: Transaction, identity: Identity) -> int | None:
    found = find_sender_by_id(tx, identity.platform, identity.id)
    return None if found is None else found.key


def _move_routes(tx: Transaction, old: tuple[str, int], new: tuple[str, int]) -> None:
    """Let what was said on routes of the old id go on where the new one speaks."""
    (old_id, old_key), (new_id, new_key) = old, new
    for binding in tx.all("list_bindings_of_sender", _SenderBinding, sender_key=old_key):
        after = _renamed(parse_route(binding.route), old_id, new_id)
        if after == binding.route:
            continue
        there = tx.one("find_bound_key", int, route=after)
        tx.run("drop_binding", route=binding.route)
        chosen = binding.session_key
        if there is not None:
            chosen = _choose(tx, chosen, there)
        tx.run("bind_route", route=after, session_key=chosen, sender_key=new_key, now=stamp(tx.now))
        if there is not None:
            for left in {binding.session_key, there} - {chosen}:
                _leave(write_session_by_key(tx, left))


def _renamed(parts: RouteParts, old: str, new: str) -> Route:
    chat = new if parts.kind == "dm" and parts.chat == old else parts.chat
    member = new if parts.member == old else parts.member
    return Route(str(replace(parts, chat=chat, member=member)))


def _choose(tx: Transaction, one: int, other: int) -> int:
    """Choose the session that goes on: an open one, of these a busy one, of these the latest."""
    keys = sorted({one, other})
    for key in keys:
        write_session_by_key(tx, key)
    sessions = [expect(tx, "read_liveliness", _Session, key=key) for key in keys]
    return max(sessions, key=lambda session: _liveliness(tx, session)).key


def _liveliness(tx: Transaction, session: _Session) -> tuple[bool, bool, int, int]:
    is_busy = has_active_turn(tx, session.key)
    return session.is_open, is_busy, session.last_activity_at, session.key


def _leave(writer: SessionWriter) -> None:
    """Let a session end that is not needed any more, unless it still has to answer."""
    if not has_active_turn(writer.tx, writer.key):
        end_if_unbound(writer, EndReason.LINKED)
        return
    with writer:
        writer.tell(EventKind.SESSION_CHANGED)
