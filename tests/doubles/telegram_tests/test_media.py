"""Files through the double, both ways, with the real SDK."""

import io

import pytest
from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest, TelegramEntityTooLarge
from aiogram.types import BufferedInputFile, InputMediaDocument, InputMediaPhoto, MediaUnion

from tests.doubles.telegram import BotApi, Chat, Person
from tests.doubles.telegram.samples import PICTURE

ODD = bytes(range(256)) + b"\r\n--boundary\r\n\r\n" * 3
"""Bytes that a careless reader of forms would take apart."""


def named(data: bytes, name: str = "notes.bin") -> BufferedInputFile:
    """Make a file to send."""
    return BufferedInputFile(data, filename=name)


async def fetch(bot: Bot, file_id: str) -> bytes:
    """Fetch a file as the SDK does."""
    into = io.BytesIO()
    await bot.download(file_id, destination=into)
    return into.getvalue()


async def test_a_document_arrives_byte_for_byte(bot: Bot, dm: Chat) -> None:
    """What a bot sends is seen whole, under its name, and can be fetched again."""
    sent = await bot.send_document(dm.id, named(ODD), caption="<b>Mine</b>", parse_mode="HTML")

    (shown,) = dm.messages
    assert (shown.text, shown.files[0].name, shown.files[0].data) == ("Mine", "notes.bin", ODD)
    assert shown.entities == [{"type": "bold", "offset": 0, "length": 4}]
    assert sent.document is not None
    assert await fetch(bot, sent.document.file_id) == ODD


@pytest.mark.parametrize(
    "kind", ["audio", "voice", "video", "animation", "video_note", "sticker", "photo"]
)
async def test_every_kind_of_file_can_be_sent(bot: Bot, dm: Chat, kind: str) -> None:
    """Each method answers with a message of its kind, and takes an id instead of a file too."""
    send = getattr(bot, f"send_{kind}")
    sent = await send(dm.id, named(PICTURE, "thing"))

    media = getattr(sent, kind)
    file_id = media[-1].file_id if kind == "photo" else media.file_id
    again = await send(dm.id, file_id)

    assert sent.content_type == again.content_type == kind
    assert [line.files[0].data for line in dm.messages] == [PICTURE, PICTURE]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no picture", "IMAGE_PROCESS_FAILED"),
        (PICTURE[:16] + b"\0\0\x40\0\0\0\0\1", "PHOTO_INVALID_DIMENSIONS"),
        (PICTURE + b"\0" * 10_000_000, "too big for a photo"),
        (b"", "file must be non-empty"),
    ],
)
async def test_photos_are_pictures(bot: Bot, dm: Chat, data: bytes, why: str) -> None:
    """What cannot be shown as a photo is refused."""
    with pytest.raises(TelegramBadRequest, match=why):
        await bot.send_photo(dm.id, named(data))

    assert dm.messages == []


async def test_uploads_have_a_limit(bot: Bot, dm: Chat) -> None:
    """More than 50 MB is too much."""
    with pytest.raises(TelegramEntityTooLarge):
        await bot.send_document(dm.id, named(b"\0" * 50_000_001))


async def test_captions_have_a_limit(bot: Bot, dm: Chat) -> None:
    """1024 units may stand under a file, not one more."""
    await bot.send_document(dm.id, named(b"x"), caption="x" * 1024)

    with pytest.raises(TelegramBadRequest, match="message caption is too long"):
        await bot.send_document(dm.id, named(b"x"), caption="x" * 1025)


async def test_an_album_is_several_messages(bot: Bot, dm: Chat) -> None:
    """The files of an album share a group, and only what fits together goes into one."""
    media: list[MediaUnion] = [
        InputMediaDocument(media=named(b"one", "1.txt"), caption="All"),
        InputMediaDocument(media=named(b"two", "2.txt")),
    ]
    sent = await bot.send_media_group(dm.id, media)

    assert len({one.media_group_id for one in sent}) == 1
    assert [(line.text, line.files[0].data) for line in dm.messages] == [
        ("All", b"one"),
        ("", b"two"),
    ]
    for wrong in (media[:1], [media[0], InputMediaPhoto(media=named(PICTURE))]):
        with pytest.raises(TelegramBadRequest, match="group"):
            await bot.send_media_group(dm.id, wrong)
    assert len(dm.messages) == 2


async def test_people_send_files(bot: Bot, alice: Person, dm: Chat) -> None:
    """What people send has a kind, a name and a type, and can be fetched."""
    await alice.sends(dm, "document", ODD, name="notes.txt", media_type="text/plain", caption="Hm")
    await alice.sends(dm, "photo", PICTURE)
    await alice.sends(dm, "voice", b"OggS")

    noted, pictured, spoken = (one.message for one in await bot.get_updates())
    assert noted is not None
    assert noted.document is not None
    assert (noted.caption, noted.document.file_name) == ("Hm", "notes.txt")
    assert await fetch(bot, noted.document.file_id) == ODD
    assert pictured is not None
    assert pictured.photo is not None
    assert await fetch(bot, pictured.photo[-1].file_id) == PICTURE
    assert spoken is not None
    assert spoken.voice is not None


async def test_people_send_albums(bot: Bot, alice: Person, dm: Chat) -> None:
    """An album of people comes as several messages of one group, words under the first."""
    await alice.sends_album(dm, "photo", PICTURE, PICTURE, caption="Two")

    messages = [one.message for one in await bot.get_updates()]
    assert [one.caption for one in messages if one] == ["Two", None]
    assert len({one.media_group_id for one in messages if one}) == 1


async def test_people_send_other_things(bot: Bot, alice: Person, dm: Chat) -> None:
    """Whatever else can stand in a message can be sent."""
    await alice.shows(dm, location={"latitude": 48.2, "longitude": 16.3})

    (update,) = await bot.get_updates()
    assert update.message is not None
    assert update.message.location is not None


async def test_big_files_cannot_be_fetched(bot: Bot, alice: Person, dm: Chat) -> None:
    """More than 20 MB is not given to a bot, nor is what is not there."""
    shown = await alice.sends(dm, "video", b"x", size=20_000_001)

    with pytest.raises(TelegramBadRequest, match="file is too big"):
        await bot.get_file(shown.files[0].id)
    with pytest.raises(TelegramBadRequest, match="wrong file_id"):
        await bot.get_file("nothing")


async def test_nothing_is_fetched_from_elsewhere(api: BotApi, bot: Bot, dm: Chat) -> None:
    """A file by its address is refused: the double speaks to nobody."""
    with pytest.raises(TelegramBadRequest, match="failed to get HTTP URL content"):
        await bot.send_photo(dm.id, "https://example.org/picture.png")
    with pytest.raises(TelegramBadRequest, match="wrong remote file identifier"):
        await bot.send_photo(dm.id, "nothing")
