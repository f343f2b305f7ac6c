"""Command jobs: what a command of the chat leaves to do, because it takes longer than a moment."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from threadline.cli.files import write_private_file
from threadline.cli.session_files import written_session
from threadline.cli.store_opener import make_private
from threadline.core.person import Viewer
from threadline.store import Store
from threadline.store.commands.context import Compress, Errand, Export
from threadline.store.deletion.forget import finish_deletion

MakeRoom: TypeAlias = Callable[[Compress], Awaitable[str]]
"""Has a summary written that stands for the older part of a session, and says how that went."""


async def run_command_job(
    store: Store, errand: Errand, *, folder: Path, asker: Viewer, make_room: MakeRoom
) -> str:
    """Do what is left to do, and say what came of it."""
    if isinstance(errand, Compress):
        return await make_room(errand)
    if isinstance(errand, Export):
        return await _export(store, errand, folder, asker)
    return (await finish_deletion(store.database, errand.id)).sentence()


async def _export(store: Store, errand: Export, folder: Path, asker: Viewer) -> str:
    path = folder / f"{errand.session_id}.{errand.format}"
    make_private(folder)
    blocks = written_session(store, errand.session_id, errand.format, asker=asker)
    await write_private_file(str(path), blocks, force=True)
    return f"It is in {path}."
