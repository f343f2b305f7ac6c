"""Updates of an ACP agent, as messages of a transcript."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ContentToolCallContent,
    FileEditToolCallContent,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UserMessageChunk,
)
from acp.schema import Usage as Spent

from threadline.agents.acp.permissions import CallUpdate, merge, write_diff
from threadline.agents.model.tool_results import storable
from threadline.agents.transcript import keep_beginning
from threadline.core.agent import Output, ReasoningDelta, TextDelta
from threadline.core.message import (
    Message,
    NewMessage,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    words,
)
from threadline.core.usage import Usage
from threadline.core.validation import ID_LIMIT, clean_title

RESULT_LIMIT = 100_000
"""Characters of a tool's result that are stored."""
_DONE = frozenset({"completed", "failed"})
_LOST = "The agent did not say what came of it."
_UNREPORTED = "The agent reported no result for this request."
_DENIED = "Permission was denied."


class Replay:
    """Recognises what an agent repeats of a conversation that it has loaded.

    An agent replays the history after `session/load`, and may go on while the next prompt is
    already under way. A replay begins with a message of the user, and comes in the order in which
    it was said. The agent may remember more than we do: what was cut off, for example. Text
    after the prompt that only begins like a text of the history is held back until the rest comes.
    """

    def __init__(self, history: Sequence[Message] = ()) -> None:
        """Expect a replay of this history."""
        self._has_begun = False
        self._is_inside = False
        """Whether a text was repeated only in part so far."""
        self._texts = [
            text
            for message in history
            if message.role is Role.ASSISTANT
            for part in message.parts
            if isinstance(part, Text) and (text := _folded(part.text))
        ]
        self._calls = {
            part.id for message in history for part in message.parts if isinstance(part, ToolCall)
        }
        self._held: list[str] = []
        self._freed: list[str] = []
        self._repeated: list[str] = []

    @property
    def is_over(self) -> bool:
        """Whether the last text of the history was repeated."""
        return not self._texts

    def skip(self, update: object) -> None:
        """Take in an update that comes before the prompt: whatever it says, it is no answer."""
        match update:
            case UserMessageChunk():
                self._has_begun = True
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._advance(_folded(storable(text)))
            case _:
                pass

    def has(self, update: object) -> bool:
        """Return whether an update that comes after the prompt is part of the replay."""
        match update:
            case UserMessageChunk():
                is_repeated = self._has_begun = True
            case ToolCallStart() | ToolCallProgress():
                is_repeated = self._has_begun and _id(update.tool_call_id) in self._calls
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                is_repeated = self._has_begun and self._advance(_folded(storable(text)))
                if is_repeated:
                    self._hold(storable(text))
            case _:
                return False
        if not is_repeated:
            self.end()
        return is_repeated

    def end(self) -> None:
        """Note that the replay is over."""
        self._texts, self._calls = [], set()
        self._freed, self._held = [*self._freed, *self._held], []

    def free(self) -> str:
        """Return text that was held back and turned out to be no replay."""
        text, self._freed = "".join(self._freed), []
        return text

    def rest(self) -> str:
        """Return the text that was held back to the end; without any, what was left out."""
        return "".join(self._held or self._repeated)

    def _hold(self, text: str) -> None:
        self._held.append(text)
        if not self._is_inside:
            self._repeated, self._held = [*self._repeated, *self._held], []

    def _advance(self, said: str) -> bool:
        for n, text in enumerate(self._texts):
            if said and text.startswith(said):
                rest = text[len(said) :]
                self._is_inside = bool(rest)
                self._texts = [*filter(None, [rest]), *self._texts[n + 1 :]]
                return True
        return False


@dataclass(slots=True)
class _ToolCall:
    """What the agent has said so far of one tool call."""

    whole: ToolCallUpdate | None = None
    title: str = ""
    arguments: object = None
    edits: list[FileEditToolCallContent] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    """What a terminal of the agent printed, piece by piece."""
    is_reported: bool = False
    """Whether the agent has said more about it than to ask for permission."""
    is_pending: bool = False
    """Whether it has yet to begin: until then its input may be incomplete."""
    is_denied: bool = False
    is_shown: bool = False
    """Whether it is in the transcript. What is in there does not change any more."""

    def update(self, told: CallUpdate) -> None:
        """Take in an update. Each one has all there is, not what is new."""
        self.whole = merge(self.whole, told)
        self.title = told.title or self.title or str(told.kind or "")
        if told.status is not None:
            self.is_pending = told.status == "pending"
        if told.raw_input not in (None, {}, ""):
            self.arguments = self.whole.raw_input
        content = told.content or ()
        self.edits = [
            one for one in content if isinstance(one, FileEditToolCallContent)
        ] or self.edits
        self.paths = [one.path for one in told.locations or ()] or self.paths
        if not isinstance(told, ToolCallStart | ToolCallProgress):
            return  # What comes with a permission request describes the call. It is no result.
        self.is_reported = True
        result = [one for one in map(_content, content) if one]
        if not result and told.raw_output is not None:
            result = [_json(told.raw_output)]
        self.told = result or self.told
        if sum(map(len, self.output)) < RESULT_LIMIT:
            self.output += _terminal_output(told)

    @property
    def has_input(self) -> bool:
        """Whether the agent has said what the tool is to do."""
        return self.arguments is not None or bool(self.edits)

    def input(self) -> str:
        """Return the arguments as JSON; without any, the files that the call names."""
        if self.arguments is not None:
            return _json(self.arguments)
        if self.edits:
            edits = [
                {"path": one.path, "old_text": one.old_text, "new_text": one.new_text}
                for one in self.edits
            ]
            return _json({"edits": edits})
        return _json({"paths": self.paths}) if self.paths else "{}"


