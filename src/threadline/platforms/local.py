"""Local platform: what is sent there becomes a file in the output folder."""

import asyncio
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from threadline.core.address import Address, Kind
from threadline.core.command import Command
from threadline.core.delivery import LOCAL, SendOutcome, output_mark, output_pattern
from threadline.core.errors import Invalid
from threadline.core.message import Attachment
from threadline.core.platform import Capabilities, Outgoing, ReadBlob, Receiver, SendFailed
from threadline.core.route import MAIN_PROFILE
from threadline.core.validation import TEXT_LIMIT, checked_name

_NAME_LIMIT = 80
_ODD = re.compile(r"[^\w.-]+", re.ASCII)
_FILE_LIMIT = 1 << 40
"""Bytes: more than an attachment ever has."""


class Local:
    """Writes what is sent into files: `<folder>/<profile>/<day>-<time>-<key>.md`.

    Only their owner can read them. A file has its name only when it is whole, and none is ever
    written over: the same message, sent again, finds its file and writes nothing.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], datetime] | None = None) -> None:
        """Write below a folder, which is made when it is needed."""
        self._folder = folder
        self._clock = clock or (lambda: datetime.now(UTC))

    @property
    def name(self) -> str:
        """How it is called in addresses and settings."""
        return LOCAL

    @property
    def capabilities(self) -> Capabilities:
        """Say that files take nearly everything, once, and that nobody writes from there."""
        return Capabilities(
            text_limit=TEXT_LIMIT,
            attachments=True,
            attachment_limit=_FILE_LIMIT,
            idempotent=True,
            receives=False,
        )

    @property
    def notes(self) -> str:
        """Return nothing: the context itself describes conversations on this machine."""
        return ""

    async def run(self, gate: Receiver) -> None:
        """Wait until cancelled: nobody writes from here."""
        await asyncio.Event().wait()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Write a message into a file, and what is attached into files beside it."""
        folder = self._folder_of(outgoing.address)
        mark = output_mark(outgoing.key)
        try:
            await asyncio.to_thread(_make_private, folder)
            stem = await asyncio.to_thread(self._stem, folder, mark)
            written = [
                await _keep_attachment(folder, stem, n, attachment, read_blob)
                for n, attachment in enumerate(outgoing.attachments, start=1)
            ]
            if outgoing.text or not written:
                text = outgoing.text if outgoing.text.endswith("\n") else f"{outgoing.text}\n"
                written.insert(0, f"{stem}.md")
                await _keep(folder / written[0], _one(text.encode()))
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise SendFailed(
                f"The file cannot be written: {why}",
                outcome=SendOutcome.REJECTED,
                id=str(folder),
            ) from error
        return written[0]

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Refuse: a file stays as it is."""
        raise SendFailed("A file stays as it was written", outcome=SendOutcome.REJECTED)

    async def show_typing(self, address: Address) -> None:
        """Do nothing: nobody looks at a file that is not there yet."""

    async def register(self, commands: Sequence[Command]) -> None:
        """Do nothing: there is no menu."""

    def _folder_of(self, address: Address) -> Path:
        """Find the folder of a profile; what is sent to the terminal itself is the main one's."""
        profile = address.chat if address.kind is Kind.CHANNEL else MAIN_PROFILE
        try:
            return self._folder / checked_name(profile, "profile")
        except Invalid as error:
            raise SendFailed(str(error), outcome=SendOutcome.DEAD) from error

    def _stem(self, folder: Path, mark: str) -> str:
        """Name the files of a message: as they were named before, if it was sent before."""
        for known in sorted(folder.glob(output_pattern(mark))):
            stem, _, _ = known.name.partition(f"-{mark}")
            return f"{stem}-{mark}"
        return f"{self._clock():%Y%m%d-%H%M%S}-{mark}"


async def _keep_attachment(
    folder: Path, stem: str, n: int, attachment: Attachment, read_blob: ReadBlob
) -> str:
    plain = _ODD.sub("_", attachment.name or "").strip("._")[-_NAME_LIMIT:]
    name = f"{stem}-{n}-{plain or attachment.kind}"
    await _keep(folder / name, read_blob(attachment.blob))
    return name


async def _one(block: bytes) -> AsyncIterator[bytes]:
    yield block


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


async def _keep(path: Path, blocks: AsyncIterator[bytes]) -> None:
    """Write a file that gets its name when it is whole; one that has the name already stays."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        file = await asyncio.to_thread(_open_new, part)
        try:
            async for block in blocks:
                await asyncio.to_thread(file.write, block)
        finally:
            await asyncio.to_thread(_close, file)
        await asyncio.to_thread(os.link, part, path)
    except FileExistsError:
        return  # It was sent before.
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)


def _open_new(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _close(file: BinaryIO) -> None:
    """Close a file whose bytes are on disk."""
    with file:
        file.flush()
        os.fsync(file.fileno())
