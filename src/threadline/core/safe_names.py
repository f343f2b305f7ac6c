"""Labels and words that other people chose, made safe to show to a model."""

import re
import unicodedata

from threadline.core.validation import clean_title

LABEL_LIMIT = 240
"""Characters of a name, topic or id that a model is shown."""

_LOOKED_AT = 4 * LABEL_LIMIT
"""Characters that are looked at: a topic may be megabytes long."""
_DOUBLE_QUOTES = '"\u201c\u201d\u201e\u201f\u2033\u2036\u301d\u301e\uff02'
_HARMLESS = str.maketrans(dict.fromkeys(_DOUBLE_QUOTES, "'") | {"\\": "/"})
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_VARIANTS = re.compile("[\ufe00-\ufe0f]")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

# Characters that are blank or not seen; those that end a line are apart.
_LINE_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_BLANKS = (
    r"\x00-\x09\x0e-\x1b\x1f\x20\x7f-\x84\x86-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd"
    r"\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    r"\u202a-\u202f\u205f-\u2064\u2066-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U00013438\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
_SPACE = f"[{_LINE_ENDS}{_BLANKS}]*"
_BRACKETS = r"\[\ufe47\uff3b\u3010\u3014\u2045\u27e6"


def _spelled(word: str) -> str:
    """Return a pattern for a word in any case and width, whatever unseen is between its letters."""
    letters = (
        f"[{c}{c.upper()}{chr(ord(c) + 0xFEE0)}{chr(ord(c.upper()) + 0xFEE0)}]" for c in word
    )
    return _SPACE.join(letters)


def _tag(words: str) -> re.Pattern[str]:
    """Return a pattern for what begins a tag that these patterns name, or ends its section."""
    return re.compile(rf"[<\ufe64\uff1c](?=[/\uff0f{_LINE_ENDS}{_BLANKS}]*(?:{words}))")


_TAG = _tag(f"{_spelled('context')}|{_spelled('transcript')}")
_NOTE_TAG = _tag(rf"{_spelled('note')}(?!\w)")
_LINE_START = rf"(?:\A|(?<=[{_LINE_ENDS}]))([{_BLANKS}]*)"
_PREFIX = re.compile(f"{_LINE_START}(?=[{_BRACKETS}])")
_NOTE = re.compile(
    f"{_LINE_START}(?=[{_BRACKETS}]{_SPACE}(?:{_spelled('note')}|{_spelled('yousaid')}){_SPACE}:)"
)
_SPEAKER = re.compile(
    rf"(?<=[{_LINE_ENDS}])([{_BLANKS}]*)"
    f"(?=(?:{'|'.join(map(_spelled, ('user', 'assistant', 'tool', 'note')))}){_SPACE}[:\uff1a])"
)


def neutralize(text: str, *, is_named: bool) -> str:
    """Return words of people that cannot pass for the context section, a note, or other people.

    Where messages begin with the name of their sender in brackets (`is_named`), every bracket at
    the beginning of a line gets a backslash; elsewhere only one that begins a note.
    """
    return (_PREFIX if is_named else _NOTE).sub(r"\1\\", _TAG.sub("\u2039", text))


def neutralize_tags(text: str) -> str:
    """Return a text that neither begins nor ends the context section or a transcript."""
    return _TAG.sub("\u2039", text)


def neutralize_notes(text: str) -> str:
    """Return a text that neither begins nor ends a note to a model."""
    return _NOTE_TAG.sub("&lt;", text)


def neutralize_speakers(text: str) -> str:
    """Return what one speaker said so that no line of it begins like the words of the next one."""
    return _SPEAKER.sub(r"\1\\", text)


def one_line(text: str) -> str:
    """Make one short line of a text, without anything unseen, and without double quotes."""
    seen = _VARIANTS.sub("", clean_title(text[:_LOOKED_AT], _LOOKED_AT))
    seen = "".join(sign for sign in seen if unicodedata.category(sign) not in _UNSEEN)
    return clean_title(seen, LABEL_LIMIT).translate(_HARMLESS)


def quote_name(text: str) -> str:
    """Write a text as a label in double quotes, out of which it cannot break."""
    return f'"{one_line(text)}"'


def is_unchanged_by_quoting(text: str) -> bool:
    """Tell whether a text reads the same as a label: only then may it be used as an id."""
    return bool(text) and one_line(text) == text


def platform_name(platform: str) -> str:
    """Write the name of a platform: as it is, unless it looks like no such name."""
    return platform if _PLAIN_NAME.fullmatch(platform) else quote_name(platform)