class UpdateMapper:
    """Turns the updates of one prompt into outputs.

    A tool call becomes a message when it runs and its input is known, or when a person is asked
    about it, or when it ends. Some agents announce a call first and send its input later, or a part
    of it first, or never announce the call.
    """

    def __init__(self, replay: Replay | None = None) -> None:
        """Begin with nothing said, and leave out what is a replay."""
        self._replay = replay or Replay()
        self._said: list[str] = []
        self._calls: dict[str, _ToolCall] = {}
        self._ended: set[str] = set()
        self._count = 0
        self.is_denied = False
        """Whether permission for any call was denied."""

    @property
    def lines(self) -> int:
        """The number of messages so far, the one that is being written included."""
        return self._count + bool(self._said)

    def hear(self, update: object) -> Iterator[Output]:
        """Take in one update."""
        if self._replay.has(update):
            return
        yield from self._say(self._replay.free())
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                yield from self._say(storable(text))
            case AgentThoughtChunk(content=TextContentBlock(text=text)) if text:
                yield ReasoningDelta(text=storable(text))
            case ToolCallStart():
                self._ended.discard(update.tool_call_id)
                yield from self._take(update)
            case ToolCallProgress():
                yield from self._take(update)
            case _:
                pass

    def ask(self, call: ToolCallUpdate) -> Iterator[Output]:
        """Write down everything that was said before a person is asked about a call."""
        self._replay.end()
        yield from self._say(self._replay.free())
        yield from self._take(call)
        known = self._calls.get(call.tool_call_id)
        if known is not None and not known.is_shown:
            yield self._show(call.tool_call_id, known)
        yield from self._pause()

    def whole(self, call: ToolCallUpdate) -> ToolCallUpdate:
        """Return a call with everything that the agent has said of it before, too."""
        known = self._calls.get(call.tool_call_id)
        return call if known is None or known.whole is None else known.whole

    def deny(self, call: ToolCallUpdate) -> None:
        """Note that permission for a call was denied."""
        self.is_denied = True
        if (known := self._calls.get(call.tool_call_id)) is not None:
            known.is_denied = True

    def end(self) -> Iterator[Output]:
        """Close the calls that the agent left open.

        Hermes asks under an id of its own, and reports the call under another one: that is no
        failure.
        """
        for id, call in list(self._calls.items()):
            if not call.is_reported and not call.is_denied:
                call.told = [_UNREPORTED]
            yield from self._result(id, is_error=call.is_reported or call.is_denied)
        if not self.lines:
            # Nothing else was said: the answer has the words of an earlier one.
            yield from self._say(self._replay.rest())

    def _say(self, text: str) -> Iterator[Output]:
        if not text:
            return
        for id in [id for id, call in self._calls.items() if call.is_denied]:
            yield from self._result(id, is_error=True)
        self._said.append(text)
        yield TextDelta(text=text)

    def _take(self, told: CallUpdate) -> Iterator[Output]:
        id = told.tool_call_id
        if id in self._ended:
            return
        call = self._calls.setdefault(id, _ToolCall())
        call.update(told)
        if call.has_input and not call.is_pending and not call.is_shown:
            yield self._show(id, call)
        if told.status in _DONE:
            yield from self._result(id, is_error=told.status == "failed")

    def _show(self, id: str, call: _ToolCall) -> NewMessage:
        call.is_shown = True
        name = _id(clean_title(call.title)) or "tool"
        asked = ToolCall(id=_id(id), name=name, arguments=storable(call.input()))
        return self._message(Role.ASSISTANT, (*self._words(), asked))

    def _result(self, id: str, *, is_error: bool) -> Iterator[Output]:
        call = self._calls.pop(id)
        self._ended.add(id)
        if not call.is_shown:
            yield self._show(id, call)
        # A message takes the place of the pieces before it, so they become one first.
        yield from self._pause()
        missing = _DENIED if call.is_denied else _LOST
        text = "\n".join(call.told) or "".join(call.output) or (missing if is_error else "")
        result = ToolResult(
            call_id=_id(id), text=keep_beginning(storable(text), RESULT_LIMIT), is_error=is_error
        )
        yield self._message(Role.TOOL, (result,))

    def _pause(self) -> Iterator[Output]:
        if self._said:
            yield self._message(Role.ASSISTANT, self._words())

    def _message(self, role: Role, parts: tuple[Part, ...]) -> NewMessage:
        self._count += 1
        return NewMessage(role=role, parts=parts)

    def _words(self) -> tuple[Part, ...]:
        said, self._said = "".join(self._said), []
        return words(said) if said else ()


def read_acp_usage(spent: Spent, program: str) -> Usage:
    """Return the tokens of a turn, as far as the agent reports them; it reports no cost."""
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
        case FileEditToolCallContent():
            return write_diff(content)
        case _:
            return ""


def _terminal_output(told: ToolCallStart | ToolCallProgress) -> list[str]:
    """Return the output of a terminal in an update. Codex sends it beside the protocol's fields."""
    meta = told.field_meta or {}
    found = (meta.get(name) for name in ("terminal_output", "terminal_output_delta"))
    pieces = (one.get("data") for one in found if isinstance(one, dict))
    return [one for one in pieces if isinstance(one, str)]


def _folded(text: str) -> str:
    """Return a text without white space, in which a replay may differ."""
    return "".join(text.split())


def _id(text: str) -> str:
    """Return an id of the agent in a form that can be stored."""
    return storable(text).encode()[:ID_LIMIT].decode("utf-8", "ignore")


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
