"""The rules of OpenAI: what it answers a request with 400 for."""

import re

from tests.doubles.providers.wire import Json, Objection, lines

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def check_chat(asked: Json) -> None:
    """Object to a chat that OpenAI would not take."""
    check_model(asked)
    check_tools([tool.get("function") or {} for tool in asked.get("tools") or []])
    messages = lines(asked.get("messages"))
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role")
        if role not in _ROLES:
            raise Objection(f"Invalid value: '{role}'.", param=f"messages[{place}].role")
        if role == "tool":
            _answer(open_calls, message, place)
            continue
        _check_answered(open_calls, place)
        if role == "assistant":
            open_calls = _calls(message, place)
        elif message.get("content") is None:
            _object_to_nothing(place)
    _check_answered(open_calls, len(messages))


def _answer(open_calls: list[str], message: Json, place: int) -> None:
    """Close the call that a tool's message answers."""
    if message.get("tool_call_id") not in open_calls:
        raise Objection(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding"
            " message with 'tool_calls'.",
            param=f"messages.[{place}].role",
        )
    open_calls.remove(message["tool_call_id"])
    if message.get("content") is None:
        _object_to_nothing(place)


def _check_answered(open_calls: list[str], place: int) -> None:
    if open_calls:
        raise Objection(
            "An assistant message with 'tool_calls' must be followed by tool messages responding"
            " to each 'tool_call_id'. The following tool_call_ids did not have response messages:"
            f" {', '.join(open_calls)}",
            param=f"messages.[{place}].role",
        )


def _calls(message: Json, place: int) -> list[str]:
    """Answer the ids of the calls in an assistant's message."""
    calls = message.get("tool_calls")
    if calls is None and message.get("content") is None and message.get("refusal") is None:
        _object_to_nothing(place)
    if calls == []:
        raise Objection("[] is too short - 'messages.tool_calls'", param=f"messages[{place}]")
    ids = [call["id"] for call in calls or []]
    if len(set(ids)) < len(ids):
        raise Objection("Duplicate value for 'tool_call_id'", param=f"messages[{place}]")
    return ids


def _object_to_nothing(place: int) -> None:
    raise Objection(
        "Invalid value for 'content': expected a string, got null.",
        param=f"messages.[{place}].content",
    )


def check_model(asked: Json) -> None:
    """Object to a request that names no model."""
    if not isinstance(asked.get("model"), str) or not asked["model"]:
        raise Objection("you must provide a model parameter")


def check_tools(tools: list[Json]) -> None:
    """Object to tools whose names or parameters cannot be used."""
    for place, tool in enumerate(tools):
        if not _TOOL_NAME.fullmatch(str(tool.get("name"))):
            raise Objection(
                f"Invalid 'tools[{place}].name': string does not match pattern.",
                param=f"tools[{place}].name",
                code="invalid_value",
            )
        kind = (tool.get("parameters") or {"type": "object"}).get("type")
        if kind != "object":
            raise Objection(
                f"Invalid schema for function '{tool['name']}': schema must be a JSON Schema of"
                f" 'type: \"object\"', got 'type: \"{kind}\"'.",
                param=f"tools[{place}].parameters",
                code="invalid_function_parameters",
            )
