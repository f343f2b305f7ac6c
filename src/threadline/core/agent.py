"""The agent protocol: whoever answers a turn."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from threadline.core.context import Context, Trigger
from threadline.core.message import BlobHash, Message, NewMessage, Role
from threadline.core.session import Session
from threadline.core.turn import Turn
from threadline.core.usage import Usage
from threadline.core.validation import checked_text

MEMORY_LIMIT = 64_000
"""Characters that an agent may have kept for a session."""


class TextDelta(Struct, frozen=True, kw_only=True):
    """A piece of text as it is made; the pieces since the last message become one in the end."""

    text: str


class ReasoningDelta(Struct, frozen=True, kw_only=True):
    """A piece of reasoning as it is made: shown while it is thought, and kept by nobody.

    What is to be kept of it stands in the message that comes of it.
    """

    text: str


class Question(Struct, frozen=True, kw_only=True):
    """Something a person must decide before the agent can go on. The turn waits for the answer."""

    text: str
    tools: tuple[str, ...] = ()
    """The tools that it asks leave for, so that it can be given for longer than this once."""
    reads_only: bool = False
    """The tools change nothing, so the sender whose message is answered may approve them."""


class Memory(Struct, frozen=True, kw_only=True):
    """What the agent wants to be given back with the next request of this session.

    It takes the place of what was kept before. It is no part of the transcript, nobody is shown
    it, and a secret does not belong into it.
    """

    text: str

    def __post_init__(self) -> None:
        """Refuse what a database could not keep."""
        checked_text(self.text, "memory of the agent", MEMORY_LIMIT)


Output: TypeAlias = TextDelta | ReasoningDelta | NewMessage | Usage | Question | Memory


class Request(Struct, frozen=True, kw_only=True):
    """Everything an agent is given for one turn."""

    session: Session
    turn: Turn
    history: Sequence[Message]
    """The transcript, with the message to answer at its end."""
    steering: Callable[[], Awaitable[Sequence[Message]]]
    """Gives what was said to the running agent since it was last asked."""
    read_blob: Callable[[BlobHash], AsyncIterator[bytes]]
    context: Context
    """Where the agent speaks and to whom: the same from turn to turn, so that caches hold."""
    instructions: str
    """The context as text, for the system prompt."""
    trigger: Trigger
    """What is new with this turn: it belongs beside the message, not into the system prompt."""
    ask: Callable[[Question], Awaitable[str]]
    """Asks a person and waits for the answer, while the agent stays as it is.

    For an agent that cannot be begun anew: after a crash the turn is, and asks again. Every other
    agent yields its `Question`, and holds nothing while it waits. The pieces before it become a
    message, which no later one may say again.
    """
    memory: str | None = None
    """What the agent asked to be given back, when it last answered in this session."""
    allowed: frozenset[str] = frozenset()
    """The tools for which leave was given before: in this session, or for always."""

    @property
    def asked(self) -> list[Message]:
        """The messages that this turn has to answer; asked once more, it has none of its own."""
        spoken = [line for line in self.history if line.role is Role.USER]
        own = [line for line in spoken if line.turn_id == self.turn.id]
        return own or [line for line in spoken if line.turn_id == spoken[-1].turn_id]


class Agent(Protocol):
    """Answers one turn at a time for each session, and stores nothing."""

    def answer(self, request: Request) -> AsyncIterator[Output]:
        """Yield the answer as it comes.

        Yield `TextDelta`s while text is being made, or whole messages, or both: a message replaces
        the pieces before it. Yield `Usage` whenever a model was paid for, `ReasoningDelta`s while
        nothing
        can be said yet, and a `Memory` if something is to be known again. After a `Question`
        nothing more is asked of this iterator: the turn waits, and comes back as a new request
        whose turn carries the answer. Raise to fail the turn. A cancelled answer must end at
        once.
        """
        ...
