"""Entities: which stretches of a text are special, counted in UTF-16 units."""

import re
from collections.abc import Iterator

from tests.doubles.telegram.refusals import Wire, bad

MOST = 100
"""So many entities of a message count; the others are forgotten."""
_SOLID = {"code", "pre"}
"""Inside of these there is no other entity."""
_NAMED = {
    "blockquote",
    "bold",
    "bot_command",
    "cashtag",
    "code",
    "custom_emoji",
    "date_time",
    "email",
    "expandable_blockquote",
    "hashtag",
    "italic",
    "mention",
    "phone_number",
    "pre",
    "spoiler",
    "strikethrough",
    "text_link",
    "text_mention",
    "underline",
    "url",
}
_FOUND = (
    ("bot_command", re.compile(r"(?<![\w/@<>])/\w{1,64}(?:@\w{3,32})?(?![\w/])")),
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}")),
    (
        "url",
        re.compile(r"(?<![\w@.])(?:https?://[^\s<>\"]+|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net)\b)"),
    ),
    ("mention", re.compile(r"(?<![\w@.])@\w{3,32}(?!\w)")),
    ("hashtag", re.compile(r"(?<![\w#])#\w*[^\W\d]\w*")),
)


def units(text: str) -> int:
    """Count a text as Telegram does, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def stretch(text: str, entity: Wire) -> str:
    """Answer the words of a text that an entity is about."""
    data = text.encode("utf-16-le", "surrogatepass")
    begin, end = entity["offset"] * 2, (entity["offset"] + entity["length"]) * 2
    return data[begin:end].decode("utf-16-le", "replace")


def clean(text: str) -> str:
    """Take out what no message can hold: carriage returns, and other signs without a shape."""
    return "".join(
        " " if ord(sign) < 32 and sign != "\n" else sign for sign in text if sign != "\r"
    )


def trim(text: str, entities: list[Wire]) -> tuple[str, list[Wire]]:
    """Take white space off both ends, as every message has it done, and move the entities along."""
    rest = text.lstrip()
    gone = units(text) - units(rest)
    rest = rest.rstrip()
    size = units(rest)
    moved = []
    for one in entities:
        begin = max(one["offset"] - gone, 0)
        end = min(one["offset"] + one["length"] - gone, size)
        if end > begin:
            moved.append({**one, "offset": begin, "length": end - begin})
    return rest, moved


def settle(text: str, entities: list[Wire]) -> list[Wire]:
    """Put entities into order, take those out that stand inside code, and find the obvious ones."""
    solid = [one for one in entities if one["type"] in _SOLID]
    kept = list(solid)
    for one in entities:
        if one["type"] not in _SOLID:
            kept += _outside(one, solid)
    closed = [*solid, *(one for one in kept if one["type"].startswith(("text_", "url")))]
    kept += [one for one in _find(text) if not any(_meet(one, other) for other in closed)]
    kept.sort(key=lambda one: (one["offset"], -one["length"]))
    return kept[:MOST]


def checked_entities(given: object, text: str) -> list[Wire]:
    """Take entities as a bot wrote them; those that are of no known kind do not count."""
    if given is None:
        return []
    if not isinstance(given, list):
        raise bad("can't parse entities: expected an Array")
    kept = []
    for one in given:
        if not isinstance(one, dict) or not isinstance(one.get("type"), str):
            raise bad("can't parse entities: expected an Object")
        offset, length = one.get("offset"), one.get("length")
        if not isinstance(offset, int) or not isinstance(length, int):
            raise bad("can't parse entities: offset and length must be of the type Integer")
        if offset < 0 or length < 0 or offset + length > units(text):
            raise bad("can't parse entities: entity begins or ends outside of the text")
        if one["type"] in _NAMED and length:
            kept.append(_checked(one, text))
    return kept


def _checked(entity: Wire, text: str) -> Wire:
    data = text.encode("utf-16-le", "surrogatepass")
    for at in (entity["offset"], entity["offset"] + entity["length"]):
        unit = int.from_bytes(data[at * 2 : at * 2 + 2], "little")
        if 0xDC00 <= unit < 0xE000:
            raise bad(
                "can't parse entities: entity begins or ends in the middle of a UTF-16 symbol"
            )
    if entity["type"] == "text_link" and not entity.get("url"):
        raise bad("can't parse entities: text_link must have a url")
    return {key: value for key, value in entity.items() if value is not None}


def _find(text: str) -> Iterator[Wire]:
    taken: list[Wire] = []
    for kind, pattern in _FOUND:
        for match in pattern.finditer(text):
            one = {
                "type": kind,
                "offset": units(text[: match.start()]),
                "length": units(match.group()),
            }
            if not any(_meet(one, other) for other in taken):
                taken.append(one)
                yield one


def _meet(one: Wire, other: Wire) -> bool:
    return bool(
        one["offset"] < other["offset"] + other["length"]
        and other["offset"] < one["offset"] + one["length"]
    )


def _outside(entity: Wire, solid: list[Wire]) -> list[Wire]:
    """Cut the parts out of an entity that lie inside of code."""
    if entity["type"].endswith("blockquote"):
        return [entity]
    pieces = [(entity["offset"], entity["offset"] + entity["length"])]
    for wall in solid:
        begin, end = wall["offset"], wall["offset"] + wall["length"]
        pieces = [
            piece
            for a, b in pieces
            for piece in ((a, min(b, begin)), (max(a, end), b))
            if piece[0] < piece[1]
        ]
    return [{**entity, "offset": a, "length": b - a} for a, b in pieces]
