"""Google's generateContent."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from tests.doubles.providers import google_rules
from tests.doubles.providers.google_rules import sealed
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
    GARBAGE,
    Asked,
    Frames,
    Json,
    Objection,
    Received,
    Refusal,
    event,
    lines,
    texts,
)

_STATUS = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleGenerate:
    """The language of `:generateContent` and `:streamGenerateContent`."""

    garbage: ClassVar[bytes] = GARBAGE

    seals: Seals = field(default_factory=Seals)

    def key(self, received: Received) -> str | None:
        """Find the key that was sent, or None."""
        return received.headers.get("x-goog-api-key") or received.query.get("key") or None

    def read(self, received: Received, number: int) -> Asked:
        """Read a request, or object to it."""
        model, _, verb = received.path.rpartition("/")[2].partition(":")
        asked = received.json
        google_rules.check(asked, model, self.seals)
        contents = lines(asked["contents"])
        said = [texts(one.get("parts")) for one in contents if one.get("role") != "model"]
        return Asked(
            model=model,
            number=number,
            streams=verb == "streamGenerateContent",
            text=next((text for text in reversed(said) if text), ""),
            received=received,
        )

    def whole(self, reply: Reply, asked: Asked) -> Json:
        """Write an answer in one piece; a seal that no call takes stands at the last text."""
        parts: list[Json] = []
        seal = ""
        for word in reply.words:
            for part in self._parts(word, asked, pieces=1):
                if seal and "functionCall" in part:
                    part["thoughtSignature"], seal = seal, ""
                parts.append(part)
            seal = self._seal(word) or seal
        if seal:
            spoken = [part for part in parts[-1:] if "text" in part and "thought" not in part]
            parts += [] if spoken else [{"text": ""}]
            parts[-1]["thoughtSignature"] = seal
        return self._chunk(parts, reply, asked, _ending(reply.words))

    def stream(self, reply: Reply, asked: Asked) -> Frames:
        """Write an answer as events; a seal that no call takes comes with an empty text."""
        seal = ""
        for step in reply.steps:
            if not isinstance(step, Word):
                yield step
                continue
            for part in self._parts(step, asked):
                if seal and "functionCall" in part:
                    part["thoughtSignature"], seal = seal, ""
                yield event(self._chunk([part], reply, asked))
            seal = self._seal(step) or seal
        last = [{"text": "", "thoughtSignature": seal}] if seal else []
        yield event(self._chunk(last, reply, asked, _ending(reply.words)))

    def _seal(self, word: Word) -> str:
        """Give out the seal of a thought, which stands at the part that comes after it."""
        match word:
            case Thinks(text=text):
                return sealed(self.seals.give(word.sealed, text))
            case Redacts(seal=seal):
                return sealed(self.seals.give(seal, ""))
            case _:
                return ""

    def _parts(self, word: Word, asked: Asked, pieces: int | None = None) -> Iterator[Json]:
        """Write one word as parts."""
        match word:
            case Says(text=text, chunks=chunks):
                yield from ({"text": piece} for piece in cut(text, pieces or chunks))
            case Thinks(text=text, chunks=chunks):
                for piece in cut(text, pieces or chunks):
                    yield {"text": piece, "thought": True}
            case Refuses(text=text) if text:
                yield {"text": text}
            case Calls(tools=tools) if _readable(word):
                for index, (name, arguments) in enumerate(tools):
                    id = f"call_{asked.number:04}_{index}"
                    call = {"id": id, "name": name, "args": json.loads(arguments)}
                    yield {"functionCall": call}
            case _:
                return

    def _chunk(
        self, parts: list[Json], reply: Reply, asked: Asked, ending: str | None = None
    ) -> Json:
        candidate: Json = {"index": 0}
        if parts or ending not in {"SAFETY", "MALFORMED_FUNCTION_CALL"}:
            candidate["content"] = {"parts": parts or [{"text": ""}], "role": "model"}
        if ending:
            candidate["finishReason"] = ending
        return {
            "candidates": [candidate],
            "usageMetadata": _usage(reply, asked),
            "modelVersion": asked.model,
            "responseId": f"resp-{asked.number:04}",
        }

    def refuse(self, error: Error, key: str = "") -> Refusal:
        """Write an error."""
        body = error_of(error, key)
        return Refusal(status=body["error"]["code"], body=body)

    def object_to(self, objection: Objection) -> Refusal:
        """Write that a rule was broken."""
        return Refusal(status=400, body=_error(400, objection.message))

    def unknown(self, model: str) -> Refusal:
        """Write that there is no such model."""
        text = f"models/{model} is not found for API version v1beta, or is not supported for"
        return Refusal(status=404, body=_error(404, f"{text} generateContent."))

    def breaks(self, error: Error, asked: Asked) -> bytes:
        """Write an error in the middle of a stream."""
        return event(error_of(error, ""))


def error_of(error: Error, key: str) -> Json:
    """Word an error."""
    match error:
        case Overloaded():
            return _error(503, "The model is overloaded. Please try again later.")
        case RateLimited(retry_after=seconds):
            info = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
            details = [{**info, "retryDelay": f"{seconds:g}s"}]
            text = f"You exceeded your current quota. Please retry in {seconds:g}s."
            return _error(429, text, details)
        case OutOfCredit():
            text = "You exceeded your current quota, please check your plan and billing details."
            return _error(429, text)
        case Unauthorised() if not key:
            text = "Method doesn't allow unregistered callers. Please use API Key."
            return _error(403, text)
        case Unauthorised():
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": key}
            text = f"API key not valid: {key}. Please pass a valid API key."
            return _error(400, text, [{**info, "reason": "API_KEY_INVALID"}])
        case TooLong():
            text = "The input token count (1200000) exceeds the maximum number of tokens allowed"
            return _error(400, f"{text} (1048576).")
        case Fails(status=status):
            return _error(status, "An internal error has occurred. Please retry.")


def _error(code: int, message: str, details: list[Json] | None = None) -> Json:
    status = _STATUS.get(code, "UNKNOWN")
    told: Json = {"code": code, "message": message, "status": status}
    return {"error": {**told, "details": details} if details else told}


def _usage(reply: Reply, asked: Asked) -> Json:
    """Count as Google does: what was thought is not among what was said."""
    spent = reply.spends(len(asked.received.body))
    usage: Json = {
        "promptTokenCount": spent.input,
        "candidatesTokenCount": max(0, spent.output - spent.reasoning),
        "totalTokenCount": spent.input + spent.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": spent.input}],
    }
    usage |= {"thoughtsTokenCount": spent.reasoning} if spent.reasoning else {}
    return usage | ({"cachedContentTokenCount": spent.cache_read} if spent.cache_read else {})


def _readable(calls: Calls) -> bool:
    """Tell whether all arguments are objects, as Google gives out no others."""
    try:
        return all(isinstance(json.loads(written), dict) for _, written in calls.tools)
    except json.JSONDecodeError:
        return False


def _ending(words: tuple[Word, ...]) -> str:
    match words[-1] if words else None:
        case Refuses():
            return "SAFETY"
        case RunsOut():
            return "MAX_TOKENS"
        case Calls() as calls if not _readable(calls):
            return "MALFORMED_FUNCTION_CALL"
        case _:
            return "STOP"
