"""Splitting: a long text in pieces that a platform takes, cut where a reader would pause.

Whatever was cut off stays as it is when more text comes: only the last piece grows.
"""

import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from threadline.core.platform import Capabilities, Unit
from threadline.core.validation import checked_count

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?…][\"')\]]*(?=\s)|[。！？]")
_ROOM = 16
"""What must be left for words in a piece that also repeats a fence."""
_INFO_LIMIT = 20
_JOINER = "\u200d"


class TextPiece(Struct, frozen=True, kw_only=True):
    """One piece: how it reads, and where the text goes on after it."""

    text: str
    end: int


class Limit(Struct, frozen=True, kw_only=True):
    """How long a piece may be, in what that is counted, and whether blank lines part pieces."""

    most: int
    unit: Unit = Unit.CHARACTERS
    bubbles: bool = False

    def __post_init__(self) -> None:
        """Refuse a limit within which nothing could be said."""
        checked_count(self.most, "limit of a piece", 2 * _ROOM)


def limit_of(capabilities: Capabilities, reserved: str = "") -> Limit:
    """Answer how long a piece may be on a platform, beside some words that go before it."""
    unit = capabilities.unit
    most = max(capabilities.text_limit - text_length(reserved, unit), 2 * _ROOM)
    return Limit(most=most, unit=unit, bubbles=capabilities.bubbles)


def text_length(text: str, unit: Unit) -> int:
    """Tell how long a text is, as a platform counts."""
    match unit:
        case Unit.CHARACTERS:
            return len(text)
        case Unit.UTF16:
            return len(text) + sum(char > "\uffff" for char in text)
        case Unit.BYTES:
            return len(text.encode("utf-8", "surrogatepass"))


def split(text: str, limit: Limit, start: int = 0) -> Iterator[TextPiece]:
    """Cut a text into pieces, from some place on."""
    fence = _fence_after(text, 0, start, None)
    at = start
    while (cut := _next(text, at, fence, limit)) is not None:
        if cut.text.strip():
            yield cut
        fence = _fence_after(text, at, cut.end, fence)
        at = cut.end


class _Fence(Struct, frozen=True):
    """A block of code that is open: what opened it, and what closes it."""

    mark: str
    info: str

    @property
    def opening(self) -> str:
        return f"{self.mark}{self.info}\n"

    @property
    def closing(self) -> str:
        return f"\n{self.mark}"


def _next(text: str, at: int, fence: _Fence | None, limit: Limit) -> TextPiece | None:
    begin = _skip_seam(text, at, fence)
    if begin >= len(text):
        return None
    if limit.bubbles and (bubble := _bubble(text, begin, fence, limit)) is not None:
        return bubble
    opening = _opening(text, begin, fence)
    room = limit.most - text_length(opening, limit.unit)
    if _reach(text, begin, room, limit.unit) == len(text):
        return TextPiece(text=opening + text[begin:].rstrip(), end=len(text))
    return _cut(text, at, begin, fence, limit)


def _bubble(text: str, begin: int, fence: _Fence | None, limit: Limit) -> TextPiece | None:
    """Cut at the first blank line that stands in no block of code, if it is near enough."""
    opening = _opening(text, begin, fence)
    reach = _reach(text, begin, limit.most - text_length(opening, limit.unit), limit.unit)
    for blank in _BLANK_LINE.finditer(text, begin):
        if blank.start() > reach:
            return None
        if _fence_after(text, begin, blank.start(), fence) is None:
            return TextPiece(text=opening + text[begin : blank.start()].rstrip(), end=blank.start())
    return None


def _cut(text: str, at: int, begin: int, fence: _Fence | None, limit: Limit) -> TextPiece:
    opening = _opening(text, begin, fence)
    room = limit.most - text_length(opening, limit.unit)
    end = _best_end(text, begin, _reach(text, begin, room, limit.unit), fence)
    still = _fence_after(text, at, end, fence)
    for _ in range(3):
        if still is None:
            break
        # A block that is open at the cut is closed there, which takes room of its own.
        less = room - text_length(still.closing, limit.unit)
        if less < _ROOM:
            still = None
            break
        end = _best_end(text, begin, _reach(text, begin, less, limit.unit), fence)
        again = _fence_after(text, at, end, fence)
        if again is None or again.mark == still.mark:
            still = again
            break
        still = again
    closing = still.closing if still is not None else ""
    # Blanks in code count; at the end of a piece they are followed by the fence.
    said = text[begin:end].rstrip() if still is None else text[begin:end].rstrip("\n")
    body = opening + said + closing
    if text_length(body, limit.unit) > limit.most:
        body = opening + text[begin:end].rstrip()
    return TextPiece(text=body, end=end)


