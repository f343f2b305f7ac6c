"""Opening the store that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from threadline.assembly import open_database, refuse_lost
from threadline.assembly.export_files import drop_outputs
from threadline.config import Config
from threadline.core.errors import NotFound, StorageError
from threadline.database.port import Database
from threadline.store import Store

HOW_IT_COMES = "`threadline serve` or `threadline chat` makes one"
"""What to do where there is no database yet."""


class Opened(Struct, frozen=True, kw_only=True):
    """An open store, and the database below it for questions that the store does not answer."""

    store: Store
    database: Database
    profile: str


def exists(config: Config) -> bool:
    """Tell whether there is a database; a server is taken at its word."""
    return config.is_server or _look(config.path)


@asynccontextmanager
async def open_store(config: Config, *, make: bool = False) -> AsyncIterator[Opened]:
    """Open the store; one that is not there is an error, unless it may be made."""
    if make:
        make_folder(config)
    elif not exists(config):
        refuse_lost(config.path)
        id = config.shown_database
        raise NotFound("There is no database yet", id=id, hint=HOW_IT_COMES)
    where = config.database if config.is_server else config.path
    database = await open_database(where)
    async with Store(database, config.rules(), drop_outputs=drop_outputs) as store:
        yield Opened(store=store, database=database, profile=config.profile)


def _look(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # such as a name that is too long
        why = error.strerror or "no such place"
        raise StorageError(f"The database cannot be opened: {why}", id=str(path)) from error


def make_folder(config: Config) -> None:
    """Make our own folder, for its owner's eyes only; any other one is somebody else's."""
    if not config.is_server and config.path.parent == config.folder:
        make_private(config.folder)


def make_private(folder: Path) -> None:
    """Make a folder for its owner's eyes only, unless it is there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StorageError(f"The folder cannot be made: {why}", id=str(folder)) from error
