"""The agent protocol: whoever answers a turn."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from threadline.core.context import Context, Trigger
from threadline.core.message import BlobHash, Message, NewMessage
from threadline.core.session import Session
from threadline.core.turn import Turn
from threadline.core.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of text as it is made; the pieces since the last message become one in the end."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something a person must decide before the agent can go on. The turn waits for the answer."""

    text: str


Output: TypeAlias = Piece | NewMessage | Usage | Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
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


class Agent(Protocol):
    """Answers one turn at a time for each session, and stores nothing."""

    def answer(self, request: Request) -> AsyncIterator[Output]:
        """Yield the answer as it comes.

        Yield `Piece`s while text is being made, or whole messages, or both: a message replaces
        the pieces before it. Yield `Usage` whenever a model was paid for. After a `Question`
        nothing more is asked of this iterator: the turn waits, and comes back as a new request
        whose turn carries the answer. Raise to fail the turn. A cancelled answer must end at
        once.
        """
        ...
