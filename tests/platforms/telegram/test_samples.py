"""Every kind of update that the Bot API documents becomes the right message, or one log line."""

import copy
import logging
from collections.abc import AsyncIterator

import pytest
from aiogram import Bot
from hypothesis import given
from hypothesis import strategies as st

from tests.doubles.telegram import TOKEN, BotApi
from tests.doubles.telegram.samples import CONTENTS, UPDATES, sample_message, sample_update, stock
from tests.platforms.telegram.raw_updates import ME, hear, make_intake
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, MediaKind, plain_text
from threadline.platforms.telegram import TelegramSettings
from threadline.platforms.telegram.aiogram_session import make_bot
from threadline.platforms.telegram.files import file_of
from threadline.platforms.telegram.updates import (
    WANTED,
    ButtonPress,
    IgnoredUpdate,
    IncomingMessage,
    read_update,
)
from threadline.testing.fake_gate import RecordingGate

EVERYTHING = {"groups": "all", "channels": "all"}

UPDATE_WORDS = {
    "message": "Hello there",
    "edited_message": "Hello you",
    "channel_post": "News of the day",
    "edited_channel_post": "News of the day",
    "callback_query": "yes",
}
"""The kinds that somebody says, and what; all others are one line in the log."""

CONTENT_WORDS = {
    "text": "Hello there",
    "animation": "",
    "audio": "",
    "document": "My notes",
    "live_photo": "",
    "paid_media": "[Paid media for 5 stars]",
    "photo": "A picture",
    "sticker": "[Sticker 👍]",
    "story": "[Story of Alice Liddell]",
    "video": "A film",
    "video_note": "",
    "voice": "",
    "checklist": "[Checklist: Tea]\n- [ ] Boil water\n- [ ] Pour",
    "contact": "[Contact: Bob, +431234567]",
    "dice": "[Dice 🎲: 4]",
    "game": "[Game: Croquet. With flamingos]",
    "poll": "[Poll: Tea?]\n- Yes\n- No",
    "venue": "[Venue: Café, Ring 1 (48.20820, 16.37380)]",
    "location": "[Location: 48.20820, 16.37380]",
    "rich_message": "Rich words",
    "invoice": "[Invoice: Tea. A pot]",
    "users_shared": "[Shared people: 1002]",
    "chat_shared": "[Shared chat: -1000000002001]",
    "gift": "[Gift]",
    "unique_gift": "[Gift]",
    "giveaway": "[Giveaway: prizes for 1]",
    "giveaway_winners": "[Giveaway won by Bob]",
    "web_app_data": "[From the web app, Order: {}]",
}
"""What a message can hold that somebody says; all else tells of the chat."""

CONTENT_FILES = {
    "animation": (MediaKind.FILE, "animation.mp4"),
    "audio": (MediaKind.AUDIO, "song.mp3"),
    "document": (MediaKind.FILE, "notes.txt"),
    "live_photo": (MediaKind.IMAGE, "photo-u-photo.jpg"),
    "photo": (MediaKind.IMAGE, "photo-u-photo.jpg"),
    "sticker": (MediaKind.IMAGE, "sticker.webp"),
    "video": (MediaKind.FILE, "video.mp4"),
    "video_note": (MediaKind.FILE, "video.mp4"),
    "voice": (MediaKind.AUDIO, "voice.ogg"),
}


async def brought(
    sample: dict[str, object], bot: Bot, caplog: pytest.LogCaptureFixture
) -> tuple[list[Inbound], list[str]]:
    """Let one update come to a bot; answer what was taken in, and logged."""
    caplog.clear()
    gate = RecordingGate()
    intake = make_intake(gate, bot=bot, **EVERYTHING)
    await intake.take([intake.read(sample)])
    return gate.taken, [record.getMessage() for record in caplog.records]


