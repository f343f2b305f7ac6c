"""Terms: what the index holds of a line or a title, and how it is asked for.

An entry is words with blanks between them. The questions are written for each database, and
each takes its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from threadline.core.search import Phrase, Query, WordPart
from threadline.core.tokenizer import normalize_text, parts, split_words
from threadline.database.port import SqlValue

_PLACES = 250
"""Places of one word that PostgreSQL surely remembers; there are 255 of them."""
_LAST_PLACE = 16_380
"""PostgreSQL tells no places apart that come after it; there are 16,383 of them."""
_LONG = "@long"
"""Marks a line of which PostgreSQL does not remember every place."""


def owner_word(*, sender_key: int | None = None, address_key: int | None = None) -> str:
    """Name whose a session is by a word that no text holds, so that others' lines are passed by."""
    return f"@a{address_key}" if sender_key is None else f"@s{sender_key}"


def words_entry(key: int, text: str, owner: str) -> dict[str, SqlValue]:
    """Write down the words of a line in order, behind its owner's."""
    spoken = split_words(normalize_text(text))
    marks = [owner, _LONG] if _is_long(spoken) else [owner]
    return {"key": key, "words": " ".join(marks + spoken)}


def grams_entry(key: int, text: str, owner: str) -> dict[str, SqlValue] | None:
    """Write down the parts of the words of a line; None if it has none."""
    found = parts(normalize_text(text))
    return {"key": key, "grams": " ".join([owner, *sorted(found)])} if found else None


def title_entry(key: int, title: str, owner: str) -> dict[str, SqlValue]:
    """Write down the words of a title, and their parts behind them."""
    folded = normalize_text(title)
    marks = [owner, *(f"~{gram}" for gram in sorted(parts(folded)))]
    return {"key": key, "words": " ".join(split_words(folded) + marks)}


def _is_long(spoken: Sequence[str]) -> bool:
    """Tell whether PostgreSQL does not remember every place of these words."""
    if len(spoken) < _PLACES:
        return False
    return len(spoken) >= _LAST_PLACE or max(Counter(spoken).values()) >= _PLACES


def lines_asked(query: Query, owners: frozenset[str] | None) -> dict[str, SqlValue]:
    """Ask for the lines that may say what is wanted. Where nothing narrows them down: None."""
    mine = sorted(owners or ())
    phrases = list(_phrases(query.wanted))
    grams = sorted(_grams(query.wanted))
    return {
        "matching": _matching(phrases, _unwanted(query), mine) if phrases else None,
        "tsquery": _tsquery(phrases, _unwanted(query), mine) if phrases else None,
        "grams": _matching([_gram(gram) for gram in grams], [], mine) if grams else None,
        "gram_list": " ".join(grams) if grams else None,
    }


def titles_asked(query: Query, owners: frozenset[str] | None) -> dict[str, SqlValue]:
    """Ask for the titles that may say what is wanted."""
    phrases = list(_phrases(query.wanted))
    phrases += [_gram(f"~{gram}") for gram in sorted(_grams(query.wanted))]
    mine = sorted(owners or ())
    return {
        "matching": _matching(phrases, _unwanted(query), mine),
        "tsquery": _tsquery(phrases, _unwanted(query), mine),
    }


def _phrases(terms: Sequence[Phrase | WordPart]) -> Iterable[Phrase]:
    for term in terms:
        yield from term.phrases if isinstance(term, WordPart) else (term,)


def _grams(terms: Sequence[Phrase | WordPart]) -> set[str]:
    return {gram for term in terms if isinstance(term, WordPart) for gram in term.grams}


def _unwanted(query: Query) -> list[Phrase]:
    """Of a part the index knows only that it may be there, which is no reason to pass by a line."""
    return [term for term in query.unwanted if isinstance(term, Phrase)]


def _gram(text: str) -> Phrase:
    return Phrase(words=(text,))


def _matching(wanted: Sequence[Phrase], unwanted: Sequence[Phrase], owners: Sequence[str]) -> str:
    """Write the query for SQLite; in quotes every word is only a word."""
    asked = [_quoted(phrase) for phrase in wanted]
    if owners:
        asked.append("(" + " OR ".join(f'"{owner}"' for owner in owners) + ")")
    text = " AND ".join(asked)
    if unwanted:
        text = f"({text}) NOT ({' OR '.join(_quoted(phrase) for phrase in unwanted)})"
    return text


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"{" *" if phrase.is_open else ""}'


def _tsquery(wanted: Sequence[Phrase], unwanted: Sequence[Phrase], owners: Sequence[str]) -> str:
    """Write the query for PostgreSQL."""
    asked = [_followed(phrase) for phrase in wanted]
    if owners:
        asked.append("(" + " | ".join(f"'{owner}'" for owner in owners) + ")")
    asked += [f"!({_followed(phrase, is_sure=True)})" for phrase in unwanted]
    return " & ".join(asked)


def _followed(phrase: Phrase, *, is_sure: bool = False) -> str:
    """Ask for words in a row; in a long line, whose places are not all known, for all of them."""
    lexemes = [f"'{word}'" for word in phrase.words]
    if phrase.is_open:
        lexemes[-1] += ":*"
    in_row = " <-> ".join(lexemes)
    if len(lexemes) == 1 or is_sure:
        return f"({in_row})"
    return f"(({in_row}) | ('{_LONG}' & {' & '.join(lexemes)}))"
