"""An actor: an agent that does as it is told, so that a walk can see all that agents do.

The first word names the act; words without one are answered.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from threadline.core.agent import Output, Question, ReasoningDelta, Request, TextDelta
from threadline.core.approval import Approval, read_answer
from threadline.core.message import NewMessage, Reasoning, Role, Text, ToolCall, ToolResult, say

Act = Callable[[Request, str], AsyncIterator[Output]]
STORY = "Once upon a time there was a thread."
END = "And it was never cut."


async def answer(request: Request) -> AsyncIterator[Output]:
    """Act by the words that came last."""
    words = request.asked[-1].text.strip()
    name, _, rest = words.partition(" ")
    act = ACTS.get(name)
    async for output in act(request, rest) if act else _answers(words):
        yield output


async def _answers(words: str) -> AsyncIterator[Output]:
    yield say(Role.ASSISTANT, f"I heard: {words}")


async def _tells(_: Request, words: str) -> AsyncIterator[Output]:
    """Say something word by word, each at a moment of its own."""
    yield ReasoningDelta(text="How does it begin?")
    for word in words.split():
        yield TextDelta(text=f"{word} ")
        await asyncio.sleep(0.02)


async def _hangs(request: Request, words: str) -> AsyncIterator[Output]:
    """Begin, and go on only if it was cut off and is asked once more."""
    yield TextDelta(text=f"{STORY} ")
    if request.turn.attempts < 2:
        await asyncio.Event().wait()
    yield TextDelta(text=END)


async def _asks(request: Request, words: str) -> AsyncIterator[Output]:
    """Ask for leave, once more if that is answered by a question, and tell what was decided."""
    if request.turn.answer is None:
        yield Question(text=f"May I {words}?", tools=("bash",))
        return
    approval, said = read_answer(request.turn.answer)
    if said.endswith("?"):
        yield Question(text=f"May I {said}", tools=("bash",))
        return
    done = "Done" if approval is Approval.APPROVED else "Left alone"
    yield say(Role.ASSISTANT, f"{done}: {words}")


async def _works(_: Request, words: str) -> AsyncIterator[Output]:
    """Think, use a tool, and show what it answered."""
    call = ToolCall(id="call-1", name="read_file", arguments='{"path": "notes.md"}')
    yield NewMessage(role=Role.ASSISTANT, parts=(Reasoning(text=f"I look: {words}"), call))
    result = ToolResult(call_id="call-1", text=words)
    yield NewMessage(role=Role.TOOL, parts=(result,))
    yield NewMessage(role=Role.ASSISTANT, parts=(Text(text=f"It says: {words}"),))


async def _pours(_: Request, words: str) -> AsyncIterator[Output]:
    """Say so many lines, one by one, with so many milliseconds between them."""
    lines, pause = (int(word) for word in words.split())
    for number in range(lines):
        yield TextDelta(text=f"Line {number} of a very long answer, with **some** weight.\n\n")
        await asyncio.sleep(pause / 1000)


ACTS: dict[str, Act] = {
    "tell": _tells,
    "hang": _hangs,
    "ask": _asks,
    "work": _works,
    "pour": _pours,
}
