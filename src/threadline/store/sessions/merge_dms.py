"""Merge DMs: all direct messages of a person go on in one conversation, where that is wished.

Nothing is moved when people are linked. A route comes to the others when somebody speaks on it,
and only then: so a turn that runs elsewhere goes on undisturbed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.person import PeopleMode
from threadline.core.route import Route, RouteParts, parse_route
from threadline.core.session import EndReason
from threadline.core.settings import Settings
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.people.visibility import find_sender
from threadline.store.session_writer import SessionWriter, write_session_by_key
from threadline.store.sessions.reset_check import read_load
from threadline.store.sessions.session_end import end_if_unbound


class _BoundRoute(Struct, frozen=True, kw_only=True):
    """The session that a route is bound to, and the person who speaks on it."""

    session_key: int
    person_key: int | None


class _PersonRoute(Struct, frozen=True, kw_only=True):
    """A route on which a person speaks, and their session that it is bound to."""

    route: Route
    sender_key: int | None
    session_key: int
    last_activity_at: datetime
    ended_at: datetime | None
    end_reason: EndReason | None


def is_one_conversation(address: Address, rules: Settings) -> bool:
    """Tell whether what a person says there belongs to one conversation on every platform.

    A thread inside a direct chat was opened to keep things apart, and does so here, too.
    """
    is_plain = address.kind is Kind.DM and address.thread is None
    return is_plain and rules.people is PeopleMode.ONE_CONVERSATION


def join_person_session(
    tx: Transaction, where: Route, person_key: int, sender_key: int | None, *, profile: str
) -> None:
    """Let a route go on with the conversation that its person has, unless a turn is under way."""
    tx.exists("lock_person", key=person_key)
    if sender_key not in tx.all("list_sender_keys", int, person_key=person_key):
        return  # They just parted.
    dms = _dms(tx, person_key, profile)
    current = _destination(tx, where, person_key, dms)
    if current is None:
        return
    to_key, here = current.session_key, tx.one("find_binding", _BoundRoute, route=where)
    if here is None:
        _bind(tx, {where: sender_key}, to_key)
        return
    from_key = here.session_key
    left = _take(tx, from_key, to_key)
    # Asked again under the lock: somebody may just have spoken.
    if not has_active_turn(tx, from_key):
        _bind(tx, {where: sender_key} | _bound_to(dms, from_key), to_key)
        end_if_unbound(left, EndReason.LINKED)


def join_before_command(
    tx: Transaction, where: Route, address: Address, sender: Sender, *, profile: str
) -> None:
    """Do the same before a command, whose sender may be nobody's person."""
    found = find_sender(tx, address, sender)
    if found is not None and found.person_key is not None:
        join_person_session(tx, where, found.person_key, found.key, profile=profile)


def find_person_route(
    tx: Transaction, where: Route, address: Address, sender: Sender, *, profile: str
) -> Route | None:
    """Find the route whose conversation a message would join; None: it stays where it is."""
    found = find_sender(tx, address, sender)
    person_key = None if found is None else found.person_key
    if person_key is None:
        return None
    current = _destination(tx, where, person_key, _dms(tx, person_key, profile))
    return None if current is None else current.route


def move_dms(tx: Transaction, person_key: int, from_key: int, to_key: int, *, profile: str) -> None:
    """Let all direct messages of a person follow from one session to the next."""
    _bind(tx, _bound_to(_dms(tx, person_key, profile), from_key), to_key)


def _dms(tx: Transaction, person_key: int, profile: str) -> list[_PersonRoute]:
    routes = tx.all("list_routes_of_person", _PersonRoute, person_key=person_key, profile=profile)
    return [one for one in routes if _is_plain_dm(parse_route(one.route))]


def _is_plain_dm(parts: RouteParts) -> bool:
    return parts.kind is Kind.DM and parts.thread is None


def _bound_to(dms: Sequence[_PersonRoute], session_key: int) -> dict[Route, int | None]:
    return {dm.route: dm.sender_key for dm in dms if dm.session_key == session_key}


def _bind(tx: Transaction, speakers: Mapping[Route, int | None], session_key: int) -> None:
    for where, speaker in speakers.items():
        tx.run(
            "bind_route",
            route=where,
            session_key=session_key,
            sender_key=speaker,
            now=stamp(tx.now),
        )


def _destination(
    tx: Transaction, where: Route, person_key: int, dms: Sequence[_PersonRoute]
) -> _PersonRoute | None:
    """Find where a route should be bound to; None: where it is, or it may not be moved now."""
    if not dms:
        return None
    current = max(dms, key=_liveliness)
    here = tx.one("find_binding", _BoundRoute, route=where)
    if here is None:
        return current
    if here.person_key != person_key or here.session_key == current.session_key:
        return None  # Somebody else speaks there, or it is there already.
    return None if has_active_turn(tx, here.session_key) else current


def _liveliness(dm: _PersonRoute) -> tuple[bool, datetime, int]:
    # One that ended because a new one was asked for is where the new one begins.
    goes_on = dm.ended_at is None or dm.end_reason is EndReason.NEW
    return goes_on, dm.last_activity_at, dm.session_key


def has_active_turn(tx: Transaction, session_key: int) -> bool:
    """Tell whether a session has a turn that runs or waits."""
    load = read_load(tx, session_key)
    return load.held_id is not None or load.queued_at is not None


def _take(tx: Transaction, from_key: int, to_key: int) -> SessionWriter:
    """Lock both sessions in the order of their keys; go on with the one that is left."""
    taken = {key: write_session_by_key(tx, key) for key in sorted({from_key, to_key})}
    return taken[from_key]
