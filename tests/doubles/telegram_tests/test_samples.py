"""The samples are complete, and each is what it says it is."""

import pytest
from aiogram import Bot
from aiogram.enums import ContentType, UpdateType
from aiogram.types import Update

from tests.doubles.telegram import BotApi
from tests.doubles.telegram.samples import (
    CONTENTS,
    PICTURE,
    UPDATES,
    sample_message,
    sample_update,
    stock,
)


def test_no_kind_of_update_is_missing() -> None:
    """Every kind that the SDK knows has a sample, and the other way round."""
    known = Update.model_fields.keys() - {"update_id"}

    assert UPDATES.keys() == {kind.value for kind in UpdateType} == known


def test_no_content_is_missing() -> None:
    """Everything that the SDK knows a message to hold has a sample, and the other way round."""
    known = {content.value for content in ContentType} - {"any", "unknown"}

    assert CONTENTS.keys() == known


@pytest.mark.parametrize("kind", UPDATES)
def test_every_update_is_one_of_its_kind(kind: str) -> None:
    """The SDK reads each sample, and takes it for what it is."""
    assert Update.model_validate(sample_update(kind)).event_type == kind


@pytest.mark.parametrize("content", CONTENTS)
def test_every_message_holds_what_it_says(content: str) -> None:
    """The SDK reads each message, and takes its content for what it is."""
    message = Update.model_validate(sample_message(content)).message

    assert message is not None
    assert message.content_type == content
    assert not set(CONTENTS[content]) - set(type(message).model_fields)


async def test_samples_come_through_the_wire(api: BotApi, bot: Bot) -> None:
    """All of them can be brought to a bot, and the files that they speak of be fetched."""
    stock(api.world.shelf)
    for kind in UPDATES:
        api.inject({kind: UPDATES[kind]})

    updates = await bot.get_updates()

    assert [update.event_type for update in updates] == list(UPDATES)
    assert len({update.update_id for update in updates}) == len(UPDATES)
    found = await bot.download("sample-photo")
    assert found is not None
    assert found.read() == PICTURE
