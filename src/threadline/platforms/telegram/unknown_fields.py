"""Unknown fields: what the SDK does not know costs that part of an update, and not the message."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import ValidationError

Path: TypeAlias = tuple[str | int, ...]

_KEPT = frozenset(
    {
        *("message", "edited_message", "channel_post", "edited_channel_post"),
        *("callback_query", "my_chat_member", "update_id", "id", "data", "result", "ok"),
        *("message_id", "date", "edit_date", "chat", "from", "sender_chat", "is_bot", "via_bot"),
        *("message_thread_id", "is_topic_message", "is_automatic_forward", "is_direct_messages"),
        *("media_group_id", "migrate_to_chat_id", "text", "caption"),
    }
)
"""What is never left out: who says what, where and when. What holds it is left out with it."""
_ORIGINS = frozenset({"forward_origin", "origin"})
_UNKNOWN_ORIGIN = {"type": "hidden_user", "sender_user_name": "", "date": 0}
"""Stands for an origin that is not known: words of another person stay such."""
_ALTERNATIVE = "InaccessibleMessage"
"""How pydantic names a member of a union whose errors say nothing: the other one has them too."""
_WORDY = (
    *("label", "summary", "text", "blocks", "items", "cells", "expression", "alternative_text"),
    *("credit", "caption"),
)
"""Where the words of a rich message are, in the order in which they are read."""
_DEEPEST = 50


def drop_unreadable(raw: object, error: ValidationError) -> list[str]:
    """Remove from JSON what pydantic could not read, and return the names of what was removed.

    Return an empty list, and remove nothing, if the rest would not say any more who says what.
    """
    paths = set()
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        if _ALTERNATIVE not in one["loc"]:
            path = _optional(_resolved(raw, one["loc"]))
            if not path:
                return []
            paths.add(path)
    # From the end of lists, so that earlier places stay where they are.
    for path in sorted(paths, key=lambda path: [str(step).zfill(9) for step in path], reverse=True):
        holder: Any = raw
        for step in path[:-1]:
            holder = holder[step]
        if path[-1] in _ORIGINS and holder[path[-1]] != _UNKNOWN_ORIGIN:
            holder[path[-1]] = dict(_UNKNOWN_ORIGIN)
        else:
            del holder[path[-1]]
    return sorted(".".join(map(str, path)) for path in paths)


def with_plain_words(raw: object, depth: int = 0) -> object:
    """Return JSON in which each rich message is plain text.

    The SDK tries every kind of rich text at every level: five nested styles take it seconds.
    """
    if depth > 2 * _DEEPEST:
        return None
    if isinstance(raw, list):
        return [with_plain_words(one, depth + 1) for one in raw]
    if not isinstance(raw, dict):
        return raw
    told = {
        key: with_plain_words(value, depth + 1)
        for key, value in raw.items()
        if key != "rich_message"
    }
    rich = raw.get("rich_message")
    if isinstance(rich, Mapping) and "text" not in told and "caption" not in told:
        told["text"] = _words(rich.get("blocks")).strip()
    return told


def _words(value: object, depth: int = 0) -> str:
    """Return the words of a rich message, without its styles."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, list):
        is_inline = depth and not any(isinstance(one, dict) and "blocks" in one for one in value)
        return ("" if is_inline else "\n").join(_words(one, depth + 1) for one in value)
    if not isinstance(value, dict):
        return ""
    found = (_words(value[name], depth + 1) for name in _WORDY if name in value)
    return " ".join(filter(None, found))


def _resolved(raw: object, loc: Sequence[str | int]) -> Path:
    """Return how far a place that pydantic names leads into JSON, without names of its own."""
    path: list[str | int] = []
    for step in loc:
        if (isinstance(raw, dict) and step in raw) or (
            isinstance(raw, list) and isinstance(step, int) and step < len(raw)
        ):
            raw = raw[step]  # type: ignore[index]
            path.append(step)
    return tuple(path)


def _optional(path: Path) -> Path:
    """Return the innermost part of a place that can be left out; empty: there is none."""
    while path and path[-1] in _KEPT:
        path = path[:-1]
    return path
