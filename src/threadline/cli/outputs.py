"""Outputs: the folder into which the chat writes files, by profile."""

from collections.abc import Iterable
from pathlib import Path

from threadline.config import FOLDER
from threadline.core.errors import StorageError
from threadline.core.session import SessionId

_OUTPUT = FOLDER / "output"


def output_folder(profile: str) -> Path:
    """Answer where the files of a profile go."""
    return _OUTPUT.expanduser() / profile


def drop_outputs(ids: Iterable[SessionId]) -> int:
    """Delete what was written of these sessions; answer how many files that were."""
    folder, gone = _OUTPUT.expanduser(), 0
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
