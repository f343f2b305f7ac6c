"""Contents: words and files as they stand in a message."""

from tests.doubles.telegram.calls import Call, Upload
from tests.doubles.telegram.entities import checked_entities, clean, settle, trim, units
from tests.doubles.telegram.files import Shelf, Stored, check_picture
from tests.doubles.telegram.html import read_html
from tests.doubles.telegram.markdown import read_legacy_markdown, read_markdown
from tests.doubles.telegram.refusals import Wire, bad

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
MEDIA = frozenset(
    {"animation", "audio", "document", "photo", "sticker", "video", "video_note", "voice"}
)
_FOLDERS = {"photo": "photos", "video_note": "video_notes", "voice": "voice", "audio": "music"}
_TYPES = {
    "animation": "video/mp4",
    "audio": "audio/mpeg",
    "document": "application/octet-stream",
    "video": "video/mp4",
    "voice": "audio/ogg",
}


def read_words(call: Call, name: str = "text") -> tuple[str, list[Wire]]:
    """Read the words of a call with their entities, however these were written."""
    given = call.text(name)
    mode = call.text("parse_mode").lower()
    entities = "entities" if name == "text" else f"{name}_entities"
    return parse_words(given, mode, call.structure(entities))


def parse_words(given: str, mode: str, entities: object) -> tuple[str, list[Wire]]:
    """Read words that may be marked up; entities that are named win over markup."""
    if entities is not None:
        return trim(given, checked_entities(entities, given))
    text = clean(given)
    match mode:
        case "":
            return trim(text, [])
        case "html":
            return trim(*read_html(text))
        case "markdown":
            return trim(*read_legacy_markdown(text))
        case "markdownv2":
            return trim(*read_markdown(text))
        case _:
            raise bad("unsupported parse_mode")


def set_words(text: str, entities: list[Wire], *, caption: bool = False) -> Wire:
    """Write words and entities as they stand in a message; nothing if there are no words."""
    if not text:
        return {}
    words, inside = ("caption", "caption_entities") if caption else ("text", "entities")
    settled = settle(text, entities)
    return {words: text, inside: settled} if settled else {words: text}


def text_content(call: Call) -> Wire:
    """Read the text of a message, which must be some and not too much."""
    text, entities = read_words(call)
    if not text:
        raise bad("message text is empty")
    if units(text) > TEXT_LIMIT:
        raise bad("message is too long")
    return set_words(text, entities)


def caption_content(text: str, entities: list[Wire]) -> Wire:
    """Write the words under a file, which must not be too many."""
    if units(text) > CAPTION_LIMIT:
        raise bad("message caption is too long")
    return set_words(text, entities, caption=True)


def write_media(
    shelf: Shelf, kind: str, upload: Upload, *, size: int | None = None
) -> tuple[Wire, Stored]:
    """Put a file on the shelf; answer how it stands in a message."""
    stored = shelf.put(upload, _FOLDERS.get(kind, f"{kind}s"), size=size)
    return describe_media(kind, stored), stored


def describe_media(kind: str, stored: Stored) -> Wire:
    """Write a file as it stands in a message of its kind."""
    told = stored.wire()
    media_type = stored.upload.media_type or _TYPES.get(kind, "")
    match kind:
        case "photo":
            wide, high = _dimensions(stored)
            small = {**told, "file_id": f"{stored.id}s", "file_unique_id": f"{stored.unique_id}s"}
            small |= {"width": max(wide // 4, 1), "height": max(high // 4, 1), "file_size": 100}
            return {"photo": [small, {**told, "width": wide, "height": high}]}
        case "sticker":
            told |= {"type": "regular", "width": 512, "height": 512}
            return {"sticker": {**told, "is_animated": False, "is_video": False, "emoji": "👍"}}
        case "video_note":
            return {"video_note": {**told, "length": 240, "duration": 3}}
        case "video" | "animation":
            told |= {"width": 320, "height": 240}
        case _:
            pass
    if kind != "document":
        told["duration"] = 3
    if stored.name and kind != "voice":
        told["file_name"] = stored.name
    if media_type:
        told["mime_type"] = media_type
    if kind == "animation":  # which is a document too, for those who do not know the former
        return {"animation": told, "document": told}
    return {kind: told}


def _dimensions(stored: Stored) -> tuple[int, int]:
    """Measure a picture; people may have sent anything."""
    data = stored.data
    if data.startswith(b"\x89PNG") and len(data) >= 24:
        return check_picture(stored.upload)
    return 90, 90
