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
from threadline.database.port import Row, SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.people.aliases import ALIASED_PLATFORMS, ids_like, known_as
from threadline.store.row_mappers import address_from_row
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
    return _grant_from(expect(tx, "find_grant", **at))


def revoke_access(tx: Transaction, who: Identity, *, profile: str, by: Actor | None = None) -> bool:
    """Let somebody in no longer, under none of their ids. False: they were not, and did not ask."""
    tx.run("lock_access", profile=profile)
    places = [_place(profile, who.platform, id) for id in ids_like(tx, who.platform, {who.id})]
    dropped = [
        row
        for at in places
        for row in (tx.one("drop_grant", **at), tx.one("drop_pairing", **at))
        if row is not None
    ]
    if dropped:
        add_global_event(tx, EventKind.ACCESS_CHANGED, None)
        note_audit(tx, by, "pairing.revoked", str(who))
    return bool(dropped)


def standing(tx: Transaction, platform: str, ids: Collection[str], *, profile: str) -> SenderAccess:
    """Read what the store knows of somebody who has these ids."""
    known = ids_like(tx, platform, ids)
    found = (tx.one("find_grant", **_place(profile, platform, id)) for id in known)
    return SenderAccess(ids=known, is_granted=any(row is not None for row in found))


def interrupted_askers(tx: Transaction, among: Collection[TurnId]) -> list[TurnRequester]:
    """List whose words those of some turns answer that were cut off; some were asked by nobody."""
    ids = json.dumps(sorted(among))
    return [_asked(tx, row) for row in tx.all("list_interrupted_askers", ids=ids)]


def requesters(tx: Transaction, turn_id: TurnId) -> list[TurnRequester]:
    """List the senders whose messages a turn answers; none: no sender asked for it."""
    return [_asked(tx, row) for row in tx.all("list_requesters", turn_id=turn_id)]


def _asked(tx: Transaction, row: Row) -> TurnRequester:
    platform, id, profile = (row.text(name) for name in ("sender_platform", "sender_id", "profile"))
    address = address_from_row(row)
    if address.platform != platform:
        # Somebody who was linked said it elsewhere; what counts is whether they may speak there.
        address = Address(platform=platform, kind=Kind.DM)
    return TurnRequester(
        turn_id=TurnId(row.number("turn_id")),
        profile=profile,
        address=address,
        sender=Sender(id=id, name=row.text_or_none("sender_name")),
        standing=_standing_of(tx, row),
        voucher=None if row["vouched_by"] is None else AccessSponsor(row.text("vouched_by")),
    )


def _standing_of(tx: Transaction, row: Row) -> SenderAccess:
    platform, id = row.text("sender_platform"), row.text("sender_id")
    if platform in ALIASED_PLATFORMS:
        return standing(tx, platform, {id}, profile=row.text("profile"))
    return SenderAccess(ids=frozenset({id}), is_granted=row.number("granted") > 0)


def grants(tx: Transaction, *, profile: str) -> list[Grant]:
    """List everybody whom the owner let in."""
    return [_grant_from(row) for row in tx.all("list_grants", profile=profile)]


def forget_access(tx: Transaction, platform: str, id: str) -> None:
    """Forget that somebody was let in, or asked to be, wherever that was."""
    dropped = tx.all("drop_grants_of", platform=platform, sender_id=id)
    dropped += tx.all("drop_pairings_of", platform=platform, sender_id=id)
    if dropped:
        add_global_event(tx, EventKind.ACCESS_CHANGED, None)


def cleaned(name: str | None) -> str | None:
    """Take a name as somebody calls themselves, without what could not be seen in it."""
    return None if name is None else clean_title(name) or None


def identity_from(row: Row) -> Identity:
    """Read who is meant."""
    return Identity(platform=row.text("platform"), id=row.text("sender_id"))


def _grant_from(row: Row) -> Grant:
    return Grant(
        identity=identity_from(row),
        name=row.text_or_none("name"),
        granted_at=row.moment("granted_at"),
    )


def _place(profile: str, platform: str, id: str) -> dict[str, SqlValue]:
    return {"profile": profile, "platform": platform, "sender_id": id}
