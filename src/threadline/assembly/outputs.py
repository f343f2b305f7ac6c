"""Outputs: files that were written of sessions, which have to go with them."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from threadline.config import output_folder as output_root
from threadline.core.errors import StorageError
from threadline.core.session import SessionId


def output_folder(profile: str) -> Path:
    """Return the folder that the files of a profile are written to."""
    return output_root() / profile


async def drop_outputs(ids: Iterable[SessionId]) -> int:
    """Delete what was written of these sessions; answer how many files that were."""
    return await asyncio.to_thread(_drop, list(ids))


def _drop(ids: Iterable[SessionId]) -> int:
    folder, gone = output_root(), 0
    try:
        for id in ids:
            for file in folder.glob(f"*/{id}.*"):
                file.unlink(missing_ok=True)
                gone += 1
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = f"Delete the files in {folder} yourself"
        raise StorageError(f"A file could not be deleted: {why}", hint=hint) from error
    return gone