def _opening(text: str, begin: int, fence: _Fence | None) -> str:
    """Answer what opens a block of code again that the last piece had to close."""
    if fence is None or _closes(text, begin, fence):
        return ""
    return fence.opening


def _closes(text: str, begin: int, fence: _Fence) -> bool:
    line = text[begin : (text.find("\n", begin) + 1 or len(text) + 1) - 1]
    return _toggle(line, fence) is None


def _skip_seam(text: str, at: int, fence: _Fence | None) -> int:
    """Pass over the white space between two pieces, but not over an indentation."""
    if at == 0 and fence is None:
        return len(text) - len(text.lstrip("\n\r"))
    if fence is not None:
        return at + text.startswith("\n", at)
    end = at
    while end < len(text) and text[end].isspace():
        end += 1
    line = text.rfind("\n", at, end)
    return end if line < 0 or end == len(text) else line + 1


def _reach(text: str, begin: int, room: int, unit: Unit) -> int:
    """Answer how far a piece can go at the most."""
    if unit is Unit.CHARACTERS:
        return min(begin + max(room, 1), len(text))
    end, left = begin, room
    while end < len(text) and (cost := text_length(text[end], unit)) <= left:
        left -= cost
        end += 1
    return max(end, min(begin + 1, len(text)))


def _best_end(text: str, begin: int, reach: int, fence: _Fence | None) -> int:
    """Choose where to cut: after a paragraph, a line, a sentence, a word, or between letters."""
    half = begin + (reach - begin) // 2
    # One character more shows whether a word ends exactly there.
    beyond = reach + 1
    if fence is None and (blanks := list(_BLANK_LINE.finditer(text, half, beyond))):
        return blanks[-1].start() if blanks[-1].start() > begin else reach
    line = text.rfind("\n", half, beyond)
    if line > begin:
        return line
    sentences = [found.end() for found in _SENTENCE_END.finditer(text, half, beyond)]
    if fence is None and (fitting := [end for end in sentences if end <= reach]):
        return fitting[-1]
    word = next((n for n in range(reach, half, -1) if text[n : n + 1].isspace()), None)
    return _between_letters(text, begin, reach) if word is None else word


def _between_letters(text: str, begin: int, reach: int) -> int:
    """Step back from the middle of a letter that is written with several characters."""
    for end in range(reach, max(begin, reach - 32), -1):
        if end >= len(text) or _is_seam(text[end - 1], text[end]):
            return end
    return reach


def _is_seam(before: str, after: str) -> bool:
    return not (
        _JOINER in (before, after)
        or unicodedata.combining(after)
        or unicodedata.category(after) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff")
        or (before, after) == ("\r", "\n")
    )


def _fence_after(text: str, begin: int, end: int, fence: _Fence | None) -> _Fence | None:
    """Tell which block of code is open after a stretch, from the lines that end in it."""
    line = text.rfind("\n", 0, begin) + 1
    # A line that ends right after the stretch ends in it, and not in the next one.
    stop = text.find("\n", line, end + 1)
    while stop >= 0:
        if stop > begin or begin == 0:
            fence = _toggle(text[line:stop], fence)
        line = stop + 1
        stop = text.find("\n", line, end + 1)
    return fence


def _toggle(line: str, fence: _Fence | None) -> _Fence | None:
    found = _FENCE.fullmatch(line)
    if found is None:
        return fence
    mark, info = found[1], found[2].strip()
    if fence is None:
        if mark[0] == "`" and "`" in info:
            return None
        word = info.split()[0][:_INFO_LIMIT] if info else ""
        return _Fence(mark=mark[:8], info=word)
    closes = mark[0] == fence.mark[0] and len(mark) >= len(fence.mark) and not info
    return None if closes else fence
