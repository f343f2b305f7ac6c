"""Looks for damage in a SQLite file."""

from collections.abc import Callable
from pathlib import Path

import apsw

from threadline.core.errors import Damaged
from threadline.database.port import Finding
from threadline.database.sqlite.connection import translated

_MOST = 20


def check_file(
    connect: Callable[[int], apsw.Connection], path: Path, *, deep: bool
) -> list[Finding]:
    """Have SQLite examine the file: the tables, and if deep every index against them.

    Raise `StorageError` if it cannot be examined: a disk that fails to read is not damage.
    """
    pragma = "integrity_check" if deep else "quick_check"
    try:
        with translated(path):
            connection = connect(0)
            try:
                lines = [str(line) for (line,) in connection.execute(f"PRAGMA {pragma}({_MOST})")]
                orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
            finally:
                connection.close()
    except Damaged as error:
        return [Finding(what=str(error), grave=True)]
    damage = [Finding(what=line, grave=True) for line in lines if line != "ok"]
    strays = [
        Finding(what=f"Row {row[1]} of {row[0]} belongs to a {row[2]} that is gone", grave=True)
        for row in orphans[:_MOST]
    ]
    return damage + strays
