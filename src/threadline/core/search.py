"""Searching: what may be asked, and what an answer says of each place that was found."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import force_setattr

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.message import MessageKey, Role
from threadline.core.person import Identity, PersonKey, checked_person_key
from threadline.core.session import ProjectKey, SessionId, checked_project_key, checked_session_id
from threadline.core.tokenizer import PART_LEAST, WORD_LIMIT, normalize_text, parts, word_runs
from threadline.core.validation import (
    checked_choice,
    checked_flag,
    checked_id,
    checked_moment,
    checked_text,
    checked_type,
    unfit,
)

QUERY_LIMIT = 1000
"""Characters."""
TERMS_LIMIT = 32
HITS = 50
LARGEST_HITS = 1000
SKIP_LIMIT = 10_000
SNIPPET_LIMIT = 200
"""Characters."""
TYPED_LEAST = 2
"""Letters that the last word must have before it is taken for the beginning of one."""

SPOKEN = (Role.USER, Role.ASSISTANT, Role.TOOL)
"""Whose lines are searched where nobody is named: not our notes, which quote what was deleted."""

_TERM = re.compile(r'(?P<minus>-?)(?:"(?P<quoted>[^"]*)"?(?P<star>\*?)|(?P<bare>[^\s"]+))')


class Phrase(Struct, frozen=True, kw_only=True):
    """Words that follow each other; of the last one perhaps only the beginning."""

    words: tuple[str, ...]
    is_open: bool = False


class WordPart(Struct, frozen=True, kw_only=True):
    """Characters that stand somewhere, also in the middle of a word."""

    text: str
    phrases: tuple[Phrase, ...]
    """What of it an index of words can find: unspaced scripts, and symbols."""
    grams: frozenset[str]
    """What of it an index of parts can find."""


class Query(Struct, frozen=True, kw_only=True):
    """What a line must say, and what it must not."""

    wanted: tuple[Phrase | WordPart, ...]
    unwanted: tuple[Phrase | WordPart, ...] = ()


class SearchFilter(Struct, frozen=True, kw_only=True):
    """Where to search; what is None is not asked."""

    roles: tuple[Role, ...] | None = None
    """Whose lines; None: everybody's but the notes that the system leaves, and titles."""
    platform: str | None = None
    kind: Kind | None = None
    person: PersonKey | None = None
    """Lines that this person said, and all of their own conversations."""
    sender: Identity | None = None
    """The same, by any id of that person."""
    project: ProjectKey | None = None
    session: SessionId | None = None
    """Lines that were said in it; those that a branch shares were said in its base."""
    since: datetime | None = None
    until: datetime | None = None
    """Before this moment."""
    is_archived: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what no line could ever be."""
        if self.roles is not None:
            force_setattr(self, "roles", _checked_roles(self.roles))
        if self.platform is not None:
            checked_id(self.platform, "platform")
        if self.kind is not None:
            force_setattr(self, "kind", checked_choice(self.kind, "kind", Kind))
        if self.project is not None:
            checked_project_key(self.project)
        if self.session is not None:
            checked_session_id(self.session)
        for name in ("since", "until"):
            if getattr(self, name) is not None:
                force_setattr(self, name, checked_moment(getattr(self, name), name))
        if self.is_archived is not None:
            checked_flag(self.is_archived, "is_archived")
        self._check_people()

    def _check_people(self) -> None:
        if self.person is not None:
            checked_person_key(self.person)
        if self.sender is not None:
            checked_type(self.sender, "sender", Identity)
            if self.person is not None:
                raise Invalid("A search is about a person or a sender, not about both")


class Snippet(Struct, frozen=True, kw_only=True):
    """A stretch of a text, and where in it the words stand that were looked for."""

    text: str
    ranges: tuple[tuple[int, int], ...] = ()
    """From and to of what was found, counted in characters."""


class Hit(Struct, frozen=True, kw_only=True):
    """A line that says what was looked for."""

    session_id: SessionId
    seq: int
    key: MessageKey
    role: Role
    at: datetime
    title: str | None
    """That of its session."""
    snippet: Snippet
    rank: int
    """1 for the best."""


class TitleHit(Struct, frozen=True, kw_only=True):
    """A session whose title says what was looked for."""

    session_id: SessionId
    title: Snippet
    last_activity_at: datetime


class Found(Struct, frozen=True, kw_only=True):
    """A page of what was found, the best first."""

    sessions: Sequence[TitleHit] = field(default_factory=tuple)
    """Found by their titles; on the first page only."""
    hits: Sequence[Hit] = field(default_factory=tuple)
    next: int | None = None
    """How many hits to skip for the next page; None: there are no more."""
    is_complete: bool = True
    """False while so much is still to be indexed that not all of it was looked at."""


def read_query(text: str, *, is_typing: bool = False) -> Query:
    """Read a query as a person writes it.

    Words must all be there; "in quotes" they follow each other; -word must not be there; word*
    is the beginning of a word, and *part* any part of it. Nothing else has a meaning. While
    somebody is typing, the last word may be the beginning of one.
    """
    checked_text(text, "search", QUERY_LIMIT)
    wanted: list[Phrase | WordPart] = []
    unwanted: list[Phrase | WordPart] = []
    for term in _TERM.finditer(text):
        is_last = is_typing and term.end() == len(text)
        for meant in _meanings(term, is_typed=is_last):
            (unwanted if term["minus"] else wanted).append(meant)
    if len(wanted) + len(unwanted) > TERMS_LIMIT:
        raise Invalid(f"That is more than {TERMS_LIMIT} words", hint="Leave some out")
    if not wanted:
        what = "only what must not be there" if unwanted else "no word"
        raise Invalid(f"The search names {what}", hint="Name a word to look for")
    return Query(wanted=tuple(wanted), unwanted=tuple(unwanted))


def _meanings(term: re.Match[str], *, is_typed: bool) -> Iterator[Phrase | WordPart]:
    """Answer what one term means; nothing, if it holds no word."""
    bare = term["bare"]
    if bare is None:
        is_open = bool(term["star"]) or (is_typed and not term[0].endswith('"'))
        found = read_phrase(term["quoted"], is_open=is_open)
    elif len(bare) > 2 and bare[0] == bare[-1] == "*" and bare.strip("*"):
        yield read_part(bare.strip("*"))
        return
    else:
        is_open = bare.endswith("*") or (is_typed and len(bare) >= TYPED_LEAST)
        found = read_phrase(bare, is_open=is_open)
    if found is not None:
        yield found


def read_phrase(text: str, *, is_open: bool = False) -> Phrase | None:
    """Take words apart as texts are; None, if there are none."""
    found: list[str] = []
    pieces = list(word_runs(normalize_text(text)))
    for run, _, _, kind in pieces[:-1]:
        found += [*_pairs(run), run[-1]] if kind == "unspaced" else [run[:WORD_LIMIT]]
    if not pieces:
        return None
    run, _, _, kind = pieces[-1]
    if kind == "unspaced":
        # Whatever comes after it belongs to the same run, so its last character does not end it.
        is_open = len(run) == 1
        found += _pairs(run) or [run]
    else:
        found.append(run[:WORD_LIMIT])
    return Phrase(words=tuple(found), is_open=is_open)


def read_part(text: str) -> WordPart:
    """Take a part of a word; refuse one that no index could narrow down."""
    folded = normalize_text(text)
    phrases = tuple(
        phrase
        for run, _, _, kind in word_runs(folded)
        if kind != "word"
        for phrase in [read_phrase(run)]
        if phrase is not None
    )
    grams = frozenset(parts(folded))
    if not phrases and not grams:
        raise Invalid(
            f"*{text[:40]}* is too short to be found inside of words",
            hint=f"Give {PART_LEAST} letters or digits in a row",
        )
    return WordPart(text=folded, phrases=phrases, grams=grams)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _checked_roles(roles: object) -> tuple[Role, ...]:
    if not isinstance(roles, tuple) or not roles:
        raise unfit(roles, "roles", f"a tuple of some of {', '.join(Role)}")
    return tuple(checked_choice(role, "role", Role) for role in roles)
