"""A message: one line of a transcript, made of parts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, NewType, TypeAlias

from threadline.core.errors import Invalid
from threadline.core.revision import revision_of
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import TurnId
from threadline.core.unchecked import trusting
from threadline.core.validation import (
    TEXT_LIMIT,
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_text,
    checked_type,
    unfit,
)

MessageKey = NewType("MessageKey", int)
BlobHash = NewType("BlobHash", str)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words."""

    type: ClassVar[str] = "text"
    text: str
    raw: str | None = None
    """What else the provider said of them, verbatim, so that a replay is identical."""

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_text(self.text, "text")
        _check_raw(self.raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An image, a file or a sound, kept as a blob under its content hash."""

    type: ClassVar[str] = "attachment"
    kind: MediaKind
    blob: BlobHash
    media_type: str
    size: int
    name: str | None = None

    def __post_init__(self) -> None:
        """Refuse a hash that is none, and a name that no file could have."""
        object.__setattr__(self, "kind", checked_choice(self.kind, "kind", MediaKind))
        checked_hash(self.blob)
        checked_id(self.media_type, "media type")
        checked_count(self.size, "size")
        if self.name is not None:
            checked_id(self.name, "file name")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The agent asks for a tool; the arguments are the provider's JSON, verbatim."""

    type: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments: str
    raw: str | None = None
    """What else the provider said of it, verbatim, so that a replay is identical."""

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_id(self.id, "tool call id")
        checked_id(self.name, "tool name")
        checked_text(self.arguments, "tool arguments")
        _check_raw(self.raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered to one call."""

    type: ClassVar[str] = "tool_result"
    call_id: str
    text: str
    is_error: bool = False

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_id(self.call_id, "tool call id")
        checked_text(self.text, "tool result")
        checked_flag(self.is_error, "is_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """The model's thoughts, with the provider's own item verbatim so that a replay is identical."""

    type: ClassVar[str] = "reasoning"
    text: str = ""
    raw: str | None = None

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_text(self.text, "reasoning")
        _check_raw(self.raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A visible trace of something that went wrong, and why."""

    type: ClassVar[str] = "marker"
    kind: MarkerKind
    text: str

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_text(self.text, "marker")
        object.__setattr__(self, "kind", checked_choice(self.kind, "kind", MarkerKind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A reference to a message, or to a session as a whole; it survives export and import."""

    session_id: SessionId
    seq: int | None = None
    """The sequence number of the message; None: the whole session."""

    def __post_init__(self) -> None:
        """Refuse what cannot refer to anything."""
        checked_session_id(self.session_id)
        if self.seq is not None:
            checked_count(self.seq, "sequence number", 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note for the agent that quotes messages, or says what happened to one.

    What it quotes decides when it is deleted; its text decides nothing.
    """

    type: ClassVar[str] = "note"
    kind: NoteKind
    text: str
    quotes: tuple[Quote, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_text(self.text, "note")
        object.__setattr__(self, "kind", checked_choice(self.kind, "kind", NoteKind))
        if len(checked_type(self.quotes, "quotes", tuple)) > QUOTES_LIMIT:
            raise Invalid(f"A note quotes at most {QUOTES_LIMIT:,} messages")
        for quote in self.quotes:
            checked_type(quote, "quote", Quote)


Part: TypeAlias = Text | Attachment | ToolCall | ToolResult | Reasoning | Marker | Note

_TYPES: dict[str, type[Part]] = {
    part.type: part for part in (Text, Attachment, ToolCall, ToolResult, Reasoning, Marker, Note)
}
# What a store gives back was checked on its way in, and may be long.
_Words = trusting(Text)
_KEPT: dict[str, type[Part]] = {name: trusting(part) for name, part in _TYPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message that is not yet in a transcript."""

    role: Role
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        """Refuse an unknown role, no parts, or too many."""
        if not isinstance(self.role, Role):
            raise Invalid(f"{str(self.role)[:40]!r} is no role", hint=f"One of: {', '.join(Role)}")
        checked_parts(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
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
        if type(part) not in _TYPES.values():
            raise Invalid(f"{type(part).__name__} is no part of a message")
    return parts


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
    """Answer the plain text, and JSON of the parts where they are more than that text."""
    text = plain_text(parts)
    only = parts[0] if len(parts) == 1 else None
    if type(only) is Text and only.raw is None:
        return text, None
    return text, json.dumps(plain_parts(parts), ensure_ascii=False)


def plain_parts(parts: Sequence[Part]) -> list[dict[str, object]]:
    """Answer plain JSON data, from which `parts_from` reads these parts."""
    return [_as_dict(part) for part in parts]


def unpack(text: str, parts: str | None) -> tuple[Part, ...]:
    """Answer the parts that `pack` was given."""
    if parts is None:
        return (_Words(text=text),)
    return _parts_from(json.loads(parts), _KEPT)


def parts_from(items: object) -> tuple[Part, ...]:
    """Read parts from plain JSON data, or say which of them is wrong."""
    return _parts_from(items, _TYPES)


def _parts_from(items: object, kinds: Mapping[str, type[Part]]) -> tuple[Part, ...]:
    if not isinstance(items, list):
        raise Invalid("The parts of a message are a list")
    return tuple(_part_from(item, kinds) for item in items)


def _check_raw(raw: str | None) -> None:
    if raw is not None:
        checked_text(raw, "raw item of a provider")


def _as_dict(part: Part) -> dict[str, object]:
    fields: dict[str, object] = {"type": part.type}
    for name in part.__slots__:
        value = getattr(part, name)
        if isinstance(part, Note) and name == "quotes":
            value = [_as_reference(quote) for quote in part.quotes] or None
        if value is not None:
            fields[name] = value
    return fields


def _as_reference(quote: Quote) -> dict[str, object]:
    whole: dict[str, object] = {"session_id": quote.session_id}
    return whole if quote.seq is None else {**whole, "seq": quote.seq}


def _part_from(item: object, kinds: Mapping[str, type[Part]]) -> Part:
    if not isinstance(item, dict):
        raise Invalid(f"A part is an object, not {type(item).__name__}")
    fields = dict(item)
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in _TYPES:
        raise Invalid(f"{str(kind)[:40]!r} is no type of part", hint=f"One of: {', '.join(_TYPES)}")
    try:
        if kind == "attachment":
            fields["kind"] = MediaKind(fields["kind"])
        if kind == "marker":
            fields["kind"] = MarkerKind(fields["kind"])
        if kind == "note":
            fields["kind"] = NoteKind(fields["kind"])
            fields["quotes"] = tuple(Quote(**quote) for quote in fields.get("quotes", ()))
        return kinds[kind](**fields)
    except (TypeError, KeyError, ValueError) as error:
        raise Invalid(f"A {kind} part is malformed: {error}") from error
