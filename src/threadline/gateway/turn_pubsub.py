"""Turn pubsub: what running turns of this process say, while they say it."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.message import NewMessage, plain_text
from threadline.core.session import SessionId
from threadline.core.turn import Lease, TurnId, TurnState
from threadline.core.validation import TEXT_LIMIT

MOST_WAITING, MOST_CHARACTERS = 1000, 4 * TEXT_LIMIT
"""How many happenings, and characters in them, may wait for a listener."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegun:
    """A turn has begun to run, or goes on after an answer."""

    turn_id: TurnId
    lease: Lease | None = field(default=None, compare=False, repr=False)
    """What proves that it is ours, to whoever carries its answer."""


class Delta(Struct, frozen=True, kw_only=True):
    """Some more text of an answer."""

    turn_id: TurnId
    text: str


class Thinking(Struct, frozen=True, kw_only=True):
    """Some more of what an agent thinks before it speaks; what comes of it is a message."""

    turn_id: TurnId
    text: str


class MessageAdded(Struct, frozen=True, kw_only=True):
    """A whole message; it takes the place of the deltas since the one before it."""

    turn_id: TurnId
    message: NewMessage


class TurnClosed(Struct, frozen=True, kw_only=True):
    """A turn runs no longer, and the store says so too: it has ended, or waits for an answer.

    One that was answered, or is asked again after a crash, begins anew with `TurnBegun`.
    """

    turn_id: TurnId
    state: TurnState
    question: str | None = None
    error: str | None = None


class TurnQuiet(Struct, frozen=True, kw_only=True):
    """A running turn has said nothing for so long that it will be given up if that goes on."""

    turn_id: TurnId
    silence: timedelta
    left: timedelta
    """How much longer it may say nothing."""


Happening: TypeAlias = TurnBegun | Delta | Thinking | MessageAdded | TurnClosed | TurnQuiet


class Missed(Struct, frozen=True):
    """A listener was too slow, and what waited for it was dropped: the store has it."""


class TurnListener:
    """Hears one session, as an asynchronous iterator that ends when its worker does.

    What waits for a slow listener is bounded: once it is too much, all of it is replaced by
    `Missed`, and the listener has to read the store.
    """

    def __init__(self, most: int = MOST_WAITING, characters: int = MOST_CHARACTERS) -> None:
        """Begin with nothing heard; so many happenings and characters of text may wait."""
        self._heard: deque[Happening | Missed] = deque()
        self._most, self._characters = most, characters
        self._length = 0
        self._news = asyncio.Event()
        self._is_over = False

    def hear(self, happening: Happening) -> None:
        """Take in what happened; text that nobody has fetched yet is joined."""
        joined = _join(self._heard[-1], happening) if self._heard else None
        if joined is None:
            self._heard.append(happening)
            self._length += _length(happening)
        else:
            self._length += _length(joined) - _length(self._heard[-1])
            self._heard[-1] = joined
        if len(self._heard) > self._most or self._length > self._characters:
            self._heard.clear()
            self._heard.append(Missed())
            self._length = 0
        self._news.set()

    def end(self) -> None:
        """Hear nothing more."""
        self._is_over = True
        self._news.set()

    def __aiter__(self) -> Self:
        """Iterate over what happens."""
        return self

    async def __anext__(self) -> Happening | Missed:
        """Answer what happened next, as soon as it does."""
        while not self._heard:
            if self._is_over:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        heard = self._heard.popleft()
        self._length -= _length(heard)
        return heard


def _length(happening: Happening | Missed) -> int:
    """Count the characters of text in a happening."""
    match happening:
        case Delta(text=text) | Thinking(text=text):
            return len(text)
        case MessageAdded(message=message):
            return len(plain_text(message.parts))
        case _:
            return 0


def _join(last: Happening | Missed, next: Happening) -> Happening | None:
    """Make one happening of two that go on with the same text; None: they are two."""
    if isinstance(last, Missed) or last.turn_id != next.turn_id:
        return None
    if isinstance(last, Delta) and isinstance(next, Delta):
        return replace(last, text=last.text + next.text)
    if isinstance(last, Thinking) and isinstance(next, Thinking):
        # The length of a thought has no limit, so what nobody fetches loses its beginning.
        return replace(last, text=(last.text + next.text)[-TEXT_LIMIT:])
    return None


class TurnPubSub:
    """Lets anybody in this process listen to its running turns. Nothing here is stored."""

    def __init__(self) -> None:
        """Begin with nobody listening."""
        self._listeners: dict[SessionId, set[TurnListener]] = {}
        self._attending: list[Callable[[Happening], None]] = []
        self._is_over = False

    @contextmanager
    def listen(self, session_id: SessionId) -> Iterator[TurnListener]:
        """Listen to a session from now on, for as long as the context is open."""
        listener = TurnListener()
        if self._is_over:
            listener.end()
        self._listeners.setdefault(session_id, set()).add(listener)
        try:
            yield listener
        finally:
            listeners = self._listeners[session_id]
            listeners.discard(listener)
            if not listeners:
                del self._listeners[session_id]

    @contextmanager
    def attend(self, hear: Callable[[Happening], None]) -> Iterator[None]:
        """Hear all sessions, at once and without a queue, for as long as the context is open.

        Nothing is kept for a listener here: what it does not need it does not keep either.
        """
        self._attending.append(hear)
        try:
            yield
        finally:
            self._attending.remove(hear)

    def publish(self, session_id: SessionId, happening: Happening) -> None:
        """Tell everybody who listens to a session, or to all."""
        for hear in self._attending:
            hear(happening)
        for listener in self._listeners.get(session_id, ()):
            listener.hear(happening)

    def close(self) -> None:
        """Let all listeners end, now and later."""
        self._is_over = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.end()
