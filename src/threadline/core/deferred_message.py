"""Deferred message: a message that has to wait, written as text and read again."""

import json
from datetime import datetime

from threadline.core.address import address_from, sender_from
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import parts_from, plain_parts


def encode_message(inbound: Inbound, *, on_screen: bool = False) -> str:
    """Write a message as JSON. Who vouches for its sender is not in it: no file says so.

    `on_screen` says that it was given to the session that somebody looked at, by no route.
    """
    fields: dict[str, object] = {
        "address": inbound.address.as_dict(),
        "sender": inbound.sender.as_dict(),
        "parts": plain_parts(inbound.parts),
        "at": inbound.at.isoformat(),
        "message_id": inbound.message_id,
        "reply_to": inbound.reply_to,
        "profile": inbound.profile,
    }
    if on_screen:
        fields["on_screen"] = True
    return json.dumps(fields, ensure_ascii=False)


def decode_message(text: str) -> Inbound:
    """Read a message from JSON, or say that it cannot be read."""
    try:
        fields = json.loads(text)
        return Inbound(
            address=address_from(fields["address"]),
            sender=sender_from(fields["sender"]),
            parts=parts_from(fields["parts"]),
            at=datetime.fromisoformat(fields["at"]),
            message_id=fields["message_id"],
            reply_to=fields["reply_to"],
            profile=fields["profile"],
        )
    except (ValueError, TypeError, KeyError) as error:
        raise Invalid(f"A message that was kept cannot be read: {error}") from error


def is_from_screen(text: str) -> bool:
    """Tell whether a kept message was given to the session that somebody looked at."""
    return json.loads(text).get("on_screen") is True
