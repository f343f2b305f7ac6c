"""Approvals: how a person says yes or no to what an agent wants to do, and for how long."""

import json
import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import groupby
from typing import NewType

from msgspec import Struct

from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.core.validation import checked_count

AllowanceKey = NewType("AllowanceKey", int)

_LONG_RUN = re.compile(r" {17,}|\t{5,}|[ \t]{17,}|\n{4,}|`{6,}| +(?=\n|\Z)|\t+(?=\n|\Z)")
_RUN_NAMES = {" ": "spaces", "\t": "tabs", "\n": "line breaks", "`": "backticks"}
_MARKS = frozenset({"Mn", "Mc"})
_MOST_MARKS = 4
"""Combining marks on one letter: no language needs more, and more of them cover other lines."""
_UNSEEN_MARKS = re.compile(
    "[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"  # without width
    "\u2d7f\U0001107f\U00016fe4\U0001bc9d\U0001bc9e"
    "\u0334-\u0338\u20d2-\u20e6\u20ea\u20eb]"  # those that strike letters out
)
_EUROPEAN_END = "\u0590"
"""Latin, Greek, Cyrillic and Armenian letters come before it."""
_EUROPEAN_MARKS = re.compile("[\u0300-\u058f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Marks for these letters. Of other scripts, some join letters and are not seen by themselves."""
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffc\U0001d159")
_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]")
_JOINED_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")
"""Vowels and ends of Korean syllables, which have no width behind any other letter."""
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Me", "Zl", "Zp"})
_OPEN, _CLOSE = "⟦", "⟧"
_LINE_BREAK = f"{_OPEN}U+000A{_CLOSE}"

QUESTION_LIMIT = 50_000
"""Characters of a question about tool calls. What does not fit is not asked: nothing is cut."""


class Approval(StrEnum):
    """What a person decides about something that an agent asked leave for."""

    APPROVED = "approved"
    DENIED = "denied"


class PermissionDuration(StrEnum):
    """For how long leave is given."""

    ONCE = "once"
    SESSION = "session"
    """As long as this conversation goes on."""
    ALWAYS = "always"
    """In every conversation of the profile."""


class ToolPermission(Struct, frozen=True, kw_only=True):
    """Leave to use a tool without asking: in one session, or always in a profile."""

    key: AllowanceKey
    profile: str
    session_id: SessionId | None
    """None: in every conversation of the profile."""
    tool: str
    allowed_at: datetime
    by: Identity | None
    """Who gave it; None: nobody knows any more."""
    by_name: str | None = None

    @property
    def extent(self) -> PermissionDuration:
        """For how long it is given."""
        return PermissionDuration.ALWAYS if self.session_id is None else PermissionDuration.SESSION


def checked_allowance_key(value: object) -> AllowanceKey:
    """Take what may be the key of an allowance."""
    return AllowanceKey(checked_count(value, "number of an allowance"))


class ToolVerdict(StrEnum):
    """Whether an agent may use a tool."""

    FREE = "free"
    ASK = "ask"
    """A person is asked first."""
    BARRED = "barred"
    """The agent is not even told of it."""


class ToolRules(Struct, frozen=True, kw_only=True):
    """Which tools there are for an agent, and for which of them a person is asked.

    Each is a list of names, in which `*` stands for any characters.
    """

    use: tuple[str, ...] = ("*",)
    """What it may use at all."""
    ask: tuple[str, ...] = ("*",)
    """For what a person is asked first."""
    free: tuple[str, ...] = ()
    """For what nobody is asked, though `ask` names it."""

    def verdict(
        self, tool: str, *, only: Iterable[str] | None = None, allowed: Iterable[str] = ()
    ) -> ToolVerdict:
        """Judge a tool: `only` is what a session was restricted to, `allowed` what was granted."""
        if not matches(tool, self.use) or (only is not None and not matches(tool, only)):
            return ToolVerdict.BARRED
        if not matches(tool, self.ask) or matches(tool, self.free) or tool in set(allowed):
            return ToolVerdict.FREE
        return ToolVerdict.ASK


