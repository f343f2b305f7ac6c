"""Agents as users write them, for the tests to load by name."""

from collections.abc import AsyncIterator
from typing import Any

from threadline.core.agent import Output, Request, TextDelta
from threadline.core.message import Role, say
from threadline.core.usage import Usage

NUMBER = 7


def shout(words: str) -> str:
    """Answer the words, louder."""
    return words.upper()


async def whisper(words: str) -> str:
    """Answer the words, more quietly."""
    return words.lower()


async def count(request: Request) -> str:
    """Answer how long the history is."""
    return f"{len(request.history)} lines"


async def spell(words: str) -> AsyncIterator[str]:
    """Answer letter by letter."""
    for letter in words:
        yield letter


async def report(request: Request) -> AsyncIterator[Output]:
    """Answer with all that can be yielded."""
    yield TextDelta(text="so: ")
    yield say(Role.ASSISTANT, f"so: {request.asked[-1].text}")
    yield Usage(provider="mine", model="mine", output_tokens=1)


async def mumble(words: str) -> object:
    """Answer nothing that could be said."""
    return len(words)


def no_argument() -> str:
    """Take nothing."""
    return ""


class Parrot:
    """An agent of its own."""

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Say it back."""
        yield say(Role.ASSISTANT, request.asked[-1].text)


class Caged:
    """An agent that cannot be made out of nothing."""

    def __init__(self, cage: Any) -> None:
        """Need something."""


parrot = Parrot()
