"""The platform protocol: whoever brings in what people say, and carries out what is answered."""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    MutableMapping,
    Sequence,
)
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct, field

from threadline.core.address import Address
from threadline.core.command import Command
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid, PlatformError
from threadline.core.inbound import Inbound
from threadline.core.instructions import Instructions
from threadline.core.message import Attachment, BlobHash, MediaKind, Message
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import checked_count

ReadBlob: TypeAlias = Callable[[BlobHash], AsyncIterator[bytes]]
"""Reads an attachment, piece by piece."""


class Unit(StrEnum):
    """What a platform counts when it limits the length of a text."""

    CHARACTERS = "characters"
    UTF16 = "utf16"
    BYTES = "bytes"


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a platform can do, as data."""

    text_limit: int = 4000
    """How long one message may be."""
    unit: Unit = Unit.CHARACTERS
    """In what that is counted."""
    edits: bool = False
    """A message that was sent can be changed, so that an answer can grow before one's eyes."""
    edit_every: timedelta = timedelta(seconds=1)
    """How often a message may be changed, at most."""
    typing: bool = False
    """It can show that somebody writes."""
    attachments: bool = False
    attachment_limit: int = 20_000_000
    """How many bytes a file may have that is sent there."""
    threads: bool = False
    buttons: bool = False
    """It can show choices to press."""
    idempotent: bool = False
    """The same message, sent twice under one key, is shown once."""
    bubbles: bool = False
    """Every block between blank lines becomes a message of its own."""
    raw_ids: bool = True
    """Who speaks to somebody there needs their id, so that ids may not be hidden from an agent."""
    receives: bool = True
    """Somebody can write from there; a place that only takes what is sent has none to speak to."""
    speaks: bool = True
    """It can say something by itself; else people hear only what answers what they brought."""
    relays: bool = False
    """Whoever connects there has proved who they are, and answers for all senders."""

    def __post_init__(self) -> None:
        """Refuse limits within which nothing could be said."""
        checked_count(self.text_limit, "text_limit", 64)
        checked_count(self.attachment_limit, "attachment_limit")
        if self.edit_every < timedelta(seconds=1):
            raise Invalid("A message may be changed once a second, not more often")


class Choice(Struct, frozen=True, kw_only=True):
    """Something a person can press instead of writing it."""

    label: str
    says: str
    """What is said in their name when they do, such as `/approve`."""


class Outgoing(Struct, frozen=True, kw_only=True):
    """One message to be shown on a platform."""

    address: Address
    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    choices: tuple[Choice, ...] = ()
    reply_to: str | None = None
    key: str
    """The same for every attempt at the same message: an idempotency key, where that is known."""


