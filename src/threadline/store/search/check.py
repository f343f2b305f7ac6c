"""Checking the index against what it is made from, and making it anew."""

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import asdict

from threadline.database.port import Finding, SqlValue, Transaction, expect
from threadline.store.search.index import IndexedLine, Owned
from threadline.store.search.terms import grams_entry, title_entry, words_entry

_PAGE = 500
_MOST_FINDINGS = 20
_MOST_WORDS = 100
"""Words that are asked for at once."""
_KINDS = ("words", "grams", "titles")


class _Held(Struct, frozen=True, kw_only=True):
    """What the index holds."""

    words: int
    grams: int
    titles: int


class _IndexedTitle(Owned, frozen=True, kw_only=True):
    """The title of a session that the index should know."""

    indexed_title: str


class _Tally(Struct):
    """What the index should hold, as either database counts it."""

    sqlite: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))
    postgres: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))

    def add(self, kind: str, entry: SqlValue) -> None:
        """Count an entry, and the different words in it."""
        self.sqlite[kind] += len(set(str(entry).split()))
        self.postgres[kind] += 1


def check_index(tx: Transaction) -> list[Finding]:
    """Compare the index with every line and title, in both directions.

    Each must be found by all of its words; and if the index then holds as many words of lines as
    there are, it holds no other ones.
    """
    tally = _Tally()
    lost = [*_lost_lines(tx, tally), *_lost_titles(tx, tally)]
    held = asdict(expect(tx, "count_index", _Held))
    if not lost and held not in (tally.sqlite, tally.postgres):
        lost.append("The search index holds words that nobody wrote, or that were deleted")
    return [Finding(what=what, grave=True) for what in lost[:_MOST_FINDINGS]]


def rebuild_index(tx: Transaction) -> None:
    """Empty the index, so that everything is indexed anew; a search finds all of it meanwhile."""
    tx.run("empty_words")
    tx.run("empty_grams")
    tx.run("empty_title_words")
    tx.run("forget_indexed")


def _lost_lines(tx: Transaction, tally: _Tally) -> Iterator[str]:
    for line in _lines(tx):
        key, text, owner = line.key, line.text, line.owner
        entry = words_entry(key, text, owner)
        tally.add("words", entry["words"])
        known = _knows(tx, "words", entry["words"], key)
        grams = grams_entry(key, text, owner)
        if grams is not None:
            tally.add("grams", grams["grams"])
            known = known and _knows(tx, "grams", grams["grams"], key)
        if not known:
            yield f"The search index does not know message {key} as it reads now"


def _lost_titles(tx: Transaction, tally: _Tally) -> Iterator[str]:
    after = -1
    while page := tx.all("read_indexed_titles", _IndexedTitle, after=after, most=_PAGE):
        for session in page:
            after = session.key
            entry = title_entry(after, session.indexed_title, session.owner)
            tally.add("titles", entry["words"])
            if not _knows(tx, "titles", entry["words"], after):
                yield f"The search index does not know the title of session {after}"


def _lines(tx: Transaction) -> Iterator[IndexedLine]:
    after = -1
    while page := tx.all("read_indexed_lines", IndexedLine, after=after, most=_PAGE):
        yield from page
        after = page[-1].key


def _knows(tx: Transaction, kind: str, entry: SqlValue, key: int) -> bool:
    """Tell whether a line or title is found by all that its entry holds."""
    held = sorted(set(str(entry).split()))
    for at in range(0, len(held), _MOST_WORDS):
        asked = " AND ".join(f'"{word}"' for word in held[at : at + _MOST_WORDS])
        if kind == "words":
            is_found = tx.exists("find_words", key=key, matching=asked, words=entry)
        elif kind == "grams":
            is_found = tx.exists("find_grams", key=key, matching=asked, words=entry)
        else:
            is_found = tx.exists("find_title_words", key=key, matching=asked, words=entry)
        if not is_found:
            return False
    return True
