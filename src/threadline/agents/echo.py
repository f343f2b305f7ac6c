"""The echo: an agent that needs no model, no key and no network."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta

from threadline.agents.transcript import render_lines
from threadline.core.agent import Output, Question, Request, TextDelta
from threadline.core.errors import AgentError
from threadline.core.message import Attachment, Message, Role
from threadline.core.session import Session
from threadline.core.summarizer import SummarizerOutput
from threadline.core.system_notes import SUMMARY_LIMIT
from threadline.core.turn import TurnId
from threadline.core.usage import Usage
from threadline.core.validation import FIRST_WORDS, clean_title

QUOTE_LIMIT = 400
_PIECES = re.compile(r"\S+\s*|\s+")
_WORD = re.compile(r"\w+")
_SLOW_STEPS = 20
_TITLE_WORDS = 7
_LINE_LIMIT = 200
"""Characters of a line that a summary keeps."""


class Echo:
    """Says back what it heard, piece by piece, and counts along; the same words, the same answer.

    A message whose first word is one of these makes it behave in a way worth trying:

    - `slow`: it counts to twenty, in about ten seconds, so that it can be stopped, steered with
      further messages, or killed;
    - `fail`: it begins to answer and then breaks off with an error;
    - `ask`: it asks a question, waits for the answer, and says what it was told.
    """

    def __init__(
        self,
        *,
        pause: timedelta = timedelta(milliseconds=15),
        long_pause: timedelta = timedelta(milliseconds=500),
    ) -> None:
        """Choose how long it rests after each piece, and after each number when it is slow."""
        self._pause = pause.total_seconds()
        self._long_pause = long_pause.total_seconds()

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer one turn."""
        said = 0
        async with aclosing(self._speak(request)) as outputs:
            async for output in outputs:
                said += len(output.text.split()) if isinstance(output, TextDelta) else 0
                yield output
        heard = sum(len(message.text.split()) for message in request.history)
        yield Usage(provider="echo", model="echo", input_tokens=heard, output_tokens=said)

    def _speak(self, request: Request) -> AsyncGenerator[Output, None]:
        asked = _asked(request.history, request.turn.id)
        words = _WORD.search(asked[-1].text.lower()) if asked else None
        match words and words[0], request.turn.answer:
            case "slow", _:
                return self._count(request)
            case "fail", _:
                return self._break_off()
            case "ask", None:
                return _ask()
            case "ask", str() as told:
                return self._stream(f"I asked, and you answered {_quote(told)}.")
            case _:
                return self._stream(_echo(request, asked))

    async def _stream(self, text: str) -> AsyncGenerator[Output, None]:
        for piece in _PIECES.findall(text):
            yield TextDelta(text=piece)
            await asyncio.sleep(self._pause)

    async def _count(self, request: Request) -> AsyncGenerator[Output, None]:
        yield TextDelta(text="Slowly, then:")
        for number in range(1, _SLOW_STEPS + 1):
            await asyncio.sleep(self._long_pause)
            yield TextDelta(text=f" {number}")
            for message in await request.steering():
                yield TextDelta(text=f" (you added: {_quote(message.text)})")
        yield TextDelta(text=". Done.")

    async def _break_off(self) -> AsyncGenerator[Output, None]:
        for piece in ("I ", "will ", "try, ", "but"):
            yield TextDelta(text=piece)
            await asyncio.sleep(self._pause)
        raise AgentError("The echo was asked to fail, and did", hint="Say something else")


class EchoSummarizer:
    """Names conversations by their first words, and sums them up by quoting them."""

    def window(self, session: Session) -> int | None:
        """Know no limit: the echo reads whatever it is given."""
        return None

    async def write_title(self, session: Session, lines: Sequence[Message]) -> SummarizerOutput:
        """Take the first words that somebody said."""
        said = (clean_title(line.text, _LINE_LIMIT) for line in lines if line.role is Role.USER)
        first = next(filter(None, said), "")
        if not first:
            raise AgentError("There is nothing to name in this conversation", id=session.id)
        words = " ".join(first.split()[:_TITLE_WORDS])
        return SummarizerOutput(text=clean_title(words, FIRST_WORDS).rstrip(".,;:!?… "))

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> SummarizerOutput:
        """Quote every line shortly, but wholly what speaks of the focus; the newest outlast."""
        whole = [" ".join(line.split()) for line in render_lines(lines, SUMMARY_LIMIT // 4)]
        wanted = set(_WORD.findall(focus.lower()))
        kept = [
            line if wanted & set(_WORD.findall(line.lower())) else _shorten(line) for line in whole
        ]
        summary = _fit([f"- {line}" for line in kept])
        if not summary:
            raise AgentError("There is nothing to sum up in this conversation", id=session.id)
        return SummarizerOutput(text=summary)


async def _ask() -> AsyncGenerator[Output, None]:
    yield Question(text="Shall I go on?")


def _asked(history: Sequence[Message], turn_id: TurnId) -> list[Message]:
    """Find the messages that this turn has to answer; asked once more, it has none of its own."""
    spoken = [line for line in history if line.role is Role.USER]
    own = [line for line in spoken if line.turn_id == turn_id]
    return own or [line for line in spoken if line.turn_id == spoken[-1].turn_id]


def _echo(request: Request, asked: Sequence[Message]) -> str:
    heard = " and ".join(_quote(message.text) for message in asked if message.text)
    files = sum(isinstance(part, Attachment) for message in asked for part in message.parts)
    sentences = ["I was cut off; here I am again."] if request.turn.attempts > 1 else []
    sentences.append(f"You said {heard}." if heard else "You said nothing that I could read.")
    if files:
        sentences.append(f"You sent {files} attachment{'s' if files > 1 else ''} along.")
    count = sum(message.role is Role.USER for message in request.history)
    sentences.append(f"That is message {count} of our conversation.")
    return " ".join(sentences)


def _quote(text: str) -> str:
    shown = text if len(text) <= QUOTE_LIMIT else f"{text[:QUOTE_LIMIT]}…"
    return f"“{shown}”"


def _shorten(line: str) -> str:
    return line if len(line) <= _LINE_LIMIT else f"{line[:_LINE_LIMIT]}…"


def _fit(lines: Sequence[str]) -> str:
    """Keep as many of the last lines as a summary may have, and say how many are missing."""
    room, kept = SUMMARY_LIMIT - 100, 0
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0:
            break
        kept += 1
    missing = len(lines) - kept
    head = [f"- ({missing} earlier lines are left out)"] if missing else []
    return "\n".join([*head, *lines[missing:]])
