"""Entities: the Markdown that agents write, as a text with entities that Telegram always takes.

A text with entities cannot be misread as a text with marks can: whatever cannot be understood is
shown as it was written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import east_asian_width

from msgspec import Struct

from threadline.core.platform import Unit
from threadline.core.splitting import text_length
from threadline.platforms.telegram.inline_markdown import Style, StyledSpan, read_spans

TEXT_LIMIT = 4096
"""UTF-16 units that a message may have, after its marks were taken out."""
ENTITIES_LIMIT = 100
"""More entities than these Telegram does not look at."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+)")
_QUOTE = re.compile(r" {0,3}> ?(.*)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_TASK = re.compile(r"([ \t]*)[-*+] \[([ xX])\] (.*)")
_ITEM = re.compile(r"([ \t]*)[-*+] (.*)")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_DASHES = re.compile(r"[ \t]*\|[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|[ \t]*")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


class Entity(Struct, frozen=True):
    """A style of a stretch of text, counted in UTF-16 units."""

    type: str
    offset: int
    length: int
    url: str | None = None
    language: str | None = None


class Rendered(Struct, frozen=True):
    """A text as Telegram shows it."""

    text: str
    entities: tuple[Entity, ...] = ()


def render_entities(text: str) -> Rendered:
    """Render a text; one of which nothing would be left, or too much, is shown as it is."""
    text = text.encode("utf-16", "replace").decode("utf-16", "replace")
    for aligns in (True, False):
        rendered = _join(_blocks(text.split("\n"), aligns=aligns))
        if rendered.text.strip() and text_length(rendered.text, Unit.UTF16) <= TEXT_LIMIT:
            return rendered
    return Rendered(text)


def _blocks(lines: Sequence[str], *, aligns: bool) -> Iterator[StyledSpan]:
    """Read a text block by block; the breaks between lines are spans of their own."""
    at = 0
    while at < len(lines):
        if at:
            yield StyledSpan("\n")
        spans, at = _block(lines, at, aligns=aligns)
        yield from spans


def _block(lines: Sequence[str], at: int, *, aligns: bool) -> tuple[Iterable[StyledSpan], int]:
    line = lines[at]
    if (fence := _FENCE.fullmatch(line)) is not None:
        return _code(lines, at, fence)
    if _QUOTE.fullmatch(line) is not None:
        end = _end(lines, at, _QUOTE)
        quoted = "\n".join(found[1] for one in lines[at:end] if (found := _QUOTE.fullmatch(one)))
        return read_spans(quoted, frozenset({Style.QUOTE})), end
    if at + 1 < len(lines) and _ROW.fullmatch(line) and _DASHES.fullmatch(lines[at + 1]):
        end = _end(lines, at, _ROW)
        table = _aligned(lines[at:end]) if aligns else "\n".join(lines[at:end])
        return (StyledSpan(table, frozenset({Style.BLOCK})),), end
    return _line(line), at + 1


def _end(lines: Sequence[str], at: int, form: re.Pattern[str]) -> int:
    """Tell where the lines of one form end."""
    end = at
    while end < len(lines) and form.fullmatch(lines[end]):
        end += 1
    return end


def _code(lines: Sequence[str], at: int, fence: re.Match[str]) -> tuple[Iterable[StyledSpan], int]:
    """Read a block of code; one that is not closed, as it is still being written, goes on."""
    close = re.compile(rf" {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}[ \t]*")
    end = next((n for n in range(at + 1, len(lines)) if close.fullmatch(lines[n])), len(lines))
    language = fence[2] if _LANGUAGE.fullmatch(fence[2]) else ""
    code = "\n".join(lines[at + 1 : end])
    spans = (StyledSpan(code, frozenset({Style.BLOCK}), language=language),) if code else ()
    return spans, end + 1


def _line(line: str) -> Iterator[StyledSpan]:
    if (heading := _HEADING.fullmatch(line)) is not None:
        yield from read_spans(_without_end(heading[1]), frozenset({Style.BOLD}))
    elif _RULE.fullmatch(line):
        yield StyledSpan("———")
    elif (task := _TASK.fullmatch(line)) is not None:
        yield StyledSpan(f"{task[1]}{'☐' if task[2] == ' ' else '☑'} ")
        yield from read_spans(task[3])
    elif (item := _ITEM.fullmatch(line)) is not None:
        yield StyledSpan(f"{item[1]}• ")
        yield from read_spans(item[2])
    else:
        yield from read_spans(line)


def _without_end(heading: str) -> str:
    """Return a heading without the marks that may close it.

    A pattern for them takes time that grows with the cube of the blanks in a line.
    """
    return heading.rstrip(" \t").rstrip("#").rstrip(" \t") or heading


def _aligned(rows: Sequence[str]) -> str:
    """Write a table with columns of equal width; the line of dashes goes under its head."""
    cells = [[cell.strip() for cell in row.strip()[1:-1].split("|")] for row in rows]
    body = [cells[0], *cells[2:]]
    columns = max(len(row) for row in body)
    widths = [max(_width(row[n]) if n < len(row) else 0 for row in body) for n in range(columns)]

    def written(row: Sequence[str]) -> str:
        padded = (f"{cell}{' ' * (widths[n] - _width(cell))}" for n, cell in enumerate(row))
        return " | ".join(padded).rstrip()

    dashes = "-|-".join("-" * width for width in widths)
    return "\n".join([written(body[0]), dashes, *map(written, body[1:])])


def _width(text: str) -> int:
    """Tell how many columns a text takes where all letters are equally wide."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _join(spans: Iterable[StyledSpan]) -> Rendered:
    """Put a text together, and say where each style begins and how far it goes."""
    placed: list[tuple[StyledSpan, int, int]] = []
    end = 0
    for span in spans:
        length = text_length(span.text, Unit.UTF16)
        if length:
            placed.append((span, end, length))
            end += length
    entities = [*_styled(placed), *_linked(placed)]
    entities.sort(key=lambda one: (one.offset, -one.length))
    text = "".join(span.text for span, _, _ in placed)
    return Rendered(text, tuple(entities[:ENTITIES_LIMIT]))


def _styled(placed: Sequence[tuple[StyledSpan, int, int]]) -> Iterator[Entity]:
    for style in Style:
        run: list[tuple[StyledSpan, int, int]] = []
        # What is in no style ends the last run.
        for one in (*placed, (StyledSpan(""), 0, 0)):
            if style in one[0].styles:
                run.append(one)
            elif run:
                (first, offset, _), (_, last, length) = run[0], run[-1]
                language = first.language or None
                yield Entity(style, offset, last + length - offset, language=language)
                run = []


def _linked(placed: Sequence[tuple[StyledSpan, int, int]]) -> Iterator[Entity]:
    for span, offset, length in placed:
        if span.url is not None:
            yield Entity("text_link", offset, length, url=span.url)
