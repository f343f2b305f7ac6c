"""MIME: what a file is, by its first bytes. Nothing is unpacked, and nobody's word is taken."""

from typing import Final

from threadline.core.message import MediaKind

SNIFFED = 1024
"""How many of the first bytes are looked at."""
UNKNOWN = "application/octet-stream"
PLAIN = "text/plain"
_ZIP = "application/zip"

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", _ZIP),
    (b"PK\x05\x06", _ZIP),
    (b"\x1f\x8b", "application/gzip"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_MPEG: Final = frozenset({0xFB, 0xFA, 0xF3, 0xF2, 0xE3, 0xE2})
# Their names make a difference only to whoever reads them; none is ever shown in a browser.
_OF_ZIP: Final = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "epub": "application/epub+zip",
}
_OF_TEXT: Final = {"md": "text/markdown", "csv": "text/csv", "json": "application/json"}

INLINE: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp"}
    | {"audio/mpeg", "audio/ogg", "audio/wav", "audio/flac", "audio/mp4"}
)
"""Types that a browser may show by itself: they cannot carry a script."""


def sniff(head: bytes, name: str | None = None) -> str:
    """Tell the media type of a file; its name decides only among kinds of text and of archives."""
    found = _by_beginning(head[:SNIFFED])
    ending = (name or "").rpartition(".")[2].lower()
    if found == _ZIP:
        return _OF_ZIP.get(ending, _ZIP)
    if found is not None:
        return found
    return _OF_TEXT.get(ending, PLAIN) if _is_text(head[:SNIFFED]) else UNKNOWN


def media_kind_of(media_type: str) -> MediaKind:
    """Tell whether a type is shown, heard or kept as a file."""
    if media_type in INLINE:
        is_image = media_type.startswith("image/")
        return MediaKind.IMAGE if is_image else MediaKind.AUDIO
    return MediaKind.FILE


def _by_beginning(head: bytes) -> str | None:
    for beginning, media_type in _BEGINNINGS:
        if head.startswith(beginning):
            return media_type
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return "audio/mp4" if head[8:11] == b"M4A" else "video/mp4"
    if len(head) > 1 and head[0] == 0xFF and head[1] in _MPEG:
        return "audio/mpeg"
    return None


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The last character may go on behind what is looked at.
        return error.start >= len(head) - 3 and len(head) == SNIFFED
    return True
