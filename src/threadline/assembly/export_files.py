"""Export files: files that were written of sessions, which have to go with them."""

import asyncio
import glob
import re
from collections.abc import Iterable
from pathlib import Path

from threadline.config import output_folder as output_root
from threadline.core.delivery import output_pattern
from threadline.core.errors import StorageError

_STEM = re.compile(r"\d{8}-\d{6}-[0-9a-f]{12}")
_MARK = re.compile(r"[0-9a-f]{12}")


def profile_folder(profile: str) -> Path:
    """Return the folder that the files of a profile are written to."""
    return output_root() / profile


async def drop_outputs(names: Iterable[str]) -> int:
    """Delete the files of sessions, and those of deliveries by their names; return how many."""
    return await asyncio.to_thread(_drop, list(names))


def _patterns(name: str) -> tuple[str, ...]:
    """Return which files a name stands for, in the folder of any profile, finished or not."""
    if _STEM.fullmatch(name):
        return f"*/{name}*", f"*/.{name}*"
    if _MARK.fullmatch(name):
        return f"*/{output_pattern(name)}", f"*/.{output_pattern(name)}"
    return (f"*/{glob.escape(name)}.*",)


def _drop(names: Iterable[str]) -> int:
    folder, gone = output_root(), 0
    try:
        for pattern in (pattern for name in names for pattern in _patterns(name)):
            for file in folder.glob(pattern):
                file.unlink(missing_ok=True)
                gone += 1
    except OSError as error:
        why = error.strerror or type(error).__name__
        hint = f"Delete the files in {folder} yourself"
        raise StorageError(f"A file could not be deleted: {why}", hint=hint) from error
    return gone
