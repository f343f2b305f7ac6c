"""Grants: who was let in by the owner, beside those whom the settings name."""

import json
from collections.abc import Collection

from msgspec import Struct

from threadline.core.access import AccessSponsor, Grant, SenderAccess
from threadline.core.account import Actor
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.core.turn import TurnId
from threadline.core.validation import clean_title
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.people.aliases import ALIASED_PLATFORMS, ids_like, known_as
from threadline.store.session_writer import add_global_event


class StandingChanged(Conflict):
    """A sender was let in or out after it was decided what they may do."""


class TurnRequester(Struct, frozen=True, kw_only=True):
    """Whose words a turn answers, and where they were said."""

    turn_id: TurnId
    profile: str
    address: Address
    sender: Sender
    standing: SenderAccess
    voucher: AccessSponsor | None
    """Who answered for them when they spoke last."""


class _StoredRequester(Struct, frozen=True, kw_only=True):
    """Whose words a turn answers, as they are stored."""

    turn_id: TurnId
    profile: str
    address: Address
    """Where the turn was asked for, which may be on another platform than the sender."""
    sender_platform: str
    sender: Sender
    voucher: AccessSponsor | None
    is_granted: bool


def grant_access(
    tx: Transaction,
    who: Identity,
    name: str | None,
    *,
    profile: str,
    by: Actor | None = None,
    act: str = "pairing.allowed",
) -> Grant:
    """Let somebody in; they need no code any more."""
    who = known_as(tx, who)
    at = _place(profile, who.platform, who.id)
    tx.run("drop_pairing", **at)
    tx.run("add_grant", **at, name=cleaned(name), now=stamp(tx.now))
    add_global_event(tx, EventKind.ACCESS_CHANGED, None)
    note_audit(tx, by, act, str(who))
    return expect(tx, "find_grant", Grant, **at)


def revoke_access(tx: Transaction, who: Identity, *, profile: str, by: Actor | None = None) -> bool:
    """Let somebody in no longer, under none of their ids. False: they were not, and did not ask."""
    tx.run("lock_access", profile=profile)
    places = [_place(profile, who.platform, id) for id in ids_like(tx, who.platform, {who.id})]
    dropped = [
        is_dropped
        for at in places
        for is_dropped in (tx.exists("drop_grant", **at), tx.exists("drop_pairing", **at))
    ]
    if any(dropped):
        add_global_event(tx, EventKind.ACCESS_CHANGED, None)
        note_audit(tx, by, "pairing.revoked", str(who))
    return any(dropped)


def standing(tx: Transaction, platform: str, ids: Collection[str], *, profile: str) -> SenderAccess:
    """Read what the store knows of somebody who has these ids."""
    known = ids_like(tx, platform, ids)
    found = (tx.exists("find_grant", **_place(profile, platform, id)) for id in known)
    return SenderAccess(ids=known, is_granted=any(found))


def interrupted_askers(tx: Transaction, among: Collection[TurnId]) -> list[TurnRequester]:
    """List whose words those of some turns answer that were cut off; some were asked by nobody."""
    ids = json.dumps(sorted(among))
    return [_asked(tx, row) for row in tx.all("list_interrupted_askers", _StoredRequester, ids=ids)]


def requesters(tx: Transaction, turn_id: TurnId) -> list[TurnRequester]:
    """List the senders whose messages a turn answers; none: no sender asked for it."""
    return [_asked(tx, row) for row in tx.all("list_requesters", _StoredRequester, turn_id=turn_id)]


def _asked(tx: Transaction, asker: _StoredRequester) -> TurnRequester:
    platform, address = asker.sender_platform, asker.address
    if address.platform != platform:
        # Somebody who was linked said it elsewhere; what counts is whether they may speak there.
        address = Address(platform=platform, kind=Kind.DM)
    return TurnRequester(
        turn_id=asker.turn_id,
        profile=asker.profile,
        address=address,
        sender=asker.sender,
        standing=_standing_of(tx, asker),
        voucher=asker.voucher,
    )


def _standing_of(tx: Transaction, asker: _StoredRequester) -> SenderAccess:
    ids = frozenset() if asker.sender.id is None else frozenset({asker.sender.id})
    if asker.sender_platform in ALIASED_PLATFORMS:
        return standing(tx, asker.sender_platform, ids, profile=asker.profile)
    return SenderAccess(ids=ids, is_granted=asker.is_granted)


def grants(tx: Transaction, *, profile: str) -> list[Grant]:
    """List everybody whom the owner let in."""
    return tx.all("list_grants", Grant, profile=profile)


def forget_access(tx: Transaction, platform: str, id: str) -> None:
    """Forget that somebody was let in, or asked to be, wherever that was."""
    dropped = tx.all("drop_grants_of", str, platform=platform, sender_id=id)
    dropped += tx.all("drop_pairings_of", str, platform=platform, sender_id=id)
    if dropped:
        add_global_event(tx, EventKind.ACCESS_CHANGED, None)


def cleaned(name: str | None) -> str | None:
    """Take a name as somebody calls themselves, without what could not be seen in it."""
    return None if name is None else clean_title(name) or None


def _place(profile: str, platform: str, id: str) -> dict[str, SqlValue]:
    return {"profile": profile, "platform": platform, "sender_id": id}
