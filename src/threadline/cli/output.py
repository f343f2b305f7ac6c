"""Output: how answers reach a person or another program."""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TextIO

from msgspec import Struct

from threadline.core.errors import ThreadlineError
from threadline.core.message import Marker, ToolCall

if TYPE_CHECKING:
    from rich.console import Console

# Escape sequences in what somebody wrote must not reach a terminal; breaks and tabs may.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_PIPED_WIDTH = 200
_GAP = 2
_CALL_WIDTH = 100


def clean(text: str) -> str:
    """Take out of a text what would steer a terminal instead of being shown by it."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def show_marker(marker: Marker) -> str:
    """Say what a marker stands for, and why; a reason that says both stands alone."""
    kind, why = marker.kind.value, marker.text
    return why if why.lower().startswith(kind) else f"{kind.capitalize()}. {why}"


def show_call(call: ToolCall) -> str:
    """Say in one line which tool is used, and with what."""
    given = " ".join(call.arguments.split())
    given = f"{given[:_CALL_WIDTH]}…" if len(given) > _CALL_WIDTH else given
    return f"· {call.name}" if given in {"", "{}"} else f"· {call.name} {given}"


def show_text(text: str = "") -> None:
    """Show a text as it is."""
    sys.stdout.write(clean(text) + "\n")
    sys.stdout.flush()


def complain(error: ThreadlineError) -> None:
    """Show an error as the sentence that it is."""
    with suppress(OSError):  # what cannot be written any more is no reason to be silent
        sys.stdout.flush()
    sentence = f"threadline: {clean(str(error))}"
    sys.stderr.write("\n".join(fitted(sentence, sys.stderr)) + "\n")
    sys.stderr.flush()


def fitted(text: str, stream: TextIO) -> list[str]:
    """Break a text between words where a terminal shows it; a program gets it whole."""
    if not stream.isatty():
        return [text]
    from threadline.cli.text_wrap import wrap

    return wrap(text, shutil.get_terminal_size().columns, columns=True)


def let_go_of_output() -> None:
    """Drop what could not be written, so that the end of the program does not try it again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def write_json(value: object, *, indent: int | None = 2) -> None:
    """Answer another program; what would steer a terminal is escaped."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=indent, default=_plain) + "\n")
    sys.stdout.flush()


def show_result(value: object, sentence: str, *, as_json: bool) -> None:
    """Answer a program or a person."""
    if as_json:
        write_json(value)
    else:
        show_text(sentence)


def as_plain(value: object) -> object:
    """Make plain data of a value of ours, and of those in it."""
    if isinstance(value, Struct):
        return {name: as_plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    return value


def console() -> "Console":
    """Make the console that draws tables; it honours NO_COLOR and knows when it is piped."""
    from rich.console import Console

    # What reads a pipe wants whole titles; what reads a terminal wants whole lines.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width)


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show a table of plain text; only its last column is cut where a line is too short."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    screen = console()
    cells = [[Text(clean(cell)) for cell in row] for row in rows]
    widths = [
        max(cell_len(heading), *(row[n].cell_len for row in cells))
        for n, heading in enumerate(headings)
    ]
    taken = sum(width + _GAP for width in widths[:-1])
    room = max(screen.width - taken, cell_len(headings[-1]))
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for heading, width in zip(headings, [*widths[:-1], min(widths[-1], room)], strict=True):
        table.add_column(heading, no_wrap=True, width=width)
    for row in cells:
        row[-1].truncate(room, overflow="ellipsis")
        table.add_row(*row)
    screen.width = max(screen.width, taken + room)
    screen.print(table)


def highlight(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    """Mark what was found in a text, as plain text can."""
    shown, at = "", 0
    for first, last in ranges:
        shown += f"{text[at:first]}[{text[first:last]}]"
        at = last
    return shown + text[at:]


def local(at: datetime) -> str:
    """Write a moment in the time of this machine."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
