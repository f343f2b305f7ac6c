"""Text from outside, and ids, names, counts and moments: taken only when they can be kept."""

import codecs
import re
import reprlib
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from threadline.core.errors import Invalid

ID_LIMIT = 255
"""Bytes in UTF-8: what an index of either database surely holds."""
TEXT_LIMIT = 4 * 1024 * 1024
"""Characters."""
TITLE_LIMIT = 100
FIRST_WORDS = 64
"""Characters of what was said first that make a title."""
"""Characters."""
UTF_8 = frozenset({None, "utf-8", "utf8"})
"""What a Content-Type may say about the charset."""
COUNT_LIMIT = 2**63 - 1
"""The greatest number that both databases can store."""
SPAN_LIMIT = timedelta(days=36500)

Choice = TypeVar("Choice", bound=StrEnum)
T = TypeVar("T")

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

# White space stays out of this list: it is folded, not dropped, so that words do not run together.
_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # those that turn the direction of writing
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # without width
    "\ud800-\udfff"  # halves of a character
    "]"
)


def unfit(value: object, what: str, wish: str) -> Invalid:
    """Make the error that names a field, shows its value shortened, and says what is wanted."""
    return Invalid(f"{what} cannot be {_shown(value)}", hint=f"It must be {wish}")


def checked_id(value: object, what: str) -> str:
    """Take an id that both databases can store and index; it may look like anything."""
    if isinstance(value, str) and len(value) <= ID_LIMIT and _is_storable(value, ID_LIMIT):
        return value
    raise unfit(value, what, f"text of at most {ID_LIMIT} bytes, without NUL and half characters")


def checked_text(value: object, what: str, limit: int = TEXT_LIMIT) -> str:
    """Take a text that both databases can store."""
    if isinstance(value, str) and len(value) <= limit and _is_storable(value):
        return value
    raise unfit(
        value, what, f"text of at most {limit:,} characters, without NUL and half characters"
    )


def checked_name(value: object, what: str) -> str:
    """Take a name that may become part of a path, because it cannot leave its folder."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise unfit(value, what, "1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit")


def checked_choice(value: object, what: str, choices: type[Choice]) -> Choice:
    """Take one of the words of an enum, as text or as its member."""
    if isinstance(value, choices):
        return value
    for choice in choices:
        if value == choice:
            return choice
    raise unfit(value, what, f"one of {', '.join(choices)}")


def checked_count(value: object, what: str, least: int = 0) -> int:
    """Take a whole number that is not below the least one."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= COUNT_LIMIT:
        return value
    raise unfit(value, what, f"a whole number from {least} to {COUNT_LIMIT}")


def checked_type(value: object, what: str, kind: type[T]) -> T:
    """Take a value of ours, and nothing in its place: callers need not be typed."""
    if isinstance(value, kind):
        return value
    raise unfit(value, what, f"a {kind.__name__}")


def checked_span(value: object, what: str) -> timedelta:
    """Take a span of time that can be added to any moment of our days."""
    if isinstance(value, timedelta) and timedelta(0) <= value <= SPAN_LIMIT:
        return value
    raise unfit(value, what, f"a timedelta from 0 to {SPAN_LIMIT.days} days")


def checked_flag(value: object, what: str) -> bool:
    """Take what is either true or false, and nothing that only looks so."""
    if isinstance(value, bool):
        return value
    raise unfit(value, what, "true or false")


def checked_moment(value: object, what: str) -> datetime:
    """Take a moment that knows its time zone, and give it back in UTC."""
    if isinstance(value, datetime) and value.utcoffset() is not None:
        try:
            return value.astimezone(UTC)
        except OverflowError:
            pass  # a moment of the year 1 or 9999 that UTC would put outside the calendar
    raise unfit(value, what, "a datetime with a time zone")


def clean_title(text: str, limit: int = TITLE_LIMIT) -> str:
    """Make one short line of any text: nothing unseen in it, white space folded."""
    if not isinstance(text, str):
        raise unfit(text, "title", "text")
    if not (text.isascii() and text.isprintable()):  # most are, and hide nothing
        text = _UNSEEN.sub("", text)
    elif "  " not in text:  # nor is there anything to fold
        return text.strip()[:limit].rstrip()
    return " ".join(text.split())[:limit].rstrip()


def first_words(text: str) -> str:
    """Make a title of the beginning of a text."""
    return clean_title(text, FIRST_WORDS)


def _is_storable(value: str, bytes_limit: int | None = None) -> bool:
    if value.isascii():  # known without a look at it, and each sign is a byte
        return "\0" not in value and (bytes_limit is None or len(value) <= bytes_limit)
    try:
        encoded = value.encode()
    except UnicodeEncodeError:  # half a character: a lone surrogate
        return False
    return "\0" not in value and (bytes_limit is None or len(encoded) <= bytes_limit)


def _shown(value: object) -> str:
    try:
        return _shortened.repr(value)
    except ValueError:  # an int of more digits than Python is willing to write
        return f"such a long {type(value).__name__}"


_shortened = reprlib.Repr()
_shortened.maxstring = _shortened.maxother = 60


def is_utf8_text(data: bytes | bytearray) -> bool:
    """Return whether bytes are UTF-8, without a byte order mark and without NUL.

    NUL is in every JSON text that is written in UTF-16 or UTF-32, and in none in UTF-8.
    """
    if data.startswith(codecs.BOM_UTF8) or 0 in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def charset_of(content_type: str) -> str | None:
    """Return the charset that a Content-Type names, in small letters, or None."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return None