def matches(tool: str, patterns: Iterable[str]) -> bool:
    """Tell whether one of these patterns names a tool."""
    return any(fnmatchcase(tool, pattern) for pattern in patterns)


def reveal(text: str) -> str:
    """Write a text so that a reader sees every character that it contains.

    Control, format, zero-width and bidirectional characters, unusual blanks and combining marks
    without a letter become `⟦U+202E⟧`; long runs of blanks, and blanks at the end of a line, become
    `⟦48 spaces⟧`. So do backticks that could end a block of code. No two texts are written in the
    same way.
    """
    if text.isascii() and text.isprintable():
        return _LONG_RUN.sub(_name_run, text)
    signs, room, letter = [], 0, ""
    for sign in text:
        if unicodedata.category(sign) in _MARKS:
            room -= 1
            is_shown = room >= 0 and _is_seen_on(letter, sign)
        else:
            is_shown = sign in "\n\t " or _is_visible(sign, letter)
            letter = sign
            room = _MOST_MARKS if sign.isalpha() else 0
        signs.append(sign if is_shown else f"{_OPEN}U+{ord(sign):04X}{_CLOSE}")
    return _LONG_RUN.sub(_name_run, "".join(signs))


def reveal_arguments(arguments: object) -> str:
    """Write the arguments of a call, each in lines of its own, with nothing left out.

    A value of several lines stands behind `|`, so that it cannot look like another argument. A text
    that could be taken for another value, as for `true`, is in quotes, and so is such a name.
    """
    if not isinstance(arguments, dict):
        return _reveal_value(arguments)
    return "\n".join(
        f"{_reveal_name(str(name))}: {_reveal_value(value)}" for name, value in arguments.items()
    )


def reveal_lines(text: str) -> str:
    """Write a text; if it has several lines, each stands behind `|`."""
    lines = reveal(text).split("\n")
    return lines[0] if len(lines) == 1 else "".join(f"\n| {line}" for line in lines)


def _reveal_name(name: str) -> str:
    shown = reveal(name).replace("\n", _LINE_BREAK)
    if ":" not in name and not name.startswith('"'):
        return shown
    return '"' + shown.replace('"', f"{_OPEN}U+0022{_CLOSE}") + '"'


def _reveal_value(value: object) -> str:
    if not isinstance(value, str):
        return reveal_lines(json.dumps(value, ensure_ascii=False, default=str))
    is_ambiguous = "\n" not in value and (value.startswith('"') or _is_json(value))
    return reveal_lines(f'"{value}"' if is_ambiguous else value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_seen_on(letter: str, mark: str) -> bool:
    """Return whether a combining mark is seen behind a letter."""
    if _UNSEEN_MARKS.match(mark):
        return False
    return letter >= _EUROPEAN_END or _EUROPEAN_MARKS.match(mark) is not None


def _is_visible(sign: str, before: str) -> bool:
    if _JOINED_JAMO.match(sign) and not _JAMO.match(before):
        return False
    category = unicodedata.category(sign)
    is_blank = category == "Zs" or sign in _BLANKS
    return not (category in _INVISIBLE or is_blank or sign in {_OPEN, _CLOSE})


def _name_run(run: re.Match[str]) -> str:
    end = "\n" if run.group()[0] == "\n" else ""
    runs = ((sign, sum(1 for _ in same)) for sign, same in groupby(run.group()))
    return "".join(f"{_OPEN}{n} {_RUN_NAMES[sign]}{_CLOSE}" for sign, n in runs) + end


def name_question(turn_id: TurnId, nth: int) -> str:
    """Name one of the questions of a turn: who answers it late must not answer the next one."""
    return f"{turn_id}.{nth}"


def write_answer(approval: Approval, words: str = "") -> str:
    """Write a decision, and what was said with it, as the answer that a waiting turn gets."""
    return f"{approval}: {words}" if words else approval.value


def read_answer(answer: str) -> tuple[Approval | None, str]:
    """Read a decision and the words with it; None: it is an answer in free words."""
    head, _, words = answer.partition(":")
    for approval in Approval:
        if head.strip().lower() == approval:
            return approval, words.strip()
    return None, answer
