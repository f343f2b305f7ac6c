"""Tokenizer: how a text is split for the search, in the same way everywhere.

A text is folded first, so that case and ways of writing do not count. Its words are runs of
letters, digits and marks. Where a script puts no blanks between words, every two neighbours
make a word, and the last character of a run stands alone, so that each character begins one.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

SEARCHED_LIMIT = 65_536
"""Characters of a message that are searched, from its beginning on."""
WORD_LIMIT = 64
"""Characters of a word that count."""
PART_LEAST = 3
"""Characters that a part of a word must have, so that it can be found in the middle."""

# Thai, Lao, Tibetan, Burmese and Khmer; Hangul; from the radicals to the ideographs; and so on.
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007"
    "\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f"
    "\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
)
# Without width, or only a wish for how something should look.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_PLAIN = re.compile(r"(?P<word>[a-z0-9]+)")
_LAST_OF_INTEREST = 0x1FFFF
"""Above it are ideographs, and nothing else that makes a word."""


def normalize_text(text: str) -> str:
    """Answer a text in the one form in which texts are compared."""
    text = text[:SEARCHED_LIMIT]
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    # The Turkish letters: whoever writes one i shall find them all.
    text = text.replace("i\u0307", "i").replace("\u0131", "i")
    return unicodedata.normalize("NFKC", text)[:SEARCHED_LIMIT]


def split_words(folded: str) -> list[str]:
    """List the words of a folded text in order."""
    if folded.isascii():
        return [word[:WORD_LIMIT] for word in _PLAIN.findall(folded)]
    return [word for word, _, _ in placed_words(folded)]


def placed_words(folded: str) -> Iterator[tuple[str, int, int]]:
    """Walk over the words of a folded text, with the place where each begins and ends."""
    for run, begin, end, kind in word_runs(folded):
        if kind == "unspaced":
            for at in range(begin, end - 1):
                yield folded[at : at + 2], at, at + 2
            yield run[-1], end - 1, end
        else:
            yield run[:WORD_LIMIT], begin, end


def word_runs(folded: str) -> Iterator[tuple[str, int, int, str]]:
    """Walk over the runs of characters that make words: text, begin, end, and kind.

    The kind is word, unspaced for a script without blanks, or symbol for one that stands alone.
    """
    pattern = _PLAIN if folded.isascii() else _runs()
    for found in pattern.finditer(folded):
        yield found[0], found.start(), found.end(), found.lastgroup or ""


def parts(folded: str) -> set[str]:
    """Answer every three neighbours within the words of a folded text, unspaced scripts left out.

    These need none: there a part of a word is found as their words are.
    """
    if folded.isascii():
        different = set(_PLAIN.findall(folded))
    else:
        different = {run for run, _, _, kind in word_runs(folded) if kind == "word"}
    return {
        run[at : at + PART_LEAST] for run in different for at in range(len(run) - PART_LEAST + 1)
    }


@cache
def _runs() -> re.Pattern[str]:
    """Make the pattern of runs, once somebody needs more than plain letters."""
    unspaced = re.compile(f"[{_UNSPACED}]")
    letters, symbols = [], []
    for code in range(_LAST_OF_INTEREST):
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] in "LNM" and not unspaced.match(character):
            letters.append(code)
        elif category == "So" and not unspaced.match(character):
            symbols.append(code)
    return re.compile(
        f"(?P<word>[{_ranges(letters)}]+)|(?P<unspaced>[{_UNSPACED}]+)"
        f"|(?P<symbol>[{_ranges(symbols)}])"
    )


def _ranges(codes: list[int]) -> str:
    """Write the inside of a character class."""
    written, first = [], 0
    for at, code in enumerate(codes):
        if at + 1 == len(codes) or codes[at + 1] != code + 1:
            written.append(f"{re.escape(chr(codes[first]))}-{re.escape(chr(code))}")
            first = at + 1
    return "".join(written)
