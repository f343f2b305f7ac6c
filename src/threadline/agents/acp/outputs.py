"""Outputs: what an agent does in its own protocol, as lines of a transcript."""

import json
from collections.abc import Iterator
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ContentToolCallContent,
    FileEditToolCallContent,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
)
from acp.schema import Usage as Spent

from threadline.agents.model.results import storable
from threadline.agents.transcript import shorten
from threadline.core.agent import Output, Piece, Thought
from threadline.core.message import NewMessage, Part, Role, ToolCall, ToolResult, words
from threadline.core.text import ID_LIMIT, clean_title
from threadline.core.usage import Usage

RESULT_LIMIT = 100_000
"""Characters of what a tool answered that are kept."""
_DONE = frozenset({"completed", "failed"})
_LOST = "The agent did not say what came of it."


class Telling:
    """Turns what an agent tells of its work into outputs, and remembers what is still open."""

    def __init__(self) -> None:
        """Begin with nothing told."""
        self.lines = 0
        """The messages that were told so far, and one that is being made."""
        self._said: list[str] = []
        self._open: dict[str, list[str]] = {}
        """What tools said that have not ended."""

    def hear(self, update: object) -> Iterator[Output]:
        """Take in one update; most of them are none of our concern."""
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)) if text:
                self.lines += not self._said
                self._said.append(storable(text))
                yield Piece(text=storable(text))
            case AgentThoughtChunk(content=TextContentBlock(text=text)) if text:
                yield Thought(text=storable(text))
            case ToolCallStart():
                yield from self._begin(update)
                yield from self._go_on(update)
            case ToolCallProgress():
                yield from self._go_on(update)
            case _:
                pass

    def pause(self) -> Iterator[Output]:
        """Make a line of what was said, as somebody is asked before there is more."""
        if self._said:
            yield NewMessage(role=Role.ASSISTANT, parts=self._words())

    def end(self) -> Iterator[Output]:
        """Close what the agent left open."""
        for id in list(self._open):
            yield from self._result(id, is_error=True)

    def _begin(self, call: ToolCallStart) -> Iterator[Output]:
        if call.tool_call_id in self._open:
            return
        self.lines += not self._said
        name = _id(clean_title(call.title or str(call.kind or "tool"))) or "tool"
        arguments = "" if call.raw_input is None else storable(_json(call.raw_input))
        asked = ToolCall(id=_id(call.tool_call_id), name=name, arguments=arguments or "{}")
        self._open[call.tool_call_id] = []
        yield NewMessage(role=Role.ASSISTANT, parts=(*self._words(), asked))

    def _go_on(self, call: ToolCallStart | ToolCallProgress) -> Iterator[Output]:
        if call.tool_call_id not in self._open:
            return
        told = [*map(_content, call.content or ())]
        if not any(told) and call.raw_output is not None:
            told = [_json(call.raw_output)]
        if any(told):
            # Each update tells all there is, not what is new.
            self._open[call.tool_call_id] = [one for one in told if one]
        if call.status in _DONE:
            yield from self._result(call.tool_call_id, is_error=call.status == "failed")

    def _result(self, id: str, *, is_error: bool) -> Iterator[Output]:
        # A line takes the place of the pieces before it, so they become one first.
        yield from self.pause()
        text = "\n".join(self._open.pop(id)) or (_LOST if is_error else "")
        self.lines += 1
        text = shorten(storable(text), RESULT_LIMIT)
        result = ToolResult(call_id=_id(id), text=text, is_error=is_error)
        yield NewMessage(role=Role.TOOL, parts=(result,))

    def _words(self) -> tuple[Part, ...]:
        said, self._said = "".join(self._said), []
        return words(said) if said else ()


def usage_of(spent: Spent, program: str) -> Usage:
    """Answer what a turn spent, as far as the agent tells; what it costs it does not tell."""
    return Usage(
        provider="acp",
        model=program,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cache_read_tokens=spent.cached_read_tokens or 0,
        cache_write_tokens=spent.cached_write_tokens or 0,
        reasoning_tokens=spent.thought_tokens or 0,
    )


def _content(content: object) -> str:
    match content:
        case ContentToolCallContent(content=TextContentBlock(text=text)):
            return text
        case ContentToolCallContent(content=block):
            return f"[{getattr(block, 'type', 'something')}]"
        case FileEditToolCallContent(path=path):
            return f"[changes {path}]"
        case _:
            return ""


def _id(text: str) -> str:
    """Make a name of the agent's fit to be kept."""
    return storable(text).encode()[:ID_LIMIT].decode("utf-8", "ignore")


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
