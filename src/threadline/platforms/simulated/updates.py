"""Updates: what a simulated platform has to bring, raw, and kept until it is acknowledged."""

from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct

from threadline.core.address import address_from, sender_from
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Attachment, MediaKind, Part, Text
from threadline.core.platform import Receiver
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_text,
)

Payload: TypeAlias = Mapping[str, object]
"""What came over the wire; nothing in it can be relied upon."""

BATCH = 100
"""How many updates are brought at once."""


class Update(Struct, frozen=True, kw_only=True):
    """One payload with its place in the queue."""

    number: int
    payload: object


class Updates:
    """A queue with offsets, as real platforms keep: what is not acknowledged comes again."""

    def __init__(self) -> None:
        """Begin with an empty queue."""
        self._waiting: deque[Update] = deque()
        self._last: object = None
        self._next = 0

    def add(self, payload: object) -> None:
        """Put a payload at the end."""
        self._last = payload
        self._waiting.append(Update(number=self._next, payload=payload))
        self._next += 1

    def repeat(self) -> None:
        """Put the latest payload there once more, as platforms do when they are in doubt."""
        self.add(self._last)

    def batch(self) -> list[Update]:
        """List the next updates; they stay until they are acknowledged."""
        return [self._waiting[n] for n in range(min(len(self._waiting), BATCH))]

    def acknowledge(self, updates: Sequence[Update]) -> None:
        """Forget these, and all before them; whoever brings the same twice does no harm."""
        last = max(update.number for update in updates)
        while self._waiting and self._waiting[0].number <= last:
            self._waiting.popleft()

    def __len__(self) -> int:
        """Count what is not acknowledged."""
        return len(self._waiting)


def describe_file(name: str, data: bytes, media_type: str) -> Payload:
    """Make what a payload says about a file."""
    return {"name": name, "media_type": media_type, "data": b64encode(data).decode()}


async def read_update(payload: object, platform: str, gate: Receiver) -> Inbound:
    """Read a payload, keeping its files; raise `Invalid` if it makes no sense."""
    given = _object(payload, "an update")
    address = address_from({**_object(given.get("address"), "address"), "platform": platform})
    files = [await _keep(file, gate) for file in _list(given.get("files", []))]
    text = checked_text(given.get("text", ""), "text")
    parts: tuple[Part, ...] = (*((Text(text=text),) if text else ()), *files)
    reply_to = given.get("reply_to")
    return Inbound(
        address=address,
        sender=sender_from(_object(given.get("sender"), "sender")),
        parts=parts,
        at=_moment(given.get("at")),
        kind=checked_choice(given.get("kind"), "kind", InboundKind),
        message_id=checked_id(given.get("message_id"), "message id"),
        version=checked_count(given.get("version", 0), "version"),
        reply_to=None if reply_to is None else checked_id(reply_to, "reply_to"),
        observed=checked_flag(given.get("observed", False), "observed"),
    )


async def _keep(file: object, gate: Receiver) -> Attachment:
    given = _object(file, "a file")
    media_type = checked_id(given.get("media_type"), "media type")
    try:
        data = b64decode(checked_text(given.get("data"), "data"), validate=True)
    except ValueError as error:
        raise Invalid("The content of a file is no base64") from error
    return await gate.keep(
        data, media_type, media_kind(media_type), checked_id(given["name"], "name")
    )


def media_kind(media_type: str) -> MediaKind:
    """Tell images and sounds from other files."""
    family = media_type.partition("/")[0]
    return MediaKind(family) if family in {"image", "audio"} else MediaKind.FILE


def _object(value: object, what: str) -> Payload:
    if isinstance(value, Mapping):
        return value
    raise Invalid(f"{what} is no object, but {type(value).__name__}")


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise Invalid(f"files are a list, not {type(value).__name__}")


def _moment(value: object) -> datetime:
    try:
        return datetime.fromisoformat(checked_text(value, "time"))
    except ValueError as error:
        raise Invalid("The time of an update cannot be read") from error
