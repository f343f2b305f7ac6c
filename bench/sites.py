"""Sites: where the stores of a run are, on a real disk, and how to reach them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from bench.bare import Bare, BarePostgres, BareSqlite
from bench.filling import fill
from bench.template import OWN, Template
from tests.databases import Server
from threadline.assembly import open_database

ROOT = Path(__file__).resolve().parent.parent
SQLITE, POSTGRES = "sqlite", "postgres"

_CONF = """
fsync = on
synchronous_commit = on
full_page_writes = on
max_connections = 60
shared_buffers = 256MB
max_wal_size = 4GB
checkpoint_timeout = 30min
listen_addresses = ''
"""


class Site(Protocol):
    """One database system with one filled store for each size."""

    name: str

    def where(self, size: int) -> str:
        """Answer the path or URL of a store."""
        ...

    async def fill(self, template: Template, size: int, *, long_messages: int) -> None:
        """Make a store and fill it."""
        ...

    def bytes_of(self, size: int) -> int:
        """Tell how much room a store takes."""
        ...


def bare_connection(where: str) -> Bare:
    """Connect to a store by its driver alone."""
    return BarePostgres(where) if where.startswith("postgresql:") else BareSqlite(Path(where))


class SqliteSite:
    """A folder with one file for each size."""

    name = SQLITE

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def where(self, size: int) -> str:
        return str(self._folder / f"{size}.sqlite")

    async def fill(self, template: Template, size: int, *, long_messages: int) -> None:
        await (await open_database(self.where(size))).close()
        bare = bare_connection(self.where(size))
        # Nobody needs a half-filled store: until it is full it is written without any care.
        for pragma in ("foreign_keys = 0", "journal_mode = off", "cache_size = -1000000"):
            bare.ask(f"PRAGMA {pragma}")
        bare.run("PRAGMA synchronous = off")
        bare.begin()
        fill(bare, template, size, long_messages=long_messages)
        bare.commit()
        bare.ask("PRAGMA journal_mode = wal")
        bare.close()
        with Path(self.where(size)).open("rb") as file:
            os.fsync(file)

    def bytes_of(self, size: int) -> int:
        return Path(self.where(size)).stat().st_size


class PostgresSite:
    """A server of our own, with one database for each size."""

    name = POSTGRES

    def __init__(self, folder: Path) -> None:
        self._server = Server(folder, _CONF)

    def where(self, size: int) -> str:
        return self._server.url(f"bench{size}")

    def _run(self, statement: str) -> None:
        bare = BarePostgres(self._server.url("postgres"))
        bare.run(statement)
        bare.close()

    async def fill(self, template: Template, size: int, *, long_messages: int) -> None:
        self._run(f"CREATE DATABASE bench{size} TEMPLATE template0")
        await (await open_database(self.where(size))).close()
        bare = bare_connection(self.where(size))
        bare.run("SET session_replication_role = replica")  # Its references are right already.
        bare.run("SET synchronous_commit = off")
        bare.begin()
        fill(bare, template, size, long_messages=long_messages)
        for table, own in OWN.items():
            if own is not None:
                bare.run(
                    f"SELECT setval(pg_get_serial_sequence('{table}', '{own}'), "
                    f"(SELECT coalesce(max({own}), 1) FROM {table}))"
                )
        bare.commit()
        bare.run("VACUUM ANALYZE")
        bare.run("CHECKPOINT")
        bare.close()

    def bytes_of(self, size: int) -> int:
        bare = bare_connection(self.where(size))
        ((found,),) = bare.ask("SELECT pg_database_size(current_database())")
        bare.close()
        return int(found or 0)

    def stop(self) -> None:
        """End the server."""
        self._server.stop()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder on the disk of the repository, with a short path, and remove it at the end."""
    usual = Path(tempfile.gettempdir())
    is_same_disk = usual.stat().st_dev == ROOT.stat().st_dev
    folder = Path(tempfile.mkdtemp(prefix="tl-bench-", dir=usual if is_same_disk else ROOT))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def open_site(name: str, folder: Path) -> Iterator[Site]:
    """Get a database system ready, and stop what was started for it."""
    place = folder / name
    place.mkdir()
    if name == SQLITE:
        yield SqliteSite(place)
    else:
        site = PostgresSite(place)
        try:
            yield site
        finally:
            site.stop()
