"""Terminal markdown: Markdown, line by line, as a terminal can show it."""

import re
from collections.abc import Iterator

from threadline.cli.text_wrap import wrap

_PLAIN, _BOLD, _DIM, _ITALIC, _UNDERLINE, _CODE = "0", "1", "2", "3", "4", "36"

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<language>[^`]*)")
_HEADING = re.compile(r" {0,3}#{1,6} +(?P<text>.*)")
_HEADING_END = re.compile(r"(?<! ) +#+\Z")
_BULLET = re.compile(r"(?P<indent> *)[-*+] +(?P<text>.*)")
_NUMBER = re.compile(r"(?P<lead> *\d{1,9}[.)] +)(?P<text>\S.*)")
_QUOTE = re.compile(r" {0,3}> ?(?P<text>.*)")
_RULE = re.compile(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})")
_INLINE = re.compile(
    r"""(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)
      | !?\[(?P<text>[^\[\]]+)\]\((?P<url>[^()\s]+)\)
      | (?P<strong>\*\*|(?<!\w)__)(?P<bold>(?=\S).+?(?<=\S))(?P=strong)(?!\*)
      | (?<![\w*])\*(?P<star>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])
      | (?<!\w)_(?P<line>[^\s_](?:[^_]*[^\s_])?)_(?!\w)
    """,
    re.VERBOSE,
)
_RULE_WIDTH = 24
_INLINE_LIMIT = 4_000
"""Characters of a line in which emphasis is looked for; a longer one is shown as it is."""

Fragment = tuple[str, str]
"""Some text, and how it is shown."""


class Markup:
    """Shows the lines of one text, in order: inside a block of code they are left as they are."""

    def __init__(self) -> None:
        """Begin outside of any block."""
        self._fence: str | None = None

    def lines(self, text: str, width: int) -> list[str]:
        """Show a whole line of the text, in as many lines of the terminal as it needs."""
        fence = _FENCE.fullmatch(text)
        if self._fence is not None:
            if fence is not None and self._closes(fence):
                self._fence = None
                return []
            return [_styled("  " + text, _CODE)]
        if fence is not None:
            self._fence = fence["fence"]
            language = fence["language"].strip()
            return [_styled("  " + language, _DIM)] if language else []
        lead, style, rest = _lead(text)
        # What is below the first line of an item stands below its words.
        drawn = _drawn([(" " * len(lead), _PLAIN), *rest], width)
        drawn[0] = _styled(lead, style) + drawn[0][len(lead) :]
        return drawn

    def _closes(self, fence: re.Match[str]) -> bool:
        opened = self._fence or ""
        is_same = fence["fence"].startswith(opened)
        return is_same and not fence["language"].strip()


def _lead(text: str) -> tuple[str, str, list[Fragment]]:
    """Part what a line begins with from its words."""
    if _RULE.fullmatch(text):
        return "─" * _RULE_WIDTH, _DIM, []
    if (heading := _HEADING.fullmatch(text)) is not None:
        words = [
            (part, _joined(_BOLD, style))
            for part, style in _inline(_HEADING_END.sub("", heading["text"]))
        ]
        return "", _PLAIN, words
    if (quote := _QUOTE.fullmatch(text)) is not None:
        return "│ ", _DIM, list(_inline(quote["text"]))
    if (bullet := _BULLET.fullmatch(text)) is not None:
        return bullet["indent"] + "• ", _PLAIN, list(_inline(bullet["text"]))
    if (number := _NUMBER.fullmatch(text)) is not None:
        return number["lead"], _PLAIN, list(_inline(number["text"]))
    return "", _PLAIN, list(_inline(text))


def _inline(text: str) -> Iterator[Fragment]:
    """Part a line where emphasis, code or a link begins or ends."""
    at = 0
    for found in _INLINE.finditer(text) if len(text) <= _INLINE_LIMIT else ():
        yield text[at : found.start()], _PLAIN
        yield from _found(found)
        at = found.end()
    yield text[at:], _PLAIN


def _found(found: re.Match[str]) -> Iterator[Fragment]:
    if (code := found["code"]) is not None:
        yield code.strip() or code, _CODE
    elif (url := found["url"]) is not None:
        yield found["text"], _UNDERLINE
        if url != found["text"]:
            yield f" ({url})", _DIM
    elif (bold := found["bold"]) is not None:
        yield from ((part, _joined(_BOLD, style)) for part, style in _inline(bold))
    else:
        emphasised = found["star"] or found["line"]
        yield from ((part, _joined(_ITALIC, style)) for part, style in _inline(emphasised))


def _drawn(fragments: list[Fragment], width: int) -> list[str]:
    """Cut a line between words, and give every sign the style that it had in the whole line."""
    plain = "".join(text for text, _ in fragments)
    styles = [style for text, style in fragments for _ in text]
    drawn, at = [], 0
    for line in wrap(plain, width):
        signs: list[Fragment] = []
        for sign in line:
            # Where a line was cut, white space of the whole one is gone, or stands for an indent.
            while at < len(plain) and plain[at] != sign and plain[at].isspace():
                at += 1
            is_same = at < len(plain) and plain[at] == sign
            signs.append((sign, styles[at] if is_same else _PLAIN))
            at += is_same
        drawn.append(_painted(signs))
    return drawn


def _painted(signs: list[Fragment]) -> str:
    painted, begun, now = "", "", _PLAIN
    for sign, style in signs:
        if style != now:
            painted, begun, now = painted + _styled(begun, now), "", style
        begun += sign
    return painted + _styled(begun, now)


def _styled(text: str, style: str) -> str:
    return text if style == _PLAIN or not text else f"\x1b[{style}m{text}\x1b[0m"


def _joined(style: str, inner: str) -> str:
    return style if inner == _PLAIN else f"{style};{inner}"
