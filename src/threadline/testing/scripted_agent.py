"""A scripted agent: says what a test tells it to say, and remembers everything it was shown."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from threadline.core.agent import Memory, Output, Question, ReasoningDelta, Request, TextDelta
from threadline.core.errors import AgentError, ContextFull
from threadline.core.message import Message, Role, say
from threadline.core.turn import TurnId
from threadline.core.usage import Usage

OK = "ok"
"""What it says when nobody told it what to say."""


class Says(Struct, frozen=True):
    """Say something as a whole message."""

    text: str


class Streams(Struct, frozen=True):
    """Say something piece by piece."""

    text: str


class Asks(Struct, frozen=True):
    """Ask a question; what comes after the answer is a new request, with its own script."""

    text: str
    tools: tuple[str, ...] = ()
    reads_only: bool = False


class AsksLive(Struct, frozen=True):
    """Ask a question and wait for its answer; the script goes on after that."""

    text: str
    tools: tuple[str, ...] = ()


class Thinks(Struct, frozen=True):
    """Think something before the eyes of whoever watches."""

    text: str


class Remembers(Struct, frozen=True):
    """Ask to be given something back with the next request."""

    text: str


class Fails(Struct, frozen=True):
    """Break off with an error."""

    why: str = "I cannot go on"


class Overflows(Struct, frozen=True):
    """Break off because the conversation is longer than the model can read."""


class Spends(Struct, frozen=True):
    """Report what a model spent."""

    usage: Usage


class Hangs(Struct, frozen=True):
    """Wait until the test says `goes_on`, or until the turn is cancelled."""


class TakesSteering(Struct, frozen=True):
    """Ask what was said to the running turn meanwhile."""


Step: TypeAlias = (
    Says
    | Streams
    | Asks
    | AsksLive
    | Thinks
    | Remembers
    | Fails
    | Overflows
    | Spends
    | Hangs
    | TakesSteering
)


class ScriptedAgent:
    """Answers by a script: `agent.will(Streams("Once upon"), Hangs(), Says("the end"))`.

    Each `will` is one answer, in the order of the requests; without one the answer is “ok”.
    """

    def __init__(self) -> None:
        """Begin with an empty script."""
        self.requests: list[Request] = []
        """Every request, in order."""
        self.steered: list[Message] = []
        """What it was told while it ran."""
        self.answers: list[str] = []
        """What it was answered while it waited."""
        self._asking: set[TurnId] = set()
        self._script: deque[tuple[Step, ...]] = deque()
        self._parked: dict[TurnId, asyncio.Event] = {}
        self.cancelled: list[TurnId] = []
        """The turns that were taken from it while it answered."""

    def will(self, *steps: Step) -> None:
        """Write the script of one more answer."""
        self._script.append(steps)

    def goes_on(self) -> None:
        """Let everything go on that hangs."""
        for event in self._parked.values():
            event.set()

    @property
    def parked(self) -> frozenset[TurnId]:
        """The turns that hang, or wait for the answer to a question."""
        hanging = (turn_id for turn_id, event in self._parked.items() if not event.is_set())
        return self.asking.union(hanging)

    @property
    def asking(self) -> frozenset[TurnId]:
        """The turns that wait for the answer to a question, while they go on."""
        return frozenset(self._asking)

    @property
    def last(self) -> Request:
        """The latest request."""
        assert self.requests, "the agent was never asked"
        return self.requests[-1]

    def lines(self, *roles: Role) -> list[str]:
        """Answer the lines of the latest request's history, those of some roles or all."""
        return [line.text for line in self.last.history if not roles or line.role in roles]

    def saw_only(self, *texts: str) -> bool:
        """Tell whether these are all the user messages that it was shown last."""
        return self.lines(Role.USER) == list(texts)

    def was_told(self, words: str) -> bool:
        """Tell whether a note to the agent in the latest request has these words."""
        return any(words in line for line in self.lines(Role.SYSTEM))

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer one turn by the next part of the script."""
        self.requests.append(request)
        steps = self._script.popleft() if self._script else (Says(OK),)
        try:
            for step in steps:
                for output in await self._do(step, request):
                    yield output
        except asyncio.CancelledError:
            self.cancelled.append(request.turn.id)
            raise

    async def _do(self, step: Step, request: Request) -> Sequence[Output]:
        match step:
            case AsksLive(text, tools):
                await self._ask(Question(text=text, tools=tools), request)
            case Fails(why):
                raise AgentError(why)
            case Overflows():
                raise ContextFull
            case Hangs():
                await self._hang(request.turn.id)
            case TakesSteering():
                self.steered += await request.steering()
            case _:
                return _outputs_of(step)
        return []

    async def _ask(self, question: Question, request: Request) -> None:
        self._asking.add(request.turn.id)
        try:
            self.answers.append(await request.ask(question))
        finally:
            self._asking.discard(request.turn.id)

    async def _hang(self, turn_id: TurnId) -> None:
        event = self._parked[turn_id] = asyncio.Event()
        try:
            await event.wait()
        finally:
            if self._parked.get(turn_id) is event:
                del self._parked[turn_id]


def _outputs_of(step: Says | Streams | Asks | Thinks | Remembers | Spends) -> Sequence[Output]:
    """Make the outputs of a step that does nothing but yield."""
    match step:
        case Says(text):
            return [say(Role.ASSISTANT, text)]
        case Streams(text):
            return [TextDelta(text=character) for character in text]
        case Asks(text, tools, reads_only):
            return [Question(text=text, tools=tools, reads_only=reads_only)]
        case Thinks(text):
            return [ReasoningDelta(text=character) for character in text]
        case Remembers(text):
            return [Memory(text=text)]
        case Spends(usage):
            return [usage]
