"""Media: files that the bot sends, alone or as an album, and those that it fetches."""

from collections.abc import Callable

from tests.doubles.telegram.calls import UPLOAD_LIMIT, Call, Upload
from tests.doubles.telegram.contents import (
    caption_content,
    describe_media,
    parse_words,
    read_words,
    write_media,
)
from tests.doubles.telegram.files import DOWNLOAD_LIMIT, Stored, check_picture
from tests.doubles.telegram.methods.messages import show
from tests.doubles.telegram.refusals import Refusal, Wire, bad
from tests.doubles.telegram.state import World

_ALBUM = {"audio", "document", "photo", "video"}


def send_file(kind: str) -> Callable[[World, Call], Wire]:
    """Make the method that sends one kind of file."""

    def send(world: World, call: Call) -> Wire:
        """Send one file, with words under it."""
        chat = world.open_chat(call)
        words = {} if kind in _BARE else caption_content(*read_words(call, "caption"))
        media, stored = _take(world, call, kind, call.parameters.get(kind))
        return show(world, call, chat, {**media, **words}, files=(stored,)).wire

    return send


def send_album(world: World, call: Call) -> list[Wire]:
    """Send several files at once: as many messages, which share one media group."""
    chat = world.open_chat(call)
    items = call.structure("media")
    if not isinstance(items, list) or not 2 <= len(items) <= 10:
        raise bad("media group must include 2-10 items")
    kinds = {item.get("type") if isinstance(item, dict) else None for item in items}
    if kinds - _ALBUM or (len(kinds) > 1 and kinds & {"audio", "document"}):
        raise bad("wrong media types in the group")
    group = str(13_000_000_000_000_000 + len(chat.lines))
    contents: list[tuple[Wire, Stored]] = []
    for item in items:
        text = parse_words(
            item.get("caption") or "",
            (item.get("parse_mode") or "").lower(),
            item.get("caption_entities"),
        )
        media, stored = _take(world, call, item["type"], item.get("media"))
        words = caption_content(*text)
        contents.append(({"media_group_id": group, **media, **words}, stored))
    return [show(world, call, chat, told, files=(stored,)).wire for told, stored in contents]


def tell_file(world: World, call: Call) -> Wire:
    """Tell where a file can be fetched."""
    wanted = call.text("file_id")
    if not wanted:
        raise bad("file_id is empty")
    stored = world.shelf.find(wanted)
    if stored.size > DOWNLOAD_LIMIT:
        raise bad("file is too big")
    return {**stored.wire(), "file_path": stored.path}


def _take(world: World, call: Call, kind: str, value: object) -> tuple[Wire, Stored]:
    """Take a file that came with the call, or one that lies on the shelf."""
    upload = call.upload(value) or call.files.get(kind)
    if upload is None:
        return _known(world, kind, value)
    if not upload.data:
        raise bad("file must be non-empty")
    if len(upload.data) > UPLOAD_LIMIT:
        raise Refusal(413)
    if kind == "photo":
        check_picture(upload)
    given = Upload(name=upload.name, data=upload.data, media_type=upload.media_type)
    return write_media(world.shelf, kind, given)


def _known(world: World, kind: str, value: object) -> tuple[Wire, Stored]:
    if not isinstance(value, str) or not value:
        raise bad(f"there is no {kind} in the request")
    if value.startswith("attach://"):
        raise bad(f"can't find the file {value!r} in the request")
    if value.startswith(("http://", "https://")):  # nothing is fetched from anywhere
        raise bad("failed to get HTTP URL content")
    try:
        stored = world.shelf.find(value)
    except Refusal:
        raise bad(
            "wrong remote file identifier specified: can't unserialize it. Wrong last symbol"
        ) from None
    return describe_media(kind, stored), stored


_BARE = {"sticker", "video_note"}

MEDIA_METHODS = {
    "sendPhoto": send_file("photo"),
    "sendDocument": send_file("document"),
    "sendAudio": send_file("audio"),
    "sendVoice": send_file("voice"),
    "sendVideo": send_file("video"),
    "sendAnimation": send_file("animation"),
    "sendVideoNote": send_file("video_note"),
    "sendSticker": send_file("sticker"),
    "sendMediaGroup": send_album,
    "getFile": tell_file,
}
