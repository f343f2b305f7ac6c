"""A message: one line of a transcript, made of parts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, NewType, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import force_setattr, replace

from threadline.core.errors import Invalid
from threadline.core.json_codec import Count, Id, Key, checked, convert
from threadline.core.revision import revision_of
from threadline.core.session import SessionId, SessionReference
from threadline.core.turn import TurnId
from threadline.core.validation import (
    TEXT_LIMIT,
    unfit,
)

MessageKey = NewType("MessageKey", int)
BlobHash = NewType("BlobHash", str)
BlobReference: TypeAlias = Annotated[BlobHash, Meta(pattern="^[0-9a-f]{64}$")]
"""The content hash of a blob, as text from outside may name it."""

PARTS_LIMIT = 256
QUOTES_LIMIT = 1_000
_HASH_DIGITS = 64


class Role(StrEnum):
    """Who speaks in a line of the transcript."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class MediaKind(StrEnum):
    """What sort of thing is attached."""

    IMAGE = "image"
    FILE = "file"
    AUDIO = "audio"


class MarkerKind(StrEnum):
    """What went wrong, where a transcript shows that something did."""

    INTERRUPTED = "interrupted"
    FAILED = "failed"
    STOPPED = "stopped"
    EXPIRED = "expired"
    SPENDING = "spending"
    """A cap on spending is near."""
    FORGOTTEN = "forgotten"
    """What was said before this line is gone."""


class NoteKind(StrEnum):
    """Why a note for the agent quotes something."""

    CARRIED_OVER = "carried_over"
    """The last messages of the session before."""
    SUMMARY = "summary"
    """What the session before was about."""
    EDITED = "edited"
    """The new text of an earlier message."""
    DELETED = "deleted"
    """An earlier message was deleted; the note does not say what it said."""