class SendFailed(PlatformError):
    """A platform did not take a message, or nobody knows whether it did."""

    def __init__(
        self,
        message: str = "",
        *,
        outcome: SendOutcome,
        retry_after: timedelta | None = None,
        id: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Say what went wrong, how that leaves the message, and when to try again."""
        super().__init__(message, id=id, hint=hint)
        self.outcome = outcome
        self.retry_after = retry_after


class ReceiveStatus(StrEnum):
    """How something that a platform brought was received."""

    TAKEN = "taken"
    """It is kept, and is answered if it asks for that."""
    COMMAND = "command"
    """It was a command, and has been carried out, or waits for its turn."""
    REPEATED = "repeated"
    """It had come before, and nothing new was done."""
    REFUSED = "refused"
    """Its sender may not speak here, or it cannot be taken in."""
    LIMITED = "limited"
    """Its sender wrote too much in too short a time."""
    BUSY = "busy"
    """Too many messages wait in its conversation; it was not stored, and may be brought again."""

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was stored, so that the same message may be brought again."""
        return self in {ReceiveStatus.REFUSED, ReceiveStatus.LIMITED, ReceiveStatus.BUSY}


class ReceiveResult(Struct, frozen=True, kw_only=True):
    """What came of something that a platform brought.

    Unless it was refused it is on disk, and the platform may forget it. What was refused is not
    stored: if it is brought again it is judged again.
    """

    reception: ReceiveStatus
    turn_id: TurnId | None = None
    """The turn that answers it."""
    said: str | None = None
    """What was said to it at once: the answer to a command, or why it was refused."""
    retry_after: timedelta | None = None
    """After what time it may be accepted, if it was refused for now."""


class TurnReply(Struct, frozen=True, kw_only=True):
    """What a turn that is over said to people, or what one that waits asks them."""

    state: TurnState
    """`done`, `failed`, `stopped` or `waiting`."""
    lines: Sequence[Message] = ()
    question: str | None = None
    """What it asks, if it waits for an answer."""
    error: str | None = None
    """Why it failed."""


class Receiver(Protocol):
    """Where a platform brings what people say."""

    async def keep(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment, before the message that it belongs to is brought."""
        ...

    async def admits(self, inbound: Inbound) -> bool:
        """Tell whether its sender may speak, before what they sent along is fetched and kept."""
        ...

    async def take(self, inbound: Inbound) -> ReceiveResult:
        """Take in a message, an edit or a deletion.

        When this returns it is on disk, and only then may the platform be told that we have it.
        What cannot be taken in is answered, not raised; only a store that does not work raises
        (`StorageError`): then the platform keeps the message and brings it again.
        """
        ...

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        """Wait for what a turn says to people, or asks them; None: it is not so far yet."""
        ...


class Platform(Protocol):
    """One way to reach people. It knows how to speak there, and nothing about conversations.

    Whatever a platform raises harms nobody else: `run` is begun again after a pause, a failed
    `send` is tried again by the ledger, and the rest is a line in the log.
    """

    @property
    def name(self) -> str:
        """How it is called in addresses and settings."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    @property
    def notes(self) -> str:
        """What an agent should know when it speaks there; empty: nothing special."""
        ...

    async def run(self, gate: Receiver) -> None:
        """Bring in what people say, until cancelled.

        Every message carries the platform's own message id, so that one that is brought twice is
        taken once. Nothing is acknowledged before `gate.take` has returned.
        """
        ...

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show one message; answer the platform's id of it.

        Raise `SendFailed` with what is known of the outcome; any other error counts as ambiguous.
        """
        ...

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Let a message that was sent read differently. Asked only where `edits` is said."""
        ...

    async def show_typing(self, address: Address) -> None:
        """Show for a few seconds that somebody writes. Asked only where `typing` is said."""
        ...

    async def register(self, commands: Sequence[Command]) -> None:
        """Tell the platform which commands there are, where it has a menu for them."""
        ...


@runtime_checkable
class Checked(Protocol):
    """A platform that can tell, before it is served, whether it will work."""

    async def check(self) -> str:
        """Ask the other side who we are there, in a sentence; raise `PlatformError` if in vain."""
        ...


Scope: TypeAlias = MutableMapping[str, object]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, object]]]
Send: TypeAlias = Callable[[MutableMapping[str, object]], Awaitable[None]]


KNOWN_CALLER = "threadline.known_caller"
"""The key of an ASGI scope that is there when the caller has shown a secret that was right."""


@runtime_checkable
class Endpoint(Protocol):
    """A platform that is called over HTTP: an ASGI application below `/platforms/<name>/`.

    The server sets `scope["threadline.profile"]` when the path began with `/p/<profile>/`. The
    platform sets `scope[KNOWN_CALLER]` as soon as it knows that the caller has its secret: requests
    of unknown callers have less time for their bodies, and are dropped when there are too many.
    """

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. It may come before `run` has begun: then it is refused for now."""
        ...


class PlatformDirectory(Struct, frozen=True, kw_only=True):
    """What a gateway knows of the platforms around it, by name, and what it tells of them."""

    capabilities: Mapping[str, Capabilities] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    instructions: tuple[Instructions, ...] = ()
    """What opens the sessions of some chats and topics."""
    homes: tuple[Address, ...] = ()
    """Where unasked messages go, until somebody says otherwise on that platform."""
    redact: bool = False
    """Ids are hidden from agents wherever they can speak to people without knowing them."""
    has_delivery_tools: bool = False
    """Agents have tools that schedule jobs or send to targets, and are told about those."""

    @property
    def spared(self) -> frozenset[str]:
        """The platforms whose ids are shown even so, as mentions need them."""
        return frozenset(name for name, can in self.capabilities.items() if can.raw_ids)
