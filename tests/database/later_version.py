"""A later version of Threadline for tests: this one with one more migration."""

import os
import subprocess
import sys
from pathlib import Path

import threadline
from threadline.database.queries import Dialect, migrations

NUMBER = migrations(Dialect.SQLITE)[-1].number + 1
NAME = "colours"
SQL = """
CREATE TABLE colours (key INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
ALTER TABLE messages ADD COLUMN colour TEXT;
INSERT INTO colours (name) SELECT text FROM messages WHERE role = 'user';
"""
_OPEN = """
import asyncio, sys
from threadline.assembly import open_database

async def open_and_close():
    await (await open_database(sys.argv[1])).close()

print("begun", flush=True)
asyncio.run(open_and_close())
"""


class LaterVersion:
    """A copy of the package, by symbolic links, whose processes open databases."""

    def __init__(self, folder: Path, sql: str = SQL) -> None:
        """Make the copy in an empty folder."""
        self._folder = folder
        source, copy = Path(threadline.__file__).parent, folder / "threadline"
        for inner in ("", "database", "database/migrations"):
            (copy / inner).mkdir(parents=True)
            for path in (source / inner).iterdir():
                if path.name not in {"database", "migrations", "__pycache__"}:
                    (copy / inner / path.name).symlink_to(path)
        migration = copy / "database" / "migrations" / f"{NUMBER:04}_{NAME}.sql"
        migration.write_text(sql, encoding="utf-8")

    def start(self, where: str) -> "subprocess.Popen[str]":
        """Start a process that opens a database and closes it again."""
        return subprocess.Popen(
            [sys.executable, "-c", _OPEN, where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder)},
        )

    def open(self, where: str) -> str:
        """Open a database in a process, close it again and return the error, empty if none."""
        with self.start(where) as process:
            return process.communicate()[1]
