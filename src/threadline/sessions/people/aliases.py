"""Aliases: the ids under which a platform knows one human, and which of them we go by."""

from dataclasses import replace

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.route import WHATSAPP, canonical_id, canonical_sender
from threadline.storage.database import Transaction

ALIASED_PLATFORMS = frozenset({WHATSAPP})
"""Only there one human has several ids; elsewhere nobody is looked up twice."""


def resolve(tx: Transaction, address: Address, sender: Sender) -> tuple[Address, Sender]:
    """Name a place and a sender by the ids we go by."""
    if address.platform not in ALIASED_PLATFORMS:
        return address, sender
    written = canonical_sender(address.platform, sender)
    chat = canonical_id(address.platform, address.chat) if address.kind is Kind.DM else ""
    rows = tx.all("find_aliases", platform=address.platform, sender_id=written, chat=chat)
    known = {row.text("id"): row.text("known_as") for row in rows}
    if written in known:
        sender = replace(sender, id=known[written], alt_id=None)
    if chat in known:
        address = replace(address, chat=known[chat])
    return address, sender


def rename(tx: Transaction, inbound: Inbound) -> Inbound:
    """Name what arrived by the ids we go by."""
    address, sender = resolve(tx, inbound.address, inbound.sender)
    if address is inbound.address and sender is inbound.sender:
        return inbound
    return replace(inbound, address=address, sender=sender)
