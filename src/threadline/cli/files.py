"""Files that a command writes or reads: for their owner's eyes, whole or not at all."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from threadline.core.errors import Conflict, NotFound, StorageError

STDIO = "-"
_CHUNK = 1 << 18


def require_free(path: str, *, force: bool) -> None:
    """Refuse to write over a file, unless that is wished."""
    if path != STDIO and not force and os.path.lexists(path):
        raise Conflict("There is such a file already", id=path, hint="--force writes over it")


async def write_private_file(path: str, blocks: AsyncIterator[bytes], *, force: bool) -> int:
    """Write a file that only its owner can read; it has its name only when it is complete."""
    require_free(path, force=force)
    if path == STDIO:
        return await _pour(blocks, sys.stdout.buffer)
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    with _told(path):
        try:
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "wb") as opened:
                written = await _pour(blocks, opened)
                opened.flush()
                os.fsync(opened.fileno())
            require_free(path, force=force)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    return written


async def _pour(blocks: AsyncIterator[bytes], file: BinaryIO) -> int:
    written = 0
    async for block in blocks:
        await asyncio.to_thread(file.write, block)
        written += len(block)
    file.flush()
    return written


async def read_pieces(path: str) -> AsyncIterator[bytes]:
    """Read a file, or what comes in, in chunks."""
    with _told(path):
        if path == STDIO:
            while chunk := await asyncio.to_thread(sys.stdin.buffer.read, _CHUNK):
                yield chunk
            return
        with await asyncio.to_thread(Path(path).open, "rb") as file:
            while chunk := await asyncio.to_thread(file.read, _CHUNK):
                yield chunk


def size_of(path: str) -> int | None:
    """Answer how large a file is; None if that cannot be known."""
    try:
        return None if path == STDIO else Path(path).stat().st_size
    except OSError:
        return None


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound("There is no such file or folder", id=path) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise StorageError(f"The file cannot be used: {why}", id=path) from error
