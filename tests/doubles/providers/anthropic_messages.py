"""Anthropic's Messages."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from tests.doubles.providers import anthropic_rules
from tests.doubles.providers.script import (
    Calls,
    Error,
    Fails,
    OutOfCredit,
    Overloaded,
    RateLimited,
    Redacts,
    Refuses,
    Reply,
    RunsOut,
    Says,
    Thinks,
    TooLong,
    Unauthorised,
    Word,
    cut,
)
from tests.doubles.providers.signatures import Seals
from tests.doubles.providers.wire import (
    Asked,
    Frames,
    Json,
    Objection,
    Received,
    Refusal,
    event,
    status_of,
    texts,
)

Block: TypeAlias = tuple[Json, list[Json]]
"""A block as it begins, and what is added to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicMessages:
    """The language of `/v1/messages`."""

    garbage: ClassVar[bytes] = event('{"type": "content_bl', "content_block_delta")
    seals: Seals = field(default_factory=Seals)

    def key(self, received: Received) -> str | None:
        """Find the key that was sent, or None."""
        scheme, _, key = received.headers.get("authorization", "").partition(" ")
        bearer = key.strip() if scheme.lower() == "bearer" else ""
        return received.headers.get("x-api-key") or bearer or None

    def read(self, received: Received, number: int) -> Asked:
        """Read a request, or object to it."""
        asked = received.json
        if "anthropic-version" not in received.headers:
            raise Objection("anthropic-version: header is required")
        anthropic_rules.check(asked, self.seals)
        said = [texts(line["content"]) for line in asked["messages"] if line["role"] == "user"]
        return Asked(
            model=asked["model"],
            number=number,
            streams=bool(asked.get("stream")),
            text=next((text for text in reversed(said) if text), ""),
            received=received,
        )

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """Write an answer in one piece."""
        content = [_joined(*block) for word in reply.words for block in self._blocks(word, asked)]
        usage = _usage(reply, asked)
        return {**_message(asked, usage), "content": content, **_ending(reply.words)}

    def stream(self, reply: Reply, asked: Asked) -> Frames:
        """Write an answer as events."""
        usage = _usage(reply, asked)
        started = _message(asked, {**usage, "output_tokens": 1})
        yield _event("message_start", message=started)
        yield _event("ping")
        index = -1
        for step in reply.steps:
            if not isinstance(step, Word):
                yield step
                continue
            for begin, deltas in self._blocks(step, asked):
                # A block is closed as late as can be, so that a stream may break off inside of it.
                yield from _stop(index)
                index += 1
                yield _event("content_block_start", index=index, content_block=begin)
                for delta in deltas:
                    yield _event("content_block_delta", index=index, delta=delta)
        yield from _stop(index)
        yield _event("message_delta", delta=_ending(reply.words), usage=usage)
        yield _event("message_stop")

    def _blocks(self, word: Word, asked: Asked) -> Iterator[Block]:
        """Write one word as blocks."""
        match word:
            case Says(text=text, chunks=chunks):
                pieces = cut(text, chunks)
                deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces]
                yield {"type": "text", "text": "", "citations": None}, deltas
            case Thinks(text=text, chunks=chunks):
                seal = self.seals.give(word.sealed, text)
                deltas = [
                    {"type": "thinking_delta", "thinking": piece} for piece in cut(text, chunks)
                ]
                deltas.append({"type": "signature_delta", "signature": seal})
                yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
            case Redacts(seal=seal):
                self.seals.give(seal, "")
                yield {"type": "redacted_thinking", "data": seal}, []
            case Calls(tools=tools):
                for index, (name, arguments) in enumerate(tools):
                    id = f"toolu_{asked.number:04}_{index}"
                    begin = {"type": "tool_use", "id": id, "name": name, "input": {}}
                    deltas = [
                        {"type": "input_json_delta", "partial_json": piece}
                        for piece in ["", *cut(arguments, 2)]
                    ]
                    yield begin, deltas
            case Refuses(text=text) if text:
                yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]
            case Refuses() | RunsOut():
                return

    def refuse(self, error: Error, key: str = "") -> Refusal:
        """Write an error."""
        headers = {"request-id": "req_double"}
        if isinstance(error, RateLimited):
            headers["retry-after"] = str(error.retry_after)
        body = error_of(error, key)
        return Refusal(
            status=status_of(error, overloaded=529, unpaid=400), body=body, headers=headers
        )

    def object_to(self, objection: Objection) -> Refusal:
        """Write that a rule was broken."""
        return Refusal(status=400, body=_error("invalid_request_error", objection.message))

    def unknown(self, model: str) -> Refusal:
        """Write that there is no such model."""
        return Refusal(status=404, body=_error("not_found_error", f"model: {model}"))

    def breaks(self, error: Error, asked: Asked) -> bytes:
        """Write an error in the middle of a stream."""
        return event(error_of(error, ""), "error")


def error_of(error: Error, key: str) -> Json:
    """Word an error."""
    match error:
        case Overloaded():
            return _error("overloaded_error", "Overloaded")
        case RateLimited():
            text = "This request would exceed your account's rate limit. Please try again later."
            return _error("rate_limit_error", text)
        case OutOfCredit():
            text = "Your credit balance is too low to access the Anthropic API."
            return _error("invalid_request_error", text)
        case Unauthorised():
            return _error("authentication_error", f"invalid x-api-key: {key}")
        case TooLong():
            text = "prompt is too long: 210000 tokens > 200000 maximum"
            return _error("invalid_request_error", text)
        case Fails(status=404):
            return _error("not_found_error", "Not found")
        case Fails(status=403):
            return _error("permission_error", "Your API key does not have permission to do that.")
        case Fails(status=status) if status < 500:
            return _error("invalid_request_error", "The request is not valid.")
        case Fails():
            return _error("api_error", "Internal server error")


def _error(kind: str, message: str) -> Json:
    error = {"type": kind, "message": message}
    return {"type": "error", "error": error, "request_id": "req_double"}


def _event(kind: str, **fields: object) -> bytes:
    return event({"type": kind, **fields}, kind)


def _stop(index: int) -> Iterator[bytes]:
    if index >= 0:
        yield _event("content_block_stop", index=index)


def _message(asked: Asked, usage: Json) -> Json:
    return {
        "id": f"msg_{asked.number:04}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _usage(reply: Reply, asked: Asked) -> Json:
    """Count as Anthropic does: what came from a cache, or went to one, is not in the input."""
    spent = reply.spends(len(asked.received.body))
    return {
        "input_tokens": max(0, spent.input - spent.cache_read - spent.cache_write),
        "cache_creation_input_tokens": spent.cache_write,
        "cache_read_input_tokens": spent.cache_read,
        "output_tokens": spent.output,
        "service_tier": "standard",
    }


def _ending(words: tuple[Word, ...]) -> Json:
    match words[-1] if words else None:
        case Calls():
            reason = "tool_use"
        case RunsOut():
            reason = "max_tokens"
        case Refuses():
            reason = "refusal"
        case _:
            reason = "end_turn"
    return {"stop_reason": reason, "stop_sequence": None}


def _joined(begin: Json, deltas: list[Json]) -> Json:
    """Put together what a stream would give out in pieces."""
    block = dict(begin)
    for delta in deltas:
        kind = delta["type"].removesuffix("_delta")
        if kind in {"text", "thinking", "signature"}:
            block[kind] += delta[kind]
    written = "".join(delta.get("partial_json", "") for delta in deltas)
    return {**block, "input": json.loads(written)} if written else block
