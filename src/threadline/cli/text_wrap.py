"""Text wrap: lines that end between words, as wide as the cells of a terminal."""

import re
from collections.abc import Iterator

from prompt_toolkit.utils import get_cwidth

_NARROW = 20
_COLUMN = re.compile(r"\s*\S.*?\s{2,}(?=\S)")
_WORD = re.compile(r"\s*\S+\s*?|\s+")


def wrap(text: str, width: int, *, columns: bool = False) -> list[str]:
    """Cut a text into lines that fit; a word that is longer than a line is left to the terminal.

    With columns, what goes on in the next line stands below the second column, or further in than
    an indented line: it cannot pass for the next argument of a tool that asks for leave.
    """
    width = max(width, _NARROW)
    return [line for whole in text.split("\n") for line in _cut(whole, width, columns=columns)]


def _cut(line: str, width: int, *, columns: bool) -> Iterator[str]:
    if get_cwidth(line) <= width:
        yield line
        return
    # What is indented stays so, so that lists and tables keep their shape.
    indent = line[: len(line) - len(line.lstrip())][: width // 2]
    if columns and (first := _COLUMN.match(line)) and get_cwidth(first[0]) <= width * 2 // 3:
        indent = " " * get_cwidth(first[0])
    elif columns and indent:
        indent += "  "
    begun = ""
    for word in _WORD.findall(line):
        if begun.strip() and get_cwidth(begun) + get_cwidth(word) > width:
            yield begun.rstrip()
            begun = indent + word.lstrip()
        else:
            begun += word
    yield begun.rstrip()
