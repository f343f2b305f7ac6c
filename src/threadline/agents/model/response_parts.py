"""Response parts: what a model answered becomes parts of a message, and the same answer again.

Words, thoughts and tool calls become parts of ours; whatever else a provider said of them, and
parts for which there is no noun, are kept verbatim beside, so that a replay is identical.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from pydantic import ValidationError
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse

from threadline.agents.model.tool_results import storable
from threadline.core.errors import Invalid
from threadline.core.message import (
    PARTS_LIMIT,
    Attachment,
    NewMessage,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.validation import ID_LIMIT, TEXT_LIMIT, checked_id

_RESPONSE_KEY = "response"
_PART_KEY = "part"
_OF_RESPONSE = (
    "model_name",
    "provider_name",
    "provider_url",
    "canonical_system",
    "provider_details",
    "provider_response_id",
    "finish_reason",
)
"""What a provider says of an answer as a whole, and may want to be told again."""
_TEXT, _THINKING, _CALL = "text", "thinking", "tool-call"
_OURS = {
    _TEXT: frozenset({"content"}),
    _THINKING: frozenset({"content"}),
    _CALL: frozenset({"tool_name", "args", "tool_call_id"}),
}
"""What parts of ours say by themselves."""
_UNTOLD = frozenset({"part_kind", "timestamp"})


def messages_of(response: ModelResponse) -> list[NewMessage]:
    """Make the lines of a transcript of an answer: one, unless it has very many parts."""
    dumped = ModelMessagesTypeAdapter.dump_python([response], mode="json", warnings=False)[0]
    about = {key: dumped[key] for key in _OF_RESPONSE if dumped.get(key) is not None}
    parts = [_part_of(part) for part in dumped["parts"]]
    return [
        NewMessage(role=Role.ASSISTANT, parts=_with_response(parts[at : at + PARTS_LIMIT], about))
        for at in range(0, len(parts), PARTS_LIMIT)
    ]


def response_of(parts: Sequence[Part]) -> ModelResponse | None:
    """Make the answer again of which these parts were made; None: nothing of it can be said.

    What was kept by somebody else, and cannot be read, is left out.
    """
    about: dict[str, object] = {}
    found: list[dict[str, object]] = []
    for part in parts:
        kept = _read_raw(part)
        about |= _mapping(kept.get(_RESPONSE_KEY))
        found += _answer_part(part, _mapping(kept.get(_PART_KEY)), has_raw=bool(kept))
    if not found:
        return None
    whole = {**{key: about[key] for key in _OF_RESPONSE if key in about}, "parts": found}
    try:
        return _validated(whole)
    except ValidationError:
        bare = [item for part in parts for item in _answer_part(part, {}, has_raw=False)]
        return _validated({"parts": bare}) if bare else None


def fit_id(text: str, kind: str) -> str:
    """Take an id or a name as it is, or, where it cannot be kept, something that stands for it."""
    try:
        if text:
            return checked_id(text, kind)
    except Invalid:
        pass
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kind}_{digest[:32]}"[:ID_LIMIT]


def _validated(answer: Mapping[str, object]) -> ModelResponse | None:
    # Read from JSON, because bytes are written differently there.
    text = json.dumps([{**answer, "kind": "response"}])
    found = ModelMessagesTypeAdapter.validate_json(text)[0]
    return found if isinstance(found, ModelResponse) else None


def _part_of(dumped: dict[str, object]) -> Part:
    kind = str(dumped["part_kind"])
    content = dumped.get("content")
    extras = {
        key: value
        for key, value in dumped.items()
        if value is not None and key not in _UNTOLD and key not in _OURS.get(kind, ())
    }
    raw = _raw({_PART_KEY: extras}) if extras else None
    if kind == _TEXT and content:
        return Text(text=storable(str(content)), raw=raw)
    if kind == _THINKING:
        # Always with something beside: thoughts without it are another agent's.
        thought = storable(str(content))[:TEXT_LIMIT]
        return Reasoning(text=thought, raw=raw or json.dumps({_PART_KEY: {}}))
    if kind == _CALL:
        return ToolCall(
            id=fit_id(str(dumped["tool_call_id"]), "call"),
            name=fit_id(str(dumped["tool_name"]), "tool"),
            arguments=_arguments(dumped.get("args")),
            raw=raw,
        )
    return Reasoning(raw=_raw({_PART_KEY: dumped}))


def _raw(kept: Mapping[str, object]) -> str | None:
    """Write down what is kept verbatim, unless it is more than can be kept."""
    raw = json.dumps(kept)
    return raw if len(raw) <= TEXT_LIMIT else None


def _arguments(args: object) -> str:
    if args is None:
        return ""
    return storable(args) if isinstance(args, str) else json.dumps(args, ensure_ascii=False)


def _with_response(parts: Sequence[Part], about: Mapping[str, object]) -> tuple[Part, ...]:
    """Keep what was said of the whole answer beside its first part."""
    first, *rest = parts
    if not about or isinstance(first, ToolResult | Attachment):
        return tuple(parts)
    raw = _raw({**_read_raw(first), _RESPONSE_KEY: about})
    match first:
        case Text():
            return (Text(text=first.text, raw=raw), *rest)
        case Reasoning():
            return (Reasoning(text=first.text, raw=raw), *rest)
        case ToolCall():
            call = ToolCall(id=first.id, name=first.name, arguments=first.arguments, raw=raw)
            return (call, *rest)
        case _:
            return tuple(parts)


def _answer_part(
    part: Part, kept: Mapping[str, object], *, has_raw: bool
) -> Iterator[dict[str, object]]:
    match part:
        case Text() if part.text:
            yield {**kept, "part_kind": _TEXT, "content": part.text}
        case ToolCall():
            yield {
                **kept,
                "part_kind": _CALL,
                "tool_name": part.name,
                "args": part.arguments or None,
                "tool_call_id": part.id,
            }
        case Reasoning() if "part_kind" in kept:
            # A call that a person has to see is never hidden among the thoughts.
            if kept["part_kind"] != _CALL:
                yield dict(kept)
        case Reasoning() if has_raw:
            yield {**kept, "part_kind": _THINKING, "content": part.text}
        case Attachment():
            yield {"part_kind": _TEXT, "content": f"[attached: {part.name or part.media_type}]"}
        case _:
            pass


def _read_raw(part: Part) -> dict[str, object]:
    raw = part.raw if isinstance(part, Text | ToolCall | Reasoning) else None
    if raw is None:
        return {}
    try:
        return _mapping(json.loads(raw))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
