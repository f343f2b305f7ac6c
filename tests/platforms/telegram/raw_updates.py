"""Hearing: raw updates go in, what the gate was given comes out, and no network lies between."""

from collections import Counter
from datetime import UTC, datetime
from functools import cache
from typing import Any

from aiogram import Bot
from aiogram.types import User

from tests.doubles.telegram import TOKEN
from tests.doubles.telegram.sample_contents import ALICE, DM, GROUP, MOMENT
from threadline.core.inbound import Inbound
from threadline.platforms.telegram import TelegramSettings
from threadline.platforms.telegram.aiogram_session import make_bot
from threadline.platforms.telegram.albums import Albums
from threadline.platforms.telegram.update_processor import UpdateProcessor
from threadline.testing.fake_gate import RecordingGate

ME = User(id=4242, is_bot=True, first_name="Double", username="double_bot")
NOWHERE = "http://127.0.0.1:1"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
Wire = dict[str, object]


@cache
def mute() -> Bot:
    """Answer a bot that could not reach anybody."""
    return make_bot(TOKEN, NOWHERE)


def make_intake(gate: RecordingGate, *, bot: Any = None, **given: object) -> UpdateProcessor:
    """Make an intake; unless it is given a bot, it could not reach anybody."""
    settings = TelegramSettings.model_validate({"token": TOKEN, "api_url": NOWHERE, **given})
    return UpdateProcessor(
        bot or mute(),
        ME,
        gate,
        name="telegram",
        settings=settings,
        clock=lambda: NOW,
        albums=Albums(),
        failures=Counter(),
    )


async def hear(*updates: object, **given: object) -> list[Inbound]:
    """Let updates come from one chat, and answer what was taken in."""
    gate = RecordingGate()
    intake = make_intake(gate, **given)
    await intake.take([intake.read(update) for update in updates])
    return gate.taken


async def heard(update: object, **given: object) -> Inbound:
    """Let one update come that is to be taken in."""
    (inbound,) = await hear(update, **given)
    return inbound


def line(text: Any = "hello", *, chat: Any = DM, number: Any = 7, **more: object) -> Wire:
    """Write a message of Alice's."""
    said = {"message_id": number, "date": MOMENT, "chat": chat, "from": ALICE, "text": text}
    return {name: value for name, value in {**said, **more}.items() if value is not None}


def update(message: Wire, kind: str = "message", number: int = 730_000_001) -> Wire:
    """Write an update around a message."""
    return {"update_id": number, kind: message}


def in_group(text: str | None, **more: object) -> Wire:
    """Write an update with something that Alice says in a group."""
    return update(line(text, chat=GROUP, **more))


def mention(text: str, name: str) -> list[Wire]:
    """Write the entity by which Telegram marks a name in a text."""
    units = text[: text.index(name)].encode("utf-16-le")
    return [{"type": "mention", "offset": len(units) // 2, "length": len(name)}]
