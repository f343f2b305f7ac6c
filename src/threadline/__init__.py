"""Threadline: one durable conversation, whichever app it is spoken in."""

from threadline.assembly import open
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import ThreadlineError
from threadline.core.inbound import Inbound
from threadline.core.message import Role, Text, say
from threadline.core.rules import Rules
from threadline.sessions.store import Store

__all__ = [
    "Address",
    "Inbound",
    "Kind",
    "Role",
    "Rules",
    "Sender",
    "Store",
    "Text",
    "ThreadlineError",
    "open",
    "say",
]
