"""The shelf: every file that was ever sent, by people or by the bot."""

import re
from dataclasses import dataclass

from tests.doubles.telegram.calls import Upload
from tests.doubles.telegram.refusals import Wire, bad

DOWNLOAD_LIMIT = 20_000_000
"""How many bytes a file may have that a bot fetches."""
PHOTO_LIMIT = 10_000_000
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One file, as it lies on the shelf."""

    id: str
    unique_id: str
    path: str
    upload: Upload
    size: int
    """How many bytes it has; it may be said to have more than are really there."""

    @property
    def name(self) -> str:
        """How it is called."""
        return self.upload.name

    @property
    def data(self) -> bytes:
        """What is in it."""
        return self.upload.data

    def wire(self) -> Wire:
        """Write what every kind of file says of itself."""
        return {"file_id": self.id, "file_unique_id": self.unique_id, "file_size": self.size}


class Shelf:
    """Keeps files under the ids by which a bot asks for them."""

    def __init__(self) -> None:
        """Begin empty."""
        self._files: dict[str, Stored] = {}
        self._paths: dict[str, Stored] = {}

    def put(
        self,
        upload: Upload,
        kind: str = "documents",
        *,
        size: int | None = None,
        id: str | None = None,
    ) -> Stored:
        """Keep a file; it may claim another size than it has, and wish for an id."""
        number = len(self._files)
        ending = re.search(r"\.\w{1,8}$", upload.name)
        stored = Stored(
            id=id or f"BQACAgIAAxkBAAI{number:06d}",
            unique_id=f"AgAD{number:06d}",
            path=f"{kind}/file_{number}{ending.group() if ending else ''}",
            upload=upload,
            size=len(upload.data) if size is None else size,
        )
        self._files[stored.id] = stored
        self._paths[stored.path] = stored
        return stored

    def find(self, id: str) -> Stored:
        """Answer the file with this id; the small size of a photo is the same to us."""
        id = id if id in self._files else id.removesuffix("s")
        if id not in self._files:
            raise bad("wrong file_id or the file is temporarily unavailable")
        return self._files[id]

    def fetch(self, path: str) -> Stored | None:
        """Answer the file that lies at a path, if it may be fetched from there."""
        stored = self._paths.get(path)
        return stored if stored and stored.size <= DOWNLOAD_LIMIT else None


def check_picture(upload: Upload) -> tuple[int, int]:
    """Answer the width and height of a picture, or refuse what Telegram cannot show as one."""
    if len(upload.data) > PHOTO_LIMIT:
        raise bad("too big for a photo")
    if not upload.data.startswith(_PICTURES):
        raise bad("IMAGE_PROCESS_FAILED")
    wide, high = 90, 90
    if upload.data.startswith(_PICTURES[0]) and len(upload.data) >= 24:
        wide = int.from_bytes(upload.data[16:20], "big")
        high = int.from_bytes(upload.data[20:24], "big")
    if not wide or not high or wide + high > 10_000 or max(wide, high) > 20 * min(wide, high):
        raise bad("PHOTO_INVALID_DIMENSIONS")
    return wide, high