class _Part(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """A part of a message; in JSON its `type` says which."""


class Text(_Part, frozen=True, kw_only=True, tag="text"):
    """Words."""

    text: str
    raw: str | None = None
    """What else the provider said of them, verbatim, so that a replay is identical."""


class Attachment(_Part, frozen=True, kw_only=True, tag="attachment"):
    """An image, a file or a sound, stored as a blob under its content hash."""

    kind: MediaKind
    blob: BlobReference
    media_type: Id
    size: Count
    name: Id | None = None


class ToolCall(_Part, frozen=True, kw_only=True, tag="tool_call"):
    """A call of a tool by the agent; the arguments are the provider's JSON, verbatim."""

    id: Id
    name: Id
    arguments: str
    raw: str | None = None
    """What else the provider said of it, verbatim, so that a replay is identical."""


class ToolResult(_Part, frozen=True, kw_only=True, tag="tool_result"):
    """What a tool returned to one call."""

    call_id: Id
    text: str
    is_error: bool = False


class Reasoning(_Part, frozen=True, kw_only=True, tag="reasoning"):
    """The model's thoughts, with the provider's own item verbatim so that a replay is identical."""

    text: str = ""
    raw: str | None = None


class Marker(_Part, frozen=True, kw_only=True, tag="marker"):
    """A visible trace of something that went wrong, and why."""

    kind: MarkerKind
    text: str


class Quote(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A reference to a message, or to a session as a whole; it survives export and import."""

    session_id: SessionReference
    seq: Key | None = None
    """The sequence number of the message; None: the whole session."""


class Note(_Part, frozen=True, kw_only=True, tag="note"):
    """A note for the agent that quotes messages, or says what happened to one.

    What it quotes decides when it is deleted; its text decides nothing.
    """

    kind: NoteKind
    text: str
    quotes: Annotated[tuple[Quote, ...], Meta(max_length=QUOTES_LIMIT)] = ()


Part: TypeAlias = Text | Attachment | ToolCall | ToolResult | Reasoning | Marker | Note

_PARTS = Text, Attachment, ToolCall, ToolResult, Reasoning, Marker, Note
_read_parts = msgspec.json.Decoder(tuple[Part, ...]).decode


class NewMessage(Struct, frozen=True, kw_only=True):
    """A message that is not yet in a transcript."""

    role: Role
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        """Refuse an unknown role, no parts, or too many."""
        if not isinstance(self.role, Role):
            raise Invalid(f"{str(self.role)[:40]!r} is no role", hint=f"One of: {', '.join(Role)}")
        force_setattr(self, "parts", checked_parts(self.parts))


class Message(Struct, frozen=True, kw_only=True):
    """One line of a transcript. Without a sequence number it still waits for its turn."""

    key: MessageKey
    session_id: SessionId
    seq: int | None
    role: Role
    parts: tuple[Part, ...]
    at: datetime
    """When it was written; never later than its arrival."""
    arrived_at: datetime | None = None
    """When it arrived, if that was noticeably after it was written."""
    turn_id: TurnId | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    changed_at: datetime | None = None
    deleted_at: datetime | None = None
    platform_id: str | None = None
    """By what id the platform knows it."""
    reply_to: str | None = None
    """The platform's id of the message that it answers."""

    @property
    def revision(self) -> str:
        """Name the state that it is in: what it says."""
        return revision_of(self.key, self.parts, self.changed_at)

    @property
    def text(self) -> str:
        """What a person reads of it."""
        return plain_text(self.parts)


def checked_parts(parts: tuple[Part, ...], least: int = 1) -> tuple[Part, ...]:
    """Take the parts of a message, if they are some and none of them is anything else."""
    if not isinstance(parts, tuple):
        raise Invalid(f"The parts of a message are a tuple, not {type(parts).__name__}")
    if not least <= len(parts) <= PARTS_LIMIT:
        raise Invalid(f"A message has {least} to {PARTS_LIMIT} parts, not {len(parts)}")
    for part in parts:
        if type(part) not in _PARTS:
            raise Invalid(f"{type(part).__name__} is no part of a message")
    return tuple(checked(part, type(part).__name__) for part in parts)


def checked_hash(value: object) -> BlobHash:
    """Take a content hash."""
    if (
        isinstance(value, str)
        and len(value) == _HASH_DIGITS
        and not set(value) - set("0123456789abcdef")
    ):
        return BlobHash(value)
    raise unfit(value, "content hash", "that of a blob which was stored before")


def say(role: Role, text: str) -> NewMessage:
    """Make a message of plain words."""
    return NewMessage(role=role, parts=(Text(text=text),))


def words(text: str) -> tuple[Text, ...]:
    """Make parts of a text that may be longer than one part holds."""
    return tuple(
        Text(text=text[at : at + TEXT_LIMIT]) for at in range(0, max(len(text), 1), TEXT_LIMIT)
    )


def plain_text(parts: Sequence[Part]) -> str:
    """Answer what a person reads, and a search finds, of these parts."""
    shown = (part for part in parts if isinstance(part, Text | ToolResult | Marker | Note))
    return "\n".join(part.text for part in shown)


def quotes_of(parts: Sequence[Part]) -> tuple[Quote, ...]:
    """Return what the notes among these parts quote."""
    return tuple(quote for part in parts if isinstance(part, Note) for quote in part.quotes)


def with_sessions(parts: tuple[Part, ...], ids: Mapping[SessionId, SessionId]) -> tuple[Part, ...]:
    """Return parts whose notes refer to sessions by their ids in another store or transcript."""
    if not quotes_of(parts):
        return parts
    return tuple(
        replace(
            part,
            quotes=tuple(
                replace(quote, session_id=ids.get(quote.session_id, quote.session_id))
                for quote in part.quotes
            ),
        )
        if isinstance(part, Note)
        else part
        for part in parts
    )


def pack(parts: Sequence[Part]) -> tuple[str, str | None]:
    """Return the plain text, and JSON of the parts where they are more than that text."""
    text = plain_text(parts)
    only = parts[0] if len(parts) == 1 else None
    if type(only) is Text and only.raw is None:
        return text, None
    return text, msgspec.json.encode(parts).decode()


def plain_parts(parts: Sequence[Part]) -> list[dict[str, object]]:
    """Return plain JSON data, from which `parts_from` reads these parts."""
    plain: list[dict[str, object]] = msgspec.to_builtins(parts)
    return plain


def unpack(text: str, parts: str | None) -> tuple[Part, ...]:
    """Return the parts that `pack` was given."""
    return (Text(text=text),) if parts is None else _read_parts(parts)


def parts_from(items: object) -> tuple[Part, ...]:
    """Read parts from plain JSON data, or say which of them is wrong."""
    if not isinstance(items, list):
        raise Invalid("The parts of a message are a list")
    return convert(items, tuple[Part, ...], "parts")
