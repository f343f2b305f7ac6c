"""OpenAI's Chat Completions, which compatible servers speak as well."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from tests.doubles.providers import openai_errors, openai_rules
from tests.doubles.providers.script import (
    Calls,
    Error,
    Redacts,
    Refuses,
    Reply,
    RunsOut,
    Says,
    Spends,
    Thinks,
    Word,
    cut,
)
from tests.doubles.providers.wire import (
    GARBAGE,
    Asked,
    Frames,
    Json,
    Objection,
    Received,
    Refusal,
    event,
    texts,
)

_MADE_AT = 1_700_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIChat:
    """The language of `/chat/completions`."""

    garbage: ClassVar[bytes] = GARBAGE

    tells_cost: bool = False
    """Whether it tells with the usage what was paid, as OpenRouter does."""

    def key(self, received: Received) -> str | None:
        """Find the key that was sent, or None."""
        return openai_errors.key_of(received)

    def read(self, received: Received, number: int) -> Asked:
        """Read a request, or object to it."""
        asked = received.json
        openai_rules.check_chat(asked)
        said = [line for line in asked["messages"] if line["role"] == "user"]
        return Asked(
            model=asked["model"],
            number=number,
            streams=bool(asked.get("stream")),
            text=texts(said[-1].get("content")) if said else "",
            received=received,
        )

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """Write an answer in one piece."""
        message: Json = {"role": "assistant", "content": None, "refusal": None}
        for word in reply.words:
            for delta in _deltas(word, asked, pieces=1):
                _join(message, delta)
        for call in message.get("tool_calls", []):
            del call["index"]
        ending = _ending(reply.words)
        choice = {"index": 0, "message": message, "finish_reason": ending, "logprobs": None}
        head = self._head(asked, "chat.completion")
        return {**head, "choices": [choice], "usage": self._usage(reply, asked)}

    def stream(self, reply: Reply, asked: Asked) -> Frames:
        """Write an answer as events."""
        head = self._head(asked, "chat.completion.chunk")
        counted = bool((asked.json.get("stream_options") or {}).get("include_usage"))
        if counted:
            head["usage"] = None
        first: Json = {"role": "assistant", "content": "", "refusal": None}
        yield event({**head, "choices": [_choice(first)]})
        for step in reply.steps:
            if isinstance(step, Word):
                deltas = _deltas(step, asked)
                yield from (event({**head, "choices": [_choice(delta)]}) for delta in deltas)
            else:
                yield step
        yield event({**head, "choices": [_choice({}, _ending(reply.words))]})
        if counted:
            yield event({**head, "choices": [], "usage": self._usage(reply, asked)})
        yield event("[DONE]")

    def refuse(self, error: Error, key: str = "") -> Refusal:
        """Write an error."""
        return openai_errors.refuse(error, key)

    def object_to(self, objection: Objection) -> Refusal:
        """Write that a rule was broken."""
        return openai_errors.object_to(objection)

    def unknown(self, model: str) -> Refusal:
        """Write that there is no such model."""
        return openai_errors.unknown(model)

    def breaks(self, error: Error, asked: Asked) -> bytes:
        """Write an error in the middle of a stream."""
        return event({"error": openai_errors.error_of(error)})

    def _head(self, asked: Asked, kind: str) -> Json:
        return {
            "id": f"chatcmpl-{asked.number:04}",
            "object": kind,
            "created": _MADE_AT + asked.number,
            "model": asked.model,
            "service_tier": "default",
            "system_fingerprint": "fp_double",
        }

    def _usage(self, reply: Reply, asked: Asked) -> Json:
        spent: Spends = reply.spends(len(asked.received.body))
        usage: Json = {
            "prompt_tokens": spent.input,
            "completion_tokens": spent.output,
            "total_tokens": spent.input + spent.output,
            "prompt_tokens_details": {"cached_tokens": spent.cache_read, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": spent.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }
        return usage | ({"cost": spent.cost or 0.0} if self.tells_cost else {})


def _choice(delta: Json, ending: str | None = None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": ending}


def _deltas(word: Word, asked: Asked, pieces: int | None = None) -> Iterator[Json]:
    """Write one word as what is added to the message by it."""
    match word:
        case Says(text=text, chunks=chunks):
            yield from ({"content": piece} for piece in cut(text, pieces or chunks))
        case Thinks(text=text, chunks=chunks):
            yield from ({"reasoning_content": piece} for piece in cut(text, pieces or chunks))
        case Refuses(text=text):
            yield from ({"refusal": piece} for piece in cut(text, pieces or 2))
        case Calls(tools=tools):
            for index, (name, arguments) in enumerate(tools):
                function = {"name": name, "arguments": ""}
                call = {"id": f"call_{asked.number:04}_{index}", "type": "function"}
                yield {"tool_calls": [{"index": index, **call, "function": function}]}
                for piece in cut(arguments, pieces or 2):
                    yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
        case Redacts() | RunsOut():
            return


def _join(message: Json, delta: Json) -> None:
    """Put together what a stream would give out in pieces."""
    for name, value in delta.items():
        if name != "tool_calls":
            message[name] = (message.get(name) or "") + value
            continue
        calls = message.setdefault(name, [])
        for call in value:
            if call["index"] < len(calls):
                calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
            else:
                calls.append(call)


def _ending(words: tuple[Word, ...]) -> str:
    match words[-1] if words else None:
        case Calls():
            return "tool_calls"
        case RunsOut():
            return "length"
        case Refuses(text=""):
            return "content_filter"
        case _:
            return "stop"
