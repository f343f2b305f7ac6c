"""Aliases: the ids under which a platform knows one human, and which of them we go by."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.person import Identity
from threadline.core.route import WHATSAPP, canonical_id, canonical_sender
from threadline.database.port import Transaction

ALIASED_PLATFORMS = frozenset({WHATSAPP})
"""Only there one human has several ids; elsewhere nobody is looked up twice."""


class _Alias(Struct, frozen=True, kw_only=True):
    """An id of a human, and the one that we go by."""

    id: str
    known_as: str


def resolve_aliases(tx: Transaction, address: Address, sender: Sender) -> tuple[Address, Sender]:
    """Name a place and a sender by the ids we go by."""
    if address.platform not in ALIASED_PLATFORMS:
        return address, sender
    written = canonical_sender(address.platform, sender)
    chat = canonical_id(address.platform, address.chat) if address.kind is Kind.DM else ""
    rows = tx.all("find_aliases", _Alias, platform=address.platform, sender_id=written, chat=chat)
    known = {row.id: row.known_as for row in rows}
    if written in known:
        sender = replace(sender, id=known[written], alt_id=None)
    if chat in known:
        address = replace(address, chat=known[chat])
    return address, sender


def known_as(tx: Transaction, who: Identity) -> Identity:
    """Name somebody by the id we go by."""
    if who.platform not in ALIASED_PLATFORMS:
        return who
    row = tx.one("find_aliases", _Alias, platform=who.platform, sender_id=who.id, chat=who.id)
    return who if row is None else replace(who, id=row.known_as)


def ids_like(tx: Transaction, platform: str, ids: Iterable[str]) -> frozenset[str]:
    """List these ids, and all others under which the platform knows the same human."""
    known = frozenset(ids)
    if platform not in ALIASED_PLATFORMS:
        return known
    return known.union(*(tx.all("list_ids_like", str, platform=platform, id=id) for id in known))


def resolve_inbound(tx: Transaction, inbound: Inbound) -> Inbound:
    """Name what arrived by the ids we go by."""
    address, sender = resolve_aliases(tx, inbound.address, inbound.sender)
    if address is inbound.address and sender is inbound.sender:
        return inbound
    return replace(inbound, address=address, sender=sender)
