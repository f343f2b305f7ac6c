"""Matcher: whether a text says what was looked for, and where."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from threadline.core.search import SNIPPET_LIMIT, Phrase, Query, Snippet, WordPart
from threadline.core.tokenizer import WORD_LIMIT, normalize_text, placed_words, split_words

_BEFORE = 60
"""Characters of a snippet that come before what was found."""
_FIRST_LOOK = 2_000
"""Most texts say it early, and a long one need not be taken apart as a whole."""
_ELLIPSIS = "…"
_BLANKS = dict.fromkeys(map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"), " ")


def says(text: str, query: Query) -> bool:
    """Tell whether a text says everything that is wanted, and nothing that is not."""
    folded = normalize_text(text)
    if folded.isascii():
        return all(_plain_pattern(term).search(folded) for term in query.wanted) and not any(
            _plain_pattern(term).search(folded) for term in query.unwanted
        )
    spoken = split_words(folded)
    return all(_holds(folded, spoken, term) for term in query.wanted) and not any(
        _holds(folded, spoken, term) for term in query.unwanted
    )


def _holds(folded: str, spoken: Sequence[str], term: Phrase | WordPart) -> bool:
    if isinstance(term, WordPart):
        return term.text in folded
    return next(_places(spoken, term), None) is not None


@lru_cache(maxsize=64)
def _plain_pattern(term: Phrase | WordPart) -> re.Pattern[str]:
    """Write a term as a pattern, which finds in plain ASCII what taking it apart would find."""
    if isinstance(term, WordPart):
        return re.compile(re.escape(term.text))
    words = [
        f"{re.escape(word)}[a-z0-9]*" if len(word) == WORD_LIMIT else re.escape(word)
        for word in term.words
    ]
    end = "" if term.is_open else "(?![a-z0-9])"
    # A pattern that begins with letters is looked for much faster, so the look back comes after.
    first = re.escape(term.words[0])
    words[0] = f"{first}(?<![a-z0-9]{first}){words[0].removeprefix(first)}"
    return re.compile(f"{'[^a-z0-9]+'.join(words)}{end}")


def _places(spoken: Sequence[str], phrase: Phrase) -> Iterator[int]:
    """Walk over the places at which a phrase begins."""
    first, last = phrase.words[0], phrase.words[-1]
    length = len(phrase.words)
    for at in range(len(spoken) - length + 1):
        end = spoken[at + length - 1]
        if not (end.startswith(last) if phrase.is_open else end == last):
            continue
        if length == 1 or (
            spoken[at] == first and tuple(spoken[at : at + length - 1]) == phrase.words[:-1]
        ):
            yield at


def cut_snippet(text: str, query: Query, limit: int = SNIPPET_LIMIT) -> Snippet:
    """Cut out of a text what stands around the first thing that was found."""
    found: list[tuple[int, int]] = []
    for size in (_FIRST_LOOK, len(text)):
        found = _ranges(text[:size], query)
        if found or size >= len(text):
            break
    first = found[0][0] if found else 0
    begin = 0 if len(text) <= limit else max(0, min(first - _BEFORE, len(text) - limit + 1))
    before = _ELLIPSIS if begin else ""
    room = limit - len(before)
    is_cut = len(text) - begin > room
    end = begin + room - is_cut
    shift = len(before) - begin
    shown = text[begin:end]
    if not shown.isprintable():
        shown = shown.translate(_BLANKS)
    return Snippet(
        text=before + shown + (_ELLIPSIS if is_cut else ""),
        ranges=tuple(
            (max(from_, begin) + shift, min(to, end) + shift)
            for from_, to in found
            if from_ < end and to > begin
        ),
    )


def _ranges(text: str, query: Query) -> list[tuple[int, int]]:
    """List where a text says what is wanted, in order, without overlaps."""
    folded = normalize_text(text)
    if text.isascii():
        return _merged(
            [
                place.span()
                for term in query.wanted
                for place in _plain_pattern(term).finditer(folded)
            ]
        )
    placed = list(placed_words(folded))
    spoken = [word for word, _, _ in placed]
    found: list[tuple[int, int]] = []
    for term in query.wanted:
        if isinstance(term, WordPart):
            found += _occurrences(folded, term.text)
        else:
            found += [
                (placed[at][1], _end(placed[at + len(term.words) - 1], term))
                for at in _places(spoken, term)
            ]
    return _merged(_unfolded(text, folded, found))


def _end(placed: tuple[str, int, int], phrase: Phrase) -> int:
    """Of a word that was only begun, show the beginning."""
    _, begin, end = placed
    return begin + len(phrase.words[-1]) if phrase.is_open else end


def _occurrences(folded: str, part: str) -> Iterator[tuple[int, int]]:
    at = folded.find(part)
    while at >= 0:
        yield at, at + len(part)
        at = folded.find(part, at + len(part))


def _merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _unfolded(
    text: str, folded: str, ranges: Sequence[tuple[int, int]]
) -> Sequence[tuple[int, int]]:
    """Bring places in a folded text back to where they are in the text itself."""
    if not ranges:
        return ranges
    if len(text) == len(folded) and all(
        normalize_text(text[begin:end]) == folded[begin:end] for begin, end in ranges
    ):
        return ranges
    origins = _origins(text)
    if len(origins) - 1 != len(folded):
        return ()  # Somewhere the neighbours of a character changed it: no place is certain.
    return [(origins[begin], _origin_of_end(origins, end)) for begin, end in ranges]


def _origin_of_end(origins: Sequence[int], end: int) -> int:
    """What a character was folded into may be cut in the middle: then show all of it."""
    at = end
    while at < len(origins) - 1 and origins[at] == origins[end - 1]:
        at += 1
    return origins[at]


def _origins(text: str) -> list[int]:
    """Tell of every character of a folded text from where it comes, and at last where it ends."""
    origins: list[int] = []
    for begin, end in _clusters(text):
        origins += [begin] * len(normalize_text(text[begin:end]))
    origins.append(len(text))
    return origins


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Walk over characters, each with the marks that belong to it."""
    begin = 0
    for at in range(1, len(text)):
        character = text[at]
        if character.isascii() or not _joins(character):
            yield begin, at
            begin = at
    if text:
        yield begin, len(text)


def _joins(character: str) -> bool:
    """Tell whether a character may become one with that before it."""
    return (
        unicodedata.category(character)[0] == "M"
        or unicodedata.category(character) == "Cf"
        or "\u1160" <= character <= "\u11ff"
        or "\uff9e" <= character <= "\uff9f"
    )
