"""Acting: administrative acts of somebody who speaks in a chat or on a screen."""

from datetime import datetime

from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.route import canonical_sender
from threadline.sessions.audit import note_audit
from threadline.sessions.welcome.accounts import find_actor
from threadline.storage.database import Transaction


def note_act(
    tx: Transaction,
    address: Address | None,
    sender: Sender,
    act: str,
    subject: str,
    *,
    now: datetime,
) -> None:
    """Write down what somebody did from a place: by their account or, on a platform, by their id.

    Who comes from nowhere is a library's user, of whom nothing is written down.
    """
    if address is None:
        return
    by = find_actor(tx, address.platform, sender.id)
    who = "" if by else f"{address.platform}:{canonical_sender(address.platform, sender) or ''}"
    note_audit(tx, by or Actor(), act, subject, who, now=now)
