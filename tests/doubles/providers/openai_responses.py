"""OpenAI's Responses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar

from tests.doubles.providers import openai_errors, response_items, response_rules
from tests.doubles.providers.response_items import Item
from tests.doubles.providers.response_rules import Given
from tests.doubles.providers.script import (
    Error,
    Fails,
    Refuses,
    Reply,
    RunsOut,
    Thinks,
    Trouble,
    Word,
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
_ECHOED = ("instructions", "tools", "tool_choice", "parallel_tool_calls", "text", "temperature")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIResponses:
    """The language of `/responses`."""

    garbage: ClassVar[bytes] = GARBAGE

    given: Given = field(default_factory=Given)

    def key(self, received: Received) -> str | None:
        """Find the key that was sent, or None."""
        return openai_errors.key_of(received)

    def read(self, received: Received, number: int) -> Asked:
        """Read a request, or object to it."""
        asked = received.json
        items = response_rules.check(asked, self.given)
        said = [texts(item.get("content")) for item in items if item.get("role") == "user"]
        return Asked(
            model=asked["model"],
            number=number,
            streams=bool(asked.get("stream")),
            text=said[-1] if said else "",
            received=received,
        )

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """Write an answer in one piece."""
        made = [item for word in reply.words for item in self._items(word, asked)]
        output = [item.named(asked.number, place).whole for place, item in enumerate(made)]
        response: Json = self._end(reply, asked, output)["response"]
        return response

    def stream(self, reply: Reply, asked: Asked) -> Frames:
        """Write an answer as events, which are counted."""
        numbers = count()
        for told in self._events(reply, asked):
            if isinstance(told, dict):
                yield event({**told, "sequence_number": next(numbers)}, told["type"])
            else:
                yield told

    def _events(self, reply: Reply, asked: Asked) -> Iterator[Json | Error | Trouble]:
        begun = _response(asked, "in_progress")
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.in_progress", "response": begun}
        items: list[Item] = []
        for step in reply.steps:
            if not isinstance(step, Word):
                yield step
                continue
            for item in self._items(step, asked):
                # An item is closed as late as can be, so that a stream may break off inside of it.
                yield from items[-1].closing(len(items) - 1) if items else ()
                items.append(item.named(asked.number, len(items)))
                yield from items[-1].opening(len(items) - 1)
        yield from items[-1].closing(len(items) - 1) if items else ()
        yield self._end(reply, asked, [item.whole for item in items])

    def _items(self, word: Word, asked: Asked) -> Iterator[Item]:
        shows_seal = "reasoning.encrypted_content" in (asked.json.get("include") or ())
        if isinstance(word, Thinks):
            self.given.seals.give(word.sealed, word.text)
        yield from response_items.items_of(word, shows_seal=shows_seal)

    def _end(self, reply: Reply, asked: Asked, output: list[Json]) -> Json:
        """Write the last event, which holds everything."""
        self.given.keep(output)
        status, reason = _ending(reply.words)
        response = {
            **_response(asked, status),
            "output": output,
            "usage": _usage(reply, asked),
            "incomplete_details": {"reason": reason} if reason else None,
        }
        return {"type": f"response.{status}", "response": response}

    def refuse(self, error: Error, key: str = "") -> Refusal:
        """Write an error."""
        return openai_errors.refuse(error, key, "input")

    def object_to(self, objection: Objection) -> Refusal:
        """Write that a rule was broken."""
        return openai_errors.object_to(objection)

    def unknown(self, model: str) -> Refusal:
        """Write that there is no such model."""
        return openai_errors.unknown(model)

    def breaks(self, error: Error, asked: Asked) -> bytes:
        """Write an error in the middle of a stream."""
        told = openai_errors.error_of(error, param="input")
        if isinstance(error, Fails):
            why = {"code": told["code"] or "server_error", "message": told["message"]}
            response = {**_response(asked, "failed"), "error": why}
            name = "response.failed"
            return event({"type": name, "response": response, "sequence_number": 99}, name)
        kept = {name: told[name] for name in ("code", "message", "param")}
        return event({"type": "error", **kept, "sequence_number": 99}, "error")


def _response(asked: Asked, status: str) -> Json:
    said = asked.json
    return {
        "id": f"resp_{asked.number:04}",
        "object": "response",
        "created_at": _MADE_AT + asked.number,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "max_output_tokens": said.get("max_output_tokens"),
        "metadata": {},
        "model": asked.model,
        "output": [],
        "previous_response_id": said.get("previous_response_id"),
        "reasoning": said.get("reasoning") or {"effort": None, "summary": None},
        "store": said.get("store", True),
        "truncation": "disabled",
        "usage": None,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        **{name: said[name] for name in _ECHOED if said.get(name) is not None},
    }


def _usage(reply: Reply, asked: Asked) -> Json:
    spent = reply.spends(len(asked.received.body))
    return {
        "input_tokens": spent.input,
        "input_tokens_details": {
            "cached_tokens": spent.cache_read,
            "cache_write_tokens": spent.cache_write,
        },
        "output_tokens": spent.output,
        "output_tokens_details": {"reasoning_tokens": spent.reasoning},
        "total_tokens": spent.input + spent.output,
    }


def _ending(words: tuple[Word, ...]) -> tuple[str, str | None]:
    match words[-1] if words else None:
        case RunsOut():
            return "incomplete", "max_output_tokens"
        case Refuses(text=""):
            return "incomplete", "content_filter"
        case _:
            return "completed", None
