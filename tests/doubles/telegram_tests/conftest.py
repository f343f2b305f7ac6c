from collections.abc import AsyncIterator

import pytest
from aiogram import Bot

from tests.doubles.telegram import BotApi, Chat, Person
from tests.doubles.telegram_tests.bots import open_bot


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    """The double, for as long as a test lasts."""
    async with BotApi() as api:
        yield api


@pytest.fixture
async def bot(api: BotApi) -> AsyncIterator[Bot]:
    """A bot of the real SDK that speaks to the double."""
    async with open_bot(api) as bot:
        yield bot


@pytest.fixture
def alice(api: BotApi) -> Person:
    return api.person("Alice Liddell", username="alice")


@pytest.fixture
def dm(api: BotApi, alice: Person) -> Chat:
    return api.dm(alice)
