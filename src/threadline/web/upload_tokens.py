"""Upload tokens: what whoever uploaded a file is given, to use it in a message or look at it."""

import base64
import binascii
import hmac
import json
from datetime import datetime, timedelta

from threadline.core.account import AccountKey
from threadline.core.deletion import Seal
from threadline.core.errors import Invalid, NotFound, ThreadlineError
from threadline.core.json_codec import checked
from threadline.core.message import Attachment, BlobHash, MediaKind

TICKET_LASTS = timedelta(hours=24)
"""Until then a file is kept that no message uses."""
TICKET_LIMIT = 2000
"""Characters."""

_KIND = "upload"


def write_ticket(seal: Seal, file: Attachment, account: AccountKey, now: datetime) -> str:
    """Say under seal who uploaded what, and until when it may be used."""
    told = {
        "account": account,
        "until": int((now + TICKET_LASTS).timestamp()),
        "hash": file.blob,
        "kind": file.kind,
        "type": file.media_type,
        "size": file.size,
        "name": file.name,
    }
    written = base64.urlsafe_b64encode(json.dumps(told).encode()).decode().rstrip("=")
    return f"{written}.{seal.mark(_KIND, written)}"


def read_ticket(seal: Seal, ticket: str, account: AccountKey, now: datetime) -> Attachment:
    """Read the ticket of somebody's own upload; any other is nothing that we know."""
    written, _, mark = ticket[:TICKET_LIMIT].partition(".")
    if not hmac.compare_digest(_fit(seal.mark(_KIND, _shown(written))), _fit(mark)):
        raise _unknown()
    try:
        told = json.loads(base64.urlsafe_b64decode(written + "=" * (-len(written) % 4)))
        made = Attachment(
            kind=MediaKind(told["kind"]),
            blob=BlobHash(told["hash"]),
            media_type=told["type"],
            size=told["size"],
            name=told["name"],
        )
        file = checked(made, "attachment")
    except (binascii.Error, KeyError, ValueError, Invalid):
        raise _unknown() from None
    if told["account"] != account or told["until"] < now.timestamp():
        raise _unknown()
    return file


def _shown(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _fit(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _unknown() -> ThreadlineError:
    return NotFound("This upload is unknown or has expired", hint="Upload the file again")
