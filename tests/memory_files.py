"""Temporary files in memory: making and dropping databases costs ten times as much on a disk."""

import os
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM = 4 * 2**30
"""Bytes that must be free: the tests of all workers together need about a tenth of them."""


def keep_files_in_memory() -> None:
    """Let this process, and what it starts, keep temporary files in memory, if there is room."""
    if (
        "TMPDIR" not in os.environ
        and _MEMORY.is_dir()
        and os.access(_MEMORY, os.W_OK)
        and shutil.disk_usage(_MEMORY).free >= _ROOM
    ):
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # Who asked earlier was told of the disk.
