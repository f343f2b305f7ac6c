"""Payloads: what a caller says, read with care, and what they are told."""

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Attachment, MediaKind, Message, Role, Text, plain_text
from threadline.core.platform import TurnReply
from threadline.core.route import canonical_profile
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_text,
)

MOST_FILES = 10
"""How many attachments one message may have."""
LABEL_LIMIT = 1000
"""Characters."""

_FIELDS = frozenset(
    {
        "message_id",
        "session",
        "text",
        "sender",
        "kind",
        "version",
        "place",
        "thread",
        "alt_chat",
        "parent",
        "scope",
        "guild_id",
        "chat_name",
        "topic",
        "reply_to",
        "attachments",
        "observed",
        "profile",
    }
)
_SENDER_FIELDS = frozenset({"id", "alt_id", "name", "is_bot"})
_FILE_FIELDS = frozenset({"name", "media_type", "data"})


class UploadedFile(Struct, frozen=True, kw_only=True):
    """A file that came with a message, not yet stored."""

    data: bytes
    media_type: str
    name: str | None

    @property
    def kind(self) -> MediaKind:
        """Tell images and sounds from other files."""
        family = self.media_type.partition("/")[0]
        return MediaKind(family) if family in {"image", "audio"} else MediaKind.FILE


class Payload(Struct, frozen=True, kw_only=True):
    """What a caller says, checked."""

    message_id: str
    session: str
    text: str
    sender: Sender
    kind: InboundKind
    version: int
    place: Kind
    thread: str | None
    alt_chat: str | None
    """Another id of the same chat: stored, never routed by."""
    parent: str | None
    scope: str | None
    chat_name: str | None
    topic: str | None
    reply_to: str | None
    files: tuple[UploadedFile, ...]
    observed: bool
    profile: str
    """For which profile it was signed."""

    def inbound(
        self,
        platform: str,
        *,
        files: Sequence[Attachment],
        is_trusted: bool,
        at: datetime,
    ) -> Inbound:
        """Make of it what a gate takes."""
        words = (Text(text=self.text),) if self.text else ()
        return Inbound(
            address=Address(
                platform=platform,
                kind=self.place,
                chat=self.session,
                thread=self.thread,
                alt_chat=self.alt_chat,
                parent=self.parent,
                scope=self.scope,
                chat_name=self.chat_name,
                topic=self.topic,
            ),
            sender=self.sender,
            parts=(*words, *files),
            at=at,
            kind=self.kind,
            message_id=self.message_id,
            version=self.version,
            reply_to=self.reply_to,
            profile=self.profile,
            observed=self.observed,
            is_trusted=is_trusted,
        )


def read_payload(body: bytes, *, message_id: str | None = None) -> Payload:
    """Read a request; whatever is wrong with it is said as `Invalid`.

    `message_id` is that of the headers, for a body that has none.
    """
    given = {"message_id": message_id or "", **_object(_parse(body), "The body", _FIELDS)}
    kind = checked_choice(given.get("kind", "message"), "kind", InboundKind)
    payload = Payload(
        message_id=_required(given, "message_id"),
        session=_required(given, "session"),
        text=checked_text(given.get("text", ""), "text"),
        sender=_sender(given.get("sender", {})),
        kind=kind,
        version=checked_count(
            given.get("version", 0 if kind is InboundKind.MESSAGE else 1), "version"
        ),
        place=checked_choice(given.get("place", "dm"), "place", Kind),
        thread=_optional(given, "thread"),
        alt_chat=_optional(given, "alt_chat"),
        parent=_optional(given, "parent"),
        scope=_optional(given, "scope" if "scope" in given else "guild_id"),
        chat_name=_label(given, "chat_name"),
        topic=_label(given, "topic"),
        reply_to=_optional(given, "reply_to"),
        files=_files(given.get("attachments", [])),
        observed=checked_flag(given.get("observed", False), "observed"),
        profile=canonical_profile(checked_id(given.get("profile", ""), "profile")),
    )
    if kind is not InboundKind.DELETION and not payload.text and not payload.files:
        raise Invalid("The message says nothing", hint="Give it a text or attachments")
    return payload


def tell_answer(answer: TurnReply) -> dict[str, object]:
    """Tell how a turn stands and what it said: every message, and which files there are."""
    said = [message for message in answer.lines if message.role is Role.ASSISTANT]
    told: dict[str, object] = {
        "state": answer.state.value,
        "question": answer.question,
        "error": answer.error,
    }
    told = {name: value for name, value in told.items() if value is not None}
    told["answer"] = {
        "text": "\n\n".join(message.text for message in said if message.text),
        "messages": [
            {"text": plain_text(message.parts), "attachments": _told_files(message)}
            for message in said
        ],
    }
    return told


def _told_files(message: Message) -> list[dict[str, object]]:
    return [
        {"name": part.name, "media_type": part.media_type, "size": part.size}
        for part in message.parts
        if isinstance(part, Attachment)
    ]


def _parse(body: bytes) -> object:
    try:
        return json.loads(body.decode(), parse_constant=_no_number)
    except RecursionError as error:
        raise Invalid("The body is nested too deeply") from error
    except ValueError as error:  # no JSON, no UTF-8, or a number of thousands of digits
        raise Invalid("The body is no JSON", hint="Send one JSON object in UTF-8") from error


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _object(value: object, what: str, fields: frozenset[str]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise Invalid(f"{what} is no object", hint=f"Its fields are: {', '.join(sorted(fields))}")
    if unknown := value.keys() - fields:
        name = min(unknown).encode("utf-8", "replace").decode()[:60]
        raise Invalid(
            f"{what} has an unknown field {name!r}",
            hint=f"Its fields are: {', '.join(sorted(fields))}",
        )
    return {name: item for name, item in value.items() if item is not None}


def _required(given: Mapping[str, object], name: str) -> str:
    if not (value := checked_id(given.get(name, ""), name)):
        raise Invalid(f"{name} is missing", hint="It is text of 1 to 255 bytes")
    return value


def _optional(given: Mapping[str, object], name: str) -> str | None:
    return checked_id(given[name], name) if name in given else None


def _label(given: Mapping[str, object], name: str) -> str | None:
    return checked_text(given[name], name, LABEL_LIMIT) if name in given else None


def _sender(value: object) -> Sender:
    given = _object(value, "sender", _SENDER_FIELDS)
    return Sender(
        id=_optional(given, "id"),
        alt_id=_optional(given, "alt_id"),
        name=_optional(given, "name"),
        is_bot=checked_flag(given.get("is_bot", False), "is_bot"),
    )


def _files(value: object) -> tuple[UploadedFile, ...]:
    if not isinstance(value, list) or len(value) > MOST_FILES:
        raise Invalid(f"attachments is no list of at most {MOST_FILES} files")
    return tuple(_file(item) for item in value)


def _file(value: object) -> UploadedFile:
    given = _object(value, "An attachment", _FILE_FIELDS)
    try:
        data = b64decode(checked_text(given.get("data"), "data of an attachment"), validate=True)
    except ValueError as error:
        raise Invalid("data of an attachment is no base64") from error
    media_type = checked_id(given.get("media_type", "application/octet-stream"), "media_type")
    return UploadedFile(data=data, media_type=media_type, name=_optional(given, "name"))
