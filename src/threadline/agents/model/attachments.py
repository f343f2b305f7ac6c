"""Attachments: what was sent along, as far as a model can take it."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from pydantic_ai.messages import BinaryContent
from pydantic_ai.profiles import ModelProfile

from threadline.core.errors import NotFound
from threadline.core.message import Attachment, BlobHash, Message, NewMessage, Role
from threadline.core.safe_names import quote_name

ReadBlob: TypeAlias = Callable[[BlobHash], AsyncIterator[bytes]]
Content: TypeAlias = str | BinaryContent

TOTAL_LIMIT = 20 * 1024 * 1024
"""Bytes of one request; what was sent last goes before what was sent earlier."""
TEXT_FILE_LIMIT = 100_000
"""Bytes of a text file that is read to the model."""
_MARK_DIGITS = 16
_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_SOUNDS = frozenset(
    {"audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/aiff", "audio/aac"}
)
_PDF = "application/pdf"
_TEXTS = frozenset(
    {
        "application/json",
        "application/xml",
        "application/yaml",
        "application/toml",
        "application/x-yaml",
        "application/javascript",
        "application/x-sh",
        "application/sql",
    }
)


class Attachments:
    """Reads what was attached to the lines of one turn, each of it once."""

    def __init__(self, read_blob: ReadBlob, *, limit: int = TOTAL_LIMIT) -> None:
        """Begin with nothing read."""
        self._read_blob = read_blob
        self._limit = limit
        self._read: dict[BlobHash, bytes | None] = {}
        self.were_shown = False
        """The last time, something was among them that is more than words."""

    async def load(
        self, lines: Sequence[Message | NewMessage], profile: ModelProfile, *, plain: bool = False
    ) -> Mapping[BlobHash, Content]:
        """Answer what a model with this profile is given of each attachment.

        `plain`: nothing but words, because it did not take the rest.
        """
        loaded: dict[BlobHash, Content] = {}
        left = self._limit
        for attachment in _newest_first(lines):
            if attachment.blob in loaded:
                continue
            if not _is_text(attachment) and (plain or not _takes(profile, attachment)):
                loaded[attachment.blob] = name_attachment(attachment, "you cannot open it")
            elif attachment.size > left:
                loaded[attachment.blob] = name_attachment(
                    attachment, "it is too large to be shown here"
                )
            else:
                loaded[attachment.blob] = await self._show(attachment)
                left -= attachment.size
        self.were_shown = any(isinstance(content, BinaryContent) for content in loaded.values())
        return loaded

    async def _show(self, attachment: Attachment) -> Content:
        data = await self._bytes(attachment.blob)
        if data is None:
            return name_attachment(attachment, "it is gone")
        if not _is_text(attachment):
            return BinaryContent(data=data, media_type=_plain_type(attachment))
        return _quote_file(attachment, data)

    async def _bytes(self, blob: BlobHash) -> bytes | None:
        if blob not in self._read:
            try:
                self._read[blob] = b"".join([chunk async for chunk in self._read_blob(blob)])
            except NotFound:
                self._read[blob] = None
        return self._read[blob]


def name_attachment(attachment: Attachment, why: str) -> str:
    """Name an attachment that a model is not given."""
    name = f" {quote_name(attachment.name)}" if attachment.name else ""
    what = (
        f"{attachment.kind}{name}, {quote_name(attachment.media_type)}, {attachment.size:,} bytes"
    )
    return f"[attached: {what}; {why}]"


def _newest_first(lines: Sequence[Message | NewMessage]) -> Iterable[Attachment]:
    for line in reversed(lines):
        if line.role is Role.USER:
            yield from (part for part in reversed(line.parts) if isinstance(part, Attachment))


def _takes(profile: ModelProfile, attachment: Attachment) -> bool:
    media_type = _plain_type(attachment)
    if media_type in _IMAGES:
        return profile.get("supports_image_input", True)
    if media_type in _SOUNDS:
        return profile.get("supports_audio_file_input", True)
    if media_type != _PDF or not profile.get("supports_document_input", True):
        return False
    types = profile.get("supported_document_media_types")
    return types is None or _PDF in types


def _is_text(attachment: Attachment) -> bool:
    media_type = _plain_type(attachment)
    is_words = media_type.startswith("text/") or media_type in _TEXTS
    return is_words and attachment.size <= TEXT_FILE_LIMIT


def _plain_type(attachment: Attachment) -> str:
    return attachment.media_type.partition(";")[0].strip().lower()


def _quote_file(attachment: Attachment, data: bytes) -> str:
    """Show a text file. No file contains its own hash, so none can look as if it had ended."""
    name, mark = quote_name(attachment.name or "file"), attachment.blob[:_MARK_DIGITS]
    text = data.decode("utf-8", "replace")
    return (
        f"[attached: file {name}; it says, up to the mark {mark}:]\n{text}\n[{mark}: end of {name}]"
    )
