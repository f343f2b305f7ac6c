"""Files: what people attach, fetched and kept before their message is brought."""

import asyncio
import re
from collections import Counter

from aiogram import Bot, types
from aiohttp import ClientError, ClientResponseError
from msgspec import Struct

from threadline.core.errors import Invalid, PlatformError
from threadline.core.message import Attachment, MediaKind
from threadline.core.platform import Receiver
from threadline.core.validation import ID_LIMIT, clean_title
from threadline.platforms.telegram.errors import Declined, to_platform_error

MOST_AT_ONCE = 4
"""Downloads: each is held in memory until it is stored."""
TRIES = 3
"""How often a file is asked for that cannot be had, before its message is brought without it."""
FETCH_SECONDS = 60

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
_REMEMBERED = 1_000
_UNKNOWN_TYPE = "application/octet-stream"


class RemoteFile(Struct, frozen=True, kw_only=True):
    """A file that lies with Telegram."""

    id: str
    unique_id: str
    name: str
    media_type: str
    size: int | None

    @property
    def kind(self) -> MediaKind:
        """Tell images and sounds from other files."""
        family = self.media_type.partition("/")[0]
        return MediaKind(family) if family in {"image", "audio"} else MediaKind.FILE


def file_of(message: types.Message) -> RemoteFile | None:
    """Find the file that a message brings; of a photo, the largest size."""
    if message.animation is not None:  # It comes as a document too, for older programs.
        return _remote(message.animation, "animation.mp4", "video/mp4")
    if message.live_photo is not None and message.live_photo.photo:
        return _photo(message.live_photo.photo)
    if message.photo:
        return _photo(message.photo)
    if message.sticker is not None:
        is_still = not (message.sticker.is_animated or message.sticker.is_video)
        return _remote(message.sticker, "sticker.webp", "image/webp") if is_still else None
    for found, name, media_type in (
        (message.document, "file", _UNKNOWN_TYPE),
        (message.audio, "audio.mp3", "audio/mpeg"),
        (message.voice, "voice.ogg", "audio/ogg"),
        (message.video, "video.mp4", "video/mp4"),
        (message.video_note, "video.mp4", "video/mp4"),
    ):
        if found is not None:
            return _remote(found, name, media_type)
    return None


class Fetcher:
    """Fetches files, a few at a time, and hands them to the gate."""

    def __init__(self, bot: Bot, gate: Receiver, limit: int) -> None:
        """Fetch what is not larger than the limit."""
        self._bot = bot
        self._gate = gate
        self._limit = limit
        self._free = asyncio.Semaphore(MOST_AT_ONCE)

    async def fetch(self, file: RemoteFile, failures: Counter[str]) -> Attachment | str:
        """Keep a file; answer a line that names it where it cannot be had.

        A failure that may pass is raised, so that the message comes again; but not for ever.
        """
        if file.size is not None and file.size > self._limit:
            return _missing(file, f"too large: {file.size:,} bytes")
        try:
            async with self._free:
                return await self._keep(file)
        except Declined as error:
            is_big = "too big" in error.message.lower()
            return _missing(file, "too large" if is_big else "not there any more")
        except PlatformError:
            failures[file.unique_id] += 1
            if failures[file.unique_id] < TRIES:
                _forget(failures)
                raise
            return _missing(file, "it could not be fetched")

    async def _keep(self, file: RemoteFile) -> Attachment | str:
        data = await self._load(file)
        if data is None:
            return _missing(file, "too large")
        try:
            return await self._gate.keep(data, file.media_type, file.kind, file.name)
        except Invalid as error:
            return _missing(file, error.message)

    async def _load(self, file: RemoteFile) -> bytes | None:
        path = await self._path(file)
        url = self._bot.session.api.file_url(self._bot.token, path)
        data = bytearray()
        try:
            # What the client says of a failure names the address, with the token in it.
            async for piece in self._bot.session.stream_content(url, timeout=FETCH_SECONDS):
                data += piece
                if len(data) > self._limit:
                    return None
        except ClientResponseError as error:
            raise PlatformError(f"A file could not be fetched ({error.status})") from None
        except (ClientError, TimeoutError, OSError) as error:
            raise PlatformError(f"A file could not be fetched ({type(error).__name__})") from None
        return bytes(data)

    async def _path(self, file: RemoteFile) -> str:
        async with to_platform_error():
            found = await self._bot.get_file(file.id)
        if not found.file_path:
            raise PlatformError("Telegram does not say where a file lies")
        return found.file_path


def _photo(sizes: list[types.PhotoSize]) -> RemoteFile:
    largest = max(sizes, key=lambda size: size.width * size.height)
    return _remote(largest, f"photo-{largest.file_unique_id}.jpg", "image/jpeg")


def _remote(
    found: types.PhotoSize
    | types.Animation
    | types.Audio
    | types.Document
    | types.Sticker
    | types.Video
    | types.VideoNote
    | types.Voice,
    name: str,
    media_type: str,
) -> RemoteFile:
    given = getattr(found, "mime_type", None) or media_type
    return RemoteFile(
        id=found.file_id,
        unique_id=found.file_unique_id,
        name=_file_name(getattr(found, "file_name", None) or name),
        media_type=given if _MEDIA_TYPE.fullmatch(given) else _UNKNOWN_TYPE,
        size=found.file_size,
    )


def _file_name(name: str) -> str:
    """Make a name that can be kept; its ending tells what it is, and stays."""
    name = clean_title(name.replace("/", "_").replace("\\", "_"), 10_000) or "file"
    stem, dot, ending = name.rpartition(".")
    if len(name.encode()) <= ID_LIMIT:
        return name
    tail = f"{dot}{ending}" if stem and len(ending.encode()) <= 20 else ""
    head = name.encode()[: ID_LIMIT - len(tail.encode())]
    return head.decode("utf-8", "ignore") + tail


def _missing(file: RemoteFile, why: str) -> str:
    return f"[The file {file.name} is missing here: {why}]"


def _forget(failures: Counter[str]) -> None:
    while len(failures) > _REMEMBERED:
        del failures[next(iter(failures))]
