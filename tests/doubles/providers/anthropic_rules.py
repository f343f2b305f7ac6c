"""The rules of Anthropic: what it answers a request with 400 for."""

import json
import re

from tests.doubles.providers.signatures import Seals
from tests.doubles.providers.wire import Json, Objection, lines

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_BREAKPOINTS = 4


def check(asked: Json, seals: Seals) -> None:
    """Object to a request that Anthropic would not take."""
    if not asked.get("model"):
        raise Objection("model: Field required")
    if not isinstance(asked.get("max_tokens"), int):
        raise Objection("max_tokens: Field required")
    _check_tools(asked.get("tools") or [])
    _check_cache(asked)
    messages = lines(asked.get("messages"))
    if messages[0].get("role") != "user":
        raise Objection('messages: first message must use the "user" role')
    for place, message in enumerate(messages):
        _check_message(message, place, seals, is_last=place == len(messages) - 1)
    merged = _merged(messages)
    for place, blocks in enumerate(merged):
        _check_results(merged, place, blocks)
    _check_thinking(asked, merged)


def _check_message(message: Json, place: int, seals: Seals, *, is_last: bool) -> None:
    role = message.get("role")
    if role not in {"user", "assistant"}:
        raise Objection(f"messages.{place}.role: Input should be 'user' or 'assistant'")
    blocks = _blocks(message)
    if not blocks and not (role == "assistant" and is_last):
        raise Objection(f"messages.{place}: all messages must have non-empty content")
    for number, block in enumerate(blocks):
        _check_block(block, f"messages.{place}.content.{number}", seals)
    ending = blocks[-1].get("text", "") if role == "assistant" and is_last and blocks else ""
    if ending != ending.rstrip():
        raise Objection("messages: final assistant content cannot end with trailing whitespace")


def _check_block(block: Json, place: str, seals: Seals) -> None:
    match block.get("type"):
        case "text":
            if not block.get("text", "").strip():
                raise Objection("messages: text content blocks must be non-empty")
        case "thinking":
            if not seals.fits(block.get("signature"), block.get("thinking", "")):
                raise Objection(f"{place}: Invalid `signature` in `thinking` block")
        case "redacted_thinking":
            if not seals.fits(block.get("data")):
                raise Objection(f"{place}: Invalid `data` in `redacted_thinking` block")
        case "tool_use":
            if not isinstance(block.get("input"), dict):
                raise Objection(f"{place}.tool_use.input: Input should be a valid dictionary")
        case _:
            pass


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


def _merged(messages: list[Json]) -> list[tuple[str, list[Json]]]:
    """Join what the same side says in a row, as Anthropic does."""
    merged: list[tuple[str, list[Json]]] = []
    for message in messages:
        if merged and merged[-1][0] == message["role"]:
            merged[-1][1].extend(_blocks(message))
        else:
            merged.append((message["role"], list(_blocks(message))))
    return merged


def _check_results(
    merged: list[tuple[str, list[Json]]], place: int, turn: tuple[str, list[Json]]
) -> None:
    """See that each use of a tool has its result right after it, and each result its use."""
    role, blocks = turn
    if role == "assistant":
        after = merged[place + 1][1] if place + 1 < len(merged) else []
        done = {block.get("tool_use_id") for block in _of(after, "tool_result")}
        if left := [block["id"] for block in _of(blocks, "tool_use") if block["id"] not in done]:
            raise Objection(
                f"messages.{place}: `tool_use` ids were found without `tool_result` blocks"
                f" immediately after: {', '.join(left)}. Each `tool_use` block must have a"
                " corresponding `tool_result` block in the next message."
            )
        return
    used = {block["id"] for block in _of(merged[place - 1][1], "tool_use")} if place else set()
    results = [block.get("tool_use_id") for block in _of(blocks, "tool_result")]
    if strange := [str(id) for id in results if id not in used]:
        raise Objection(
            f"messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks:"
            f" {', '.join(strange)}. Each `tool_result` block must have a corresponding `tool_use`"
            " block in the previous message."
        )
    if len(set(results)) < len(results):
        raise Objection(f"messages.{place}: each tool_use must have a single result")
    if any(block.get("type") != "tool_result" for block in blocks[: len(results)]):
        raise Objection(f"messages.{place}: `tool_result` blocks must come first in the content")


def _check_thinking(asked: Json, merged: list[tuple[str, list[Json]]]) -> None:
    """See that who thinks goes on from what was thought before a tool was used."""
    thinking = asked.get("thinking") or {}
    if thinking.get("type") != "enabled":
        return
    if thinking.get("budget_tokens", 0) >= asked["max_tokens"]:
        raise Objection("`max_tokens` must be greater than `thinking.budget_tokens`")
    if (asked.get("tool_choice") or {}).get("type") in {"any", "tool"}:
        raise Objection("Thinking may not be enabled when tool_choice forces tool use.")
    if len(merged) < 2 or not _of(merged[-1][1], "tool_result"):
        return
    if merged[-2][1][0].get("type") not in _THOUGHTS:
        raise Objection(
            f"messages.{len(merged) - 2}.content.0.type: Expected `thinking` or"
            f" `redacted_thinking`, but found `{merged[-2][1][0].get('type')}`. When `thinking` is"
            " enabled, a final `assistant` message must start with a thinking block."
        )


def _check_tools(tools: list[Json]) -> None:
    names = [str(tool.get("name")) for tool in tools]
    for place, name in enumerate(names):
        if not _TOOL_NAME.fullmatch(name):
            raise Objection(f"tools.{place}.custom.name: String should match pattern")
    if len(set(names)) < len(names):
        raise Objection("tools: Tool names must be unique.")


def _check_cache(asked: Json) -> None:
    found = json.dumps([asked.get(name) for name in ("tools", "system", "messages")])
    breakpoints = found.count('"cache_control": {')
    if breakpoints > _BREAKPOINTS:
        raise Objection(
            f"A maximum of {_BREAKPOINTS} blocks with cache_control may be provided."
            f" Found {breakpoints}."
        )


def _of(blocks: list[Json], kind: str) -> list[Json]:
    return [block for block in blocks if block.get("type") == kind]
