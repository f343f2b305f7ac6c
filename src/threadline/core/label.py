"""Labels: names, topics and ids that other people chose, made safe to show to a model."""

import re
import unicodedata

from threadline.core.text import clean_title

LABEL_LIMIT = 240
"""Characters of a name, topic or id that a model is shown."""

_LOOKED_AT = 4 * LABEL_LIMIT
"""Characters that are looked at: a topic may be megabytes long."""
_DOUBLE_QUOTES = '"\u201c\u201d\u201e\u201f\u2033\u2036\u301d\u301e\uff02'
_HARMLESS = str.maketrans(dict.fromkeys(_DOUBLE_QUOTES, "'") | {"\\": "/"})
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_VARIANTS = re.compile("[\ufe00-\ufe0f]")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def label(text: str) -> str:
    """Make one short line of a text, without anything unseen, and without double quotes."""
    seen = _VARIANTS.sub("", clean_title(text[:_LOOKED_AT], _LOOKED_AT))
    seen = "".join(sign for sign in seen if unicodedata.category(sign) not in _UNSEEN)
    return clean_title(seen, LABEL_LIMIT).translate(_HARMLESS)


def quoted(text: str) -> str:
    """Write a text as a label in double quotes, out of which it cannot break."""
    return f'"{label(text)}"'


def is_faithful(text: str) -> bool:
    """Tell whether a text reads the same as a label: only then may it be used as an id."""
    return bool(text) and label(text) == text


def named(platform: str) -> str:
    """Write the name of a platform: as it is, unless it looks like no such name."""
    return platform if _PLAIN_NAME.fullmatch(platform) else quoted(platform)
