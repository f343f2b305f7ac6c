"""Looks for damage in a SQLite file."""

from collections.abc import Callable

import apsw

from threadline.core.errors import StorageError
from threadline.storage.database import Finding

_MOST = 20


def check_file(connect: Callable[[int], apsw.Connection], *, deep: bool) -> list[Finding]:
    """Let SQLite examine its file: the tables, and if deep every index against them."""
    pragma = "integrity_check" if deep else "quick_check"
    try:
        connection = connect(0)
    except StorageError as error:
        return [Finding(what=str(error), grave=True)]
    try:
        lines = [str(line) for (line,) in connection.execute(f"PRAGMA {pragma}({_MOST})")]
        orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    except apsw.Error as error:
        return [Finding(what=f"The file cannot be examined: {error}", grave=True)]
    finally:
        connection.close()
    damage = [Finding(what=line, grave=True) for line in lines if line != "ok"]
    strays = [
        Finding(what=f"Row {row[1]} of {row[0]} belongs to a {row[2]} that is gone", grave=True)
        for row in orphans[:_MOST]
    ]
    return damage + strays
