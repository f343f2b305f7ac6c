"""`threadline backup` and `threadline restore`: everything in one file, and back."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database
from threadline.cli.output import show_text, write_json
from threadline.cli.store_context import audit_command, in_store

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened
    from threadline.config import Config

Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def backup(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    database: Database = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write everything into one file, while others go on.

    The file appears only when it is whole and was examined. It is a SQLite database of
    Threadline's own, also where everything is kept in PostgreSQL.
    """
    in_store({"database": database}, partial(_back_up, to=to.absolute(), force=force))
    size = to.stat().st_size
    if as_json:
        write_json({"backup": str(to), "bytes": size})
    else:
        show_text(f"Everything is in {to} ({size:,} bytes).")


def restore(
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    database: Database = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Bring a backup back, into a database that is new or empty.

    With --force it takes the place of what is there, which is kept aside. Nobody may have the
    database open meanwhile.
    """
    from threadline.config import load_config

    config = load_config({"database": database})
    aside = asyncio.run(_restore(config, backup.absolute(), force=force))
    if as_json:
        kept = None if aside is None else str(aside)
        write_json({"database": config.shown_database, "aside": kept})
        return
    show_text(f"{config.shown_database} now holds what {backup} held.")
    if aside is not None:
        show_text(f"What was there before is in {aside}.")
        show_text("What had been forgotten there, as far as it can be read, was forgotten again.")
    else:
        show_text("What was forgotten elsewhere after that backup was made is in it.")


async def _back_up(opened: "Opened", *, to: Path, force: bool) -> None:
    from threadline.cli.progress import show_progress

    with show_progress("Backing up") as advance:
        await opened.database.back_up(to, replace=force, told=advance)
    await audit_command(opened.store, "store.backed_up", to.name)


async def _restore(config: "Config", backup: Path, *, force: bool) -> Path | None:
    from threadline.assembly import restore as bring_back
    from threadline.cli.progress import show_progress
    from threadline.cli.store_opener import make_folder, open_store

    make_folder(config)
    where = config.database if config.is_server else config.path
    with show_progress("Restoring") as advance:
        aside = await bring_back(where, backup, replace=force, told=advance)
    async with open_store(config) as opened:
        await audit_command(opened.store, "store.restored", backup.name)
    return aside