@pytest.fixture
async def bot(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Bot]:
    """A bot at the double, where all files of the samples can be fetched."""
    caplog.set_level(logging.DEBUG, "threadline.platforms.telegram")
    async with BotApi() as api:
        stock(api.world.shelf)
        bot = make_bot(TOKEN, api.url)
        yield bot
        await bot.session.close()


async def test_every_kind_of_update_is_taken_in_or_one_log_line(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing that Telegram can bring is taken for something else, or passed over in silence."""
    for kind in UPDATES:
        taken, lines = await brought(sample_update(kind), bot, caplog)
        if kind in UPDATE_WORDS:
            assert [plain_text(one.parts) for one in taken] == [UPDATE_WORDS[kind]], kind
        else:
            assert (taken, len(lines)) == ([], 1), kind


async def test_everything_in_a_message_is_taken_in_or_one_log_line(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    """What somebody says becomes words and files; what tells of the chat becomes a log line."""
    for content in CONTENTS:
        taken, lines = await brought(sample_message(content), bot, caplog)
        if content not in CONTENT_WORDS:
            assert (taken, len(lines)) == ([], 1), content
            continue
        (inbound,) = taken
        files = [(part.kind, part.name) for part in inbound.parts if isinstance(part, Attachment)]
        expected = [CONTENT_FILES[content]] if content in CONTENT_FILES else []
        assert (plain_text(inbound.parts), lines) == (CONTENT_WORDS[content], []), content
        assert files == expected, content


def test_only_what_is_used_is_asked_for() -> None:
    """Telegram need not bring what becomes a log line; who blocks us is worth one."""
    assert set(WANTED) == {*UPDATE_WORDS, "my_chat_member"}


async def test_a_group_that_moves_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """Rules that name the old number have to name the new one, so that the owner must know."""
    await hear(sample_message("migrate_to_chat_id"))

    assert "has become chat" in caplog.text
    assert caplog.records[0].levelno == logging.WARNING


SETTINGS = TelegramSettings.model_validate({"token": TOKEN, "observe": True, **EVERYTHING})
SAMPLES = [*map(sample_update, UPDATES), *map(sample_message, CONTENTS)]
NONSENSE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "\0", "private", "channel"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def places(told: object) -> list[tuple[object, object]]:
    """Find every place in an update at which something else could stand."""
    if not isinstance(told, dict | list):
        return []
    items = list(told.items() if isinstance(told, dict) else enumerate(told))
    return [(told, key) for key, _ in items] + [
        place for _, value in items for place in places(value)
    ]


@st.composite
def spoilt(draw: st.DrawFn) -> object:
    """Make a sample in which something else stands in up to three places."""
    told = copy.deepcopy(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(places(told)))
        container[key] = draw(NONSENSE)  # type: ignore[index]
    return told


@given(spoilt())
async def test_no_garbage_is_more_than_a_log_line(told: object) -> None:
    """Whatever stands in the place of anything, an update is taken in or passed over."""
    gate = RecordingGate()
    intake = make_intake(gate, download_limit=0, **EVERYTHING)
    news = intake.read(told)
    # Nobody is there who could answer a button or give out a file.
    if isinstance(news, IncomingMessage) and file_of(news.message) is None:
        await intake.take([news])

    assert isinstance(news, IncomingMessage | ButtonPress | IgnoredUpdate)
    assert all(isinstance(one, Inbound) for one in gate.taken)


@given(NONSENSE)
def test_what_is_no_update_is_passed_over(nonsense: object) -> None:
    """Nothing that JSON can say brings the reader down."""
    assert isinstance(read_update(nonsense, ME, SETTINGS), IgnoredUpdate)


def test_the_samples_that_are_named_here_are_there() -> None:
    """A name that no sample has would let a check pass that checks nothing."""
    assert UPDATE_WORDS.keys() <= UPDATES.keys()
    assert CONTENT_FILES.keys() <= CONTENT_WORDS.keys() <= CONTENTS.keys()
