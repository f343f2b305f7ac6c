"""What a provider is told to answer, in words that no provider has for itself."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

PIECES = 3
"""In how many pieces something is streamed, if nobody says."""


@dataclass(frozen=True, slots=True)
class Says:
    """Say something, piece by piece if a stream was asked for."""

    text: str
    chunks: int = PIECES


@dataclass(frozen=True, slots=True)
class Thinks:
    """Think something: a summary that can be read, and a seal under which it must come back."""

    text: str = ""
    seal: str | None = None
    """Signature, encrypted content or thought signature; None: one that is made of the text."""
    chunks: int = PIECES

    @property
    def sealed(self) -> str:
        """The seal under which it is given out."""
        return self.seal or seal_of(self.text)


@dataclass(frozen=True, slots=True)
class Redacts:
    """Think something that nobody may read; providers that know no such thing give a bare seal."""

    seal: str = "cmVkYWN0ZWQ="


@dataclass(frozen=True, slots=True, init=False)
class Calls:
    """Call tools, all of them at once: `Calls(("add", {"a": 1}), ("now", {}))`.

    Arguments that are a text are given out as they are, even if they are no JSON.
    """

    tools: tuple[tuple[str, str], ...]

    def __init__(self, *tools: tuple[str, Mapping[str, object] | str]) -> None:
        """Name each tool with its arguments."""
        written = tuple((name, _written(arguments)) for name, arguments in tools)
        object.__setattr__(self, "tools", written)


@dataclass(frozen=True, slots=True)
class Refuses:
    """Refuse to answer, with words or by a filter that gives none."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class RunsOut:
    """End because as many tokens were made as may be."""


@dataclass(frozen=True, slots=True)
class Spends:
    """Report so many tokens; else they are counted by the length of what was said."""

    input: int
    output: int
    cache_read: int = 0
    """Of the input, those that were read from a cache."""
    cache_write: int = 0
    """Of the input, those that were written to one."""
    reasoning: int = 0
    """Of the output, those that were thought."""
    cost: float | None = None
    """Dollars, where the provider tells them."""


@dataclass(frozen=True, slots=True)
class Hangs:
    """Say nothing more until the test says `goes_on`."""


@dataclass(frozen=True, slots=True)
class Disconnects:
    """Cut the connection: at once, or after some words."""

    after: str = ""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Send what nobody can read: at once, or after some words."""

    after: str = ""


@dataclass(frozen=True, slots=True)
class Overloaded:
    """Have too much to do."""


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Ask to be asked less often."""

    retry_after: float = 1


@dataclass(frozen=True, slots=True)
class OutOfCredit:
    """Have been paid for less than was asked; asking again does not help."""


@dataclass(frozen=True, slots=True)
class Unauthorised:
    """Not know the key, and quote it."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """Be given more than can be read at once."""


@dataclass(frozen=True, slots=True)
class Fails:
    """Answer with an HTTP status, as the provider words it."""

    status: int = 500


Word: TypeAlias = Says | Thinks | Redacts | Calls | Refuses | RunsOut
Error: TypeAlias = Overloaded | RateLimited | OutOfCredit | Unauthorised | TooLong | Fails
Trouble: TypeAlias = Hangs | Disconnects | Malformed
Step: TypeAlias = Word | Spends | Error | Trouble


@dataclass(frozen=True, slots=True, init=False)
class Reply:
    """One answer: what is said, what it costs, and what goes wrong on the way."""

    steps: tuple[Word | Error | Trouble, ...]
    spent: Spends | None

    def __init__(self, *steps: Step) -> None:
        """Put the steps in order."""
        spent = [step for step in steps if isinstance(step, Spends)]
        object.__setattr__(self, "spent", spent[-1] if spent else None)
        object.__setattr__(self, "steps", tuple(_told(steps)))

    @property
    def words(self) -> tuple[Word, ...]:
        """What is said, whatever goes wrong."""
        return tuple(step for step in self.steps if isinstance(step, Word))

    def spends(self, asked: int) -> Spends:
        """Answer how many tokens are reported for a request with so many characters."""
        if self.spent is not None:
            return self.spent
        made = sum(len(_heard(word)) for word in self.words)
        thought = sum(len(word.text) for word in self.words if isinstance(word, Thinks))
        return Spends(tokens(asked), tokens(made), reasoning=tokens(thought) if thought else 0)


def _told(steps: Sequence[Step]) -> Iterator[Word | Error | Trouble]:
    """Say the words after which something goes wrong before it does."""
    for step in steps:
        if isinstance(step, Disconnects | Malformed) and step.after:
            yield Says(step.after)
            yield type(step)()
        elif not isinstance(step, Spends):
            yield step


def _heard(word: Word) -> str:
    match word:
        case Says(text=text) | Thinks(text=text) | Refuses(text=text):
            return text
        case Calls(tools=tools):
            return "".join(name + arguments for name, arguments in tools)
        case _:
            return ""


def tokens(characters: int) -> int:
    """Guess how many tokens a text has; never none."""
    return max(1, characters // 4)


def cut(text: str, chunks: int) -> list[str]:
    """Cut a text into so many pieces of about the same length, or fewer if it is short."""
    size = max(1, -(-len(text) // max(1, chunks)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def seal_of(text: str) -> str:
    """Make a seal of a thought; it is base64, as every provider's is."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _written(arguments: Mapping[str, object] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
