"""What can go wrong on the wire, as the real SDK meets it."""

import asyncio
from datetime import timedelta

import pytest
from aiogram import Bot
from aiogram.exceptions import (
    ClientDecodeError,
    TelegramNetworkError,
    TelegramRetryAfter,
    TelegramServerError,
)
from aiohttp import ClientError

from tests.doubles.telegram import BotApi, Chat, Limits, Person
from tests.doubles.telegram_tests.bots import open_bot
from threadline.testing.deadline import HANG_SECONDS


async def test_a_flood_asks_for_patience(api: BotApi, bot: Bot, dm: Chat) -> None:
    """The next message is refused with how long to wait; typing and updates are left alone."""
    api.flood(3)

    await bot.send_chat_action(dm.id, "typing")
    with pytest.raises(TelegramRetryAfter) as refused:
        await bot.send_message(dm.id, "x")
    await bot.send_message(dm.id, "y")

    assert (refused.value.retry_after, dm.texts) == (3, ["y"])
    assert [call.text("text") for call in api.called("sendMessage")] == ["x", "y"]
    assert [call.text("text") for call, _ in api.done if call.method == "sendMessage"] == ["y"]


async def test_faults_of_the_server(api: BotApi, bot: Bot, dm: Chat) -> None:
    """So many calls fail as were asked for, and of the methods that were named."""
    api.fail(502, times=2, methods="getUpdates|sendMessage")

    for call in (bot.get_updates, lambda: bot.send_message(dm.id, "x")):
        with pytest.raises(TelegramServerError, match="Bad Gateway"):
            await call()
    await bot.send_message(dm.id, "y")

    assert dm.texts == ["y"]


async def test_a_broken_line_before_the_message(api: BotApi, bot: Bot, dm: Chat) -> None:
    """Nothing was shown, and nobody can know."""
    api.drop()

    with pytest.raises(TelegramNetworkError):
        await bot.send_message(dm.id, "x")

    assert dm.texts == []


async def test_a_broken_line_after_the_message(api: BotApi, bot: Bot, dm: Chat) -> None:
    """It was shown, and nobody can know."""
    api.silence()

    with pytest.raises(TelegramNetworkError):
        await bot.send_message(dm.id, "x")

    assert dm.texts == ["x"]


async def test_an_answer_that_nobody_can_read(api: BotApi, bot: Bot, dm: Chat) -> None:
    """It was shown, and the answer is no JSON."""
    api.mangle()

    with pytest.raises(ClientDecodeError):
        await bot.send_message(dm.id, "x")

    assert dm.texts == ["x"]


async def test_a_call_that_hangs(api: BotApi, bot: Bot, dm: Chat) -> None:
    """No answer comes for as long as one waits, and nothing is shown."""
    api.hang()

    with pytest.raises(TelegramNetworkError, match="timeout"):
        await bot.send_message(dm.id, "x", request_timeout=1)
    await bot.send_message(dm.id, "y")

    assert dm.texts == ["y"]


async def test_a_hanging_call_keeps_nobody(dm: Chat, api: BotApi) -> None:
    """The double can be closed while somebody waits, for an answer or for updates."""
    async with BotApi() as other, open_bot(other) as bot:
        there = other.dm(other.person("Bob"))
        other.hang()
        hanging = asyncio.create_task(bot.send_message(there.id, "x"))
        polling = asyncio.create_task(bot.get_updates(timeout=30))
        await other.until(lambda: len(other.calls) == 2)
        async with asyncio.timeout(HANG_SECONDS):
            await other.__aexit__(None, None, None)
            await asyncio.wait({hanging, polling})

        assert isinstance(hanging.exception(), TelegramNetworkError)
        assert polling.result() == []


async def test_a_clear_sky(api: BotApi, bot: Bot, dm: Chat) -> None:
    """Trouble that was planned can be called off."""
    api.fail(times=5)
    api.clear()

    await bot.send_message(dm.id, "x")

    assert dm.texts == ["x"]


async def test_a_chat_takes_only_so_much() -> None:
    """With limits, a burst is let through, then one a second; other chats are not touched."""
    async with BotApi(limits=Limits()) as api, open_bot(api) as bot:
        here, there = api.dm(api.person("Alice")), api.dm(api.person("Bob"))
        for _ in range(3):
            await bot.send_message(here.id, "x")
        with pytest.raises(TelegramRetryAfter) as refused:
            await bot.send_message(here.id, "too much")
        await bot.send_message(there.id, "y")
        api.pass_time(timedelta(seconds=refused.value.retry_after))
        await bot.send_message(here.id, "z")

    assert here.texts == ["x", "x", "x", "z"]


async def test_a_group_takes_twenty_a_minute() -> None:
    """The 21st message within a minute is too much for a group."""
    async with BotApi(limits=Limits()) as api, open_bot(api) as bot:
        group = api.group("Tea", [api.person("Alice")])
        for _ in range(20):
            await bot.send_message(group.id, "x")
        with pytest.raises(TelegramRetryAfter) as refused:
            await bot.send_message(group.id, "x")

    assert 50 <= refused.value.retry_after <= 60


async def test_files_can_fail_too(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """What is fetched can break off, as everything can."""
    shown = await alice.sends(dm, "document", b"notes", name="notes.txt")
    api.fail(500, methods="getFile")
    with pytest.raises(TelegramServerError):
        await bot.get_file(shown.files[0].id)
    api.drop(methods="file")

    # A GET over a connection that was in use is begun anew by the client, once.
    api.drop(methods="file")
    with pytest.raises(ClientError, match="disconnected"):
        await bot.download(shown.files[0].id)
