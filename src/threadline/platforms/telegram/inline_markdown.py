"""Markdown: what a line of Markdown says, and in which style each stretch of it is shown.

Marks that stand for a style are taken out, and all others stay as they were written: no text is
refused, none gets longer, and the time it takes grows with its length and not faster.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct


class Style(StrEnum):
    """How a stretch of text is shown, by Telegram's own name."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strikethrough"
    CODE = "code"
    BLOCK = "pre"
    QUOTE = "blockquote"


class StyledSpan(Struct, frozen=True):
    """A stretch of text, its styles, and where it leads."""

    text: str
    styles: frozenset[Style] = frozenset()
    url: str | None = None
    language: str = ""


@dataclass(slots=True)
class _Token:
    """A piece of a line: words, or a mark that opens or closes a style, or is nothing but text."""

    text: str
    mark: str = ""
    opens: Style | None = None
    closes: Style | None = None
    spans: Sequence[StyledSpan] = field(default=())
    """What it was read as, where it is no mark."""


_TOKENS = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|!?\[(?P<label>[^\[\]\n]{1,1000})\]\((?P<url>[^\s()<>]{1,2000}(?:\([^\s()<>]{0,500}\))?)\)"
    r"|<(?P<bare>https?://[^\s<>]{1,2000})>"
    r"|(?P<mark>\*{1,3}|_{1,3}|~~)"
)
_LINK = re.compile(r"(?:https?://[^\s/]|mailto:[^\s@]+@|tg://)", re.IGNORECASE)
_STYLES = {"**": Style.BOLD, "__": Style.BOLD, "*": Style.ITALIC, "_": Style.ITALIC}
_STYLES["~~"] = Style.STRIKE
_WORD_GOES_ON = re.compile(r"\.?[^\W_]")
_NOT_IN_CODE = frozenset({Style.BOLD, Style.ITALIC, Style.STRIKE})


def read_spans(text: str, styles: frozenset[Style] = frozenset()) -> Iterator[StyledSpan]:
    """Read a text without blocks; what stands around it is said in these styles too."""
    tokens = _paired(list(_tokens(text)))
    open_styles: list[Style] = []
    for token in tokens:
        if token.closes is not None:
            open_styles.remove(token.closes)
        elif token.opens is not None:
            open_styles.append(token.opens)
        elif token.mark:
            yield StyledSpan(token.text, styles | frozenset(open_styles))
        else:
            around = styles | frozenset(open_styles)
            for span in token.spans:
                yield _within(span, around)


def _within(span: StyledSpan, around: frozenset[Style]) -> StyledSpan:
    styles = span.styles | around
    if Style.CODE in styles:
        # Telegram takes no style inside of code.
        styles -= _NOT_IN_CODE
    return StyledSpan(span.text, styles, span.url, span.language)


def _tokens(text: str, *, links: bool = True) -> Iterator[_Token]:
    at, closings = 0, _closing_ticks(text)
    while found := _TOKENS.search(text, at):
        if found.start() > at:
            yield _words(text[at : found.start()])
        token, at = _token(text, found, closings, links=links)
        yield from token
    if at < len(text):
        yield _words(text[at:])


def _token(
    text: str, found: re.Match[str], closings: dict[int, list[int]], *, links: bool
) -> tuple[Sequence[_Token], int]:
    """Answer what a find stands for, and where to go on."""
    end = found.end()
    if found["escaped"]:
        return (_words(found["escaped"]),), end
    if found["ticks"]:
        close = _next_closing(closings, len(found["ticks"]), end)
        if close is None:
            return (_words(found["ticks"]),), end
        code = text[end:close]
        shown = code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " else code
        span = StyledSpan(shown, frozenset({Style.CODE}))
        return (_Token(shown, spans=(span,)),), close + len(found["ticks"])
    if found["bare"]:
        return (_Token(found["bare"], spans=(StyledSpan(found["bare"], url=found["bare"]),)),), end
    if found["label"]:
        if not links or not _LINK.match(found["url"]):
            # Read on behind the bracket, as there may be styles in it.
            skip = found.start() + (2 if found[0].startswith("!") else 1)
            return (_words(text[found.start() : skip]),), skip
        return (_Token(found["label"], spans=_linked(found["label"], found["url"])),), end
    return _marks(text, found), end


def _words(text: str) -> _Token:
    return _Token(text, spans=(StyledSpan(text),))


def _linked(label: str, url: str) -> tuple[StyledSpan, ...]:
    tokens = _paired(list(_tokens(label, links=False)))
    text = "".join(token.text for token in tokens if token.opens is None and token.closes is None)
    return (StyledSpan(text or label, url=url),)


def _marks(text: str, found: re.Match[str]) -> tuple[_Token, ...]:
    """Answer one token for each style that a run of marks may stand for."""
    run, at = found["mark"], found.start()
    before, after = text[max(at - 1, 0) : at], text[found.end() : found.end() + 1]
    opens = bool(after) and not after.isspace()
    closes = bool(before) and not before.isspace()
    if run in {"*", "_", "__", "___"}:
        # Within a word they are part of it: 2*3*4, snake_case, __init__.py.
        goes_on = _WORD_GOES_ON.match(text, found.end()) is not None
        opens, closes = opens and not before.isalnum(), closes and not goes_on
    if not (opens or closes):
        return (_words(run),)
    parts = [run] if len(run) < 3 else [run[:2], run[2:]]
    if closes and not opens:
        parts.reverse()
    return tuple(_Token(part, mark=_kind(opens=opens, closes=closes)) for part in parts)


def _kind(*, opens: bool, closes: bool) -> str:
    return ("o" if opens else "") + ("c" if closes else "")


def _paired(tokens: list[_Token]) -> list[_Token]:
    """Find which marks belong together; a mark without another one stays text."""
    waiting: list[_Token] = []
    counts: dict[str, int] = {}
    for token in tokens:
        if not token.mark:
            continue
        if "c" in token.mark and counts.get(token.text, 0):
            while (opener := waiting.pop()).text != token.text:
                counts[opener.text] -= 1
            counts[token.text] -= 1
            opener.opens = token.closes = _STYLES[token.text]
        elif "o" in token.mark:
            waiting.append(token)
            counts[token.text] = counts.get(token.text, 0) + 1
    return tokens


def _closing_ticks(text: str) -> dict[int, list[int]]:
    """List where runs of ticks stand, by their length, the last one first."""
    found: dict[int, list[int]] = {}
    for run in re.finditer(r"`+", text):
        found.setdefault(len(run[0]), []).append(run.start())
    for places in found.values():
        places.reverse()
    return found


def _next_closing(closings: dict[int, list[int]], ticks: int, after: int) -> int | None:
    places = closings.get(ticks, [])
    while places and places[-1] < after:
        places.pop()
    return places[-1] if places else None
