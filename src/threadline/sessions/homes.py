"""Homes: the chat of each platform to which messages go that nobody asked for."""

from collections.abc import Mapping
from datetime import datetime

from threadline.core.address import Address
from threadline.core.event import EventKind
from threadline.sessions.arrivals.places import remember_address
from threadline.sessions.chronicle import tell_apart
from threadline.sessions.records import address_from_row
from threadline.storage.database import Transaction
from threadline.storage.moments import stamp


def set_home(tx: Transaction, address: Address, *, profile: str, now: datetime) -> None:
    """Make a chat the home of its platform, in the place of the one before."""
    key = remember_address(tx, address)
    tx.run(
        "set_home",
        profile=profile,
        platform=address.platform,
        address_key=key,
        now=stamp(now),
    )
    tell_apart(tx, EventKind.HOME_CHANGED, key, now)


def list_homes(tx: Transaction, profile: str) -> Mapping[str, Address]:
    """List the homes that were chosen in the chats of a profile, by platform."""
    places = [address_from_row(row) for row in tx.all("list_homes", profile=profile)]
    return {place.platform: place for place in places}
