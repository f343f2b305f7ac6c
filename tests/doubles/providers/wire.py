"""What all providers have in common: a request, an answer in one piece or as events, an error."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias

from tests.doubles.providers.script import (
    Error,
    Fails,
    OutOfCredit,
    Overloaded,
    RateLimited,
    Reply,
    TooLong,
    Trouble,
    Unauthorised,
)

Json: TypeAlias = dict[str, Any]
"""Other people's JSON, of which we know only a part."""
KEY = "key"
"""What is quoted of a key that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came over the wire."""

    path: str
    headers: Mapping[str, str]
    """By names in small letters."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def json(self) -> Json:
        """What the body says."""
        read = json.loads(self.body)
        if not isinstance(read, dict):
            raise Objection("The body of a request must be a JSON object.")
        return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request wants, in words that are the same for all providers."""

    model: str
    number: int
    """Which request it is; ids are made of it."""
    streams: bool
    text: str
    """The last words of the user."""
    received: Received

    @property
    def json(self) -> Json:
        """The request in the provider's own words."""
        return self.received.json


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An error as it goes over the wire."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


class Objection(Exception):
    """The request breaks a rule of the provider."""

    def __init__(self, message: str, *, code: str | None = None, param: str | None = None) -> None:
        """Say which, in the provider's own words."""
        super().__init__(message)
        self.message = message
        self.code = code
        self.param = param


Frames: TypeAlias = Iterator[bytes | Error | Trouble]
"""A stream as it goes over the wire, with what goes wrong where it does."""


class Wire(Protocol):
    """The language of a provider."""

    garbage: ClassVar[bytes]
    """An event that nobody can read."""

    def key(self, received: Received) -> str | None:
        """Find the key that was sent, or None."""
        ...

    def read(self, received: Received, number: int) -> Asked:
        """Read a request, or raise an `Objection` if the provider would not take it."""
        ...

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """Write an answer in one piece."""
        ...

    def stream(self, reply: Reply, asked: Asked) -> Frames:
        """Write an answer as events."""
        ...

    def refuse(self, error: Error, key: str = KEY) -> Refusal:
        """Write an error."""
        ...

    def object_to(self, objection: Objection) -> Refusal:
        """Write that a rule was broken."""
        ...

    def unknown(self, model: str) -> Refusal:
        """Write that there is no such model."""
        ...

    def breaks(self, error: Error, asked: Asked) -> bytes:
        """Write an error in the middle of a stream."""
        ...


def event(data: Json | str, name: str | None = None) -> bytes:
    """Write a server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode()


GARBAGE = event('{"choices": [{"delta": {"conte')
"""A piece of JSON that ends too early."""


def status_of(error: Error, overloaded: int = 503, unpaid: int = 429) -> int:
    """Answer which HTTP status stands for an error."""
    match error:
        case Overloaded():
            return overloaded
        case RateLimited():
            return 429
        case OutOfCredit():
            return unpaid
        case Unauthorised():
            return 401
        case TooLong():
            return 400
        case Fails(status=status):
            return status


def lines(messages: object) -> list[Json]:
    """Read a list of objects, or object to what it is instead."""
    if not isinstance(messages, list) or not messages:
        raise Objection("The list of messages is empty or no list")
    if not all(isinstance(message, dict) for message in messages):
        raise Objection("Every message must be an object")
    return messages


def texts(content: object, kinds: frozenset[str] = frozenset({"text", "input_text"})) -> str:
    """Read the text of a content, which is a text itself or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") in kinds and "text" in part
    )
