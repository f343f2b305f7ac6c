"""How a bot of the real SDK gets its updates from the double."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from aiogram import Bot
from aiogram.exceptions import ClientDecodeError, TelegramBadRequest, TelegramConflictError
from aiogram.types import Update
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.doubles.telegram import BotApi, Chat, Person
from tests.doubles.telegram_tests.bots import open_bot
from threadline.testing.deadline import HANG_SECONDS
from threadline.web.server import serve


def texts(updates: list[Update]) -> list[str | None]:
    """Read what updates say."""
    return [one.message.text for one in updates if one.message]


async def test_what_waits_is_given_until_it_is_confirmed(
    api: BotApi, bot: Bot, alice: Person, dm: Chat
) -> None:
    """An update comes again and again, until a higher offset says that it was taken."""
    await alice.writes(dm, "one")
    await alice.writes(dm, "two")

    first = await bot.get_updates()
    again = await bot.get_updates()
    rest = await bot.get_updates(offset=first[0].update_id + 1)

    assert texts(first) == texts(again) == ["one", "two"]
    assert texts(rest) == ["two"]
    assert api.confirmed == [first[0].update_id]
    assert first[1].update_id == first[0].update_id + 1


async def test_a_restarted_bot_gets_what_it_missed(api: BotApi, alice: Person, dm: Chat) -> None:
    """What people write while no bot runs waits for it."""
    async with open_bot(api) as bot:
        await bot.get_updates()
    await alice.writes(dm, "anybody?")

    async with open_bot(api) as bot:
        assert texts(await bot.get_updates()) == ["anybody?"]


async def test_a_poll_waits_for_something_to_come(bot: Bot, alice: Person, dm: Chat) -> None:
    """A long poll is answered as soon as somebody writes."""
    polling = asyncio.create_task(bot.get_updates(timeout=30))
    await asyncio.sleep(0)
    await alice.writes(dm, "now")

    assert texts(await asyncio.wait_for(polling, HANG_SECONDS)) == ["now"]


async def test_a_poll_ends_empty(bot: Bot) -> None:
    """A poll that waited for nothing is answered with nothing."""
    assert await bot.get_updates(timeout=0) == []


async def test_only_one_may_ask(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """The second who asks for updates puts the first one out."""
    first = asyncio.create_task(bot.get_updates(timeout=30))
    await api.until(lambda: api.called("getUpdates"))

    second = asyncio.create_task(bot.get_updates(timeout=30))

    with pytest.raises(TelegramConflictError, match="terminated by other getUpdates request"):
        await first
    await alice.writes(dm, "hello")
    assert texts(await second) == ["hello"]


async def test_limits_and_kinds_are_heeded(bot: Bot, alice: Person, dm: Chat) -> None:
    """At most as many come as were asked for, and only the kinds that were named."""
    await bot.get_updates(allowed_updates=["message"])
    sent = await alice.writes(dm, "one")
    await alice.edits(sent, "uno")
    await alice.writes(dm, "two")

    assert texts(await bot.get_updates(limit=1)) == ["one"]
    assert texts(await bot.get_updates()) == ["one", "two"]


async def test_reactions_are_brought_only_on_demand(bot: Bot, alice: Person, dm: Chat) -> None:
    """Some kinds come only to a bot that names them."""
    sent = await alice.writes(dm, "one")
    await alice.reacts(sent, "👍")
    await bot.get_updates(allowed_updates=["message", "message_reaction"])
    await alice.reacts(sent, "👎")

    message, reaction = await bot.get_updates()
    assert message.event_type == "message"
    assert reaction.message_reaction is not None


async def test_a_negative_offset_leaves_the_last(bot: Bot, alice: Person, dm: Chat) -> None:
    """The last so many are given, and all before are forgotten."""
    for word in ("one", "two", "three"):
        await alice.writes(dm, word)

    assert texts(await bot.get_updates(offset=-1)) == ["three"]
    assert texts(await bot.get_updates()) == ["three"]


async def test_nothing_waits_for_ever(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """After 24 hours an update that nobody fetched is gone."""
    await alice.writes(dm, "old")
    api.pass_time(timedelta(hours=23))
    await alice.writes(dm, "new")
    assert texts(await bot.get_updates()) == ["old", "new"]

    api.pass_time(timedelta(hours=2))

    assert texts(await bot.get_updates()) == ["new"]


async def test_garbage_comes_once(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """Bytes are answered as they are, once; odd updates wait like all others."""
    await alice.writes(dm, "hello")
    api.inject(b"<html>")
    api.inject({"something_new": {"a": 1}})

    with pytest.raises(ClientDecodeError):
        await bot.get_updates()
    hello, odd = await bot.get_updates()
    assert (texts([hello]), odd.model_extra) == (["hello"], {"something_new": {"a": 1}})


@asynccontextmanager
async def hooked(api: BotApi, bot: Bot, *statuses: int) -> AsyncIterator[tuple[str, list[Request]]]:
    """Let a server be called, which answers with these statuses first, and then well."""
    came: list[Request] = []
    coming = list(statuses)

    async def take(request: Request) -> Response:
        await request.body()
        came.append(request)
        return Response(status_code=coming.pop(0) if coming else 200)

    app = Starlette(routes=[Route("/hook", take, methods=["POST"])])
    async with serve(app, "127.0.0.1", 0) as url:
        yield f"{url}/hook", came
        await bot.delete_webhook()


async def test_a_hook_is_called_in_order(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """Each update is brought with the secret, again until it is taken, and then the next."""
    async with hooked(api, bot, 500, 404) as (url, came):
        await alice.writes(dm, "one")
        await bot.set_webhook(url, secret_token="s3cret")
        await alice.writes(dm, "two")
        await api.until(lambda: len(api.confirmed) == 2)
        info = await bot.get_webhook_info()

        bodies = [json.loads(await request.body()) for request in came]
        assert [one["message"]["text"] for one in bodies] == ["one", "one", "one", "two"]
        names = {request.headers["x-telegram-bot-api-secret-token"] for request in came}
        assert names == {"s3cret"}
        assert (info.url, info.pending_update_count) == (url, 0)
        assert info.last_error_message is not None
        assert "404" in info.last_error_message


async def test_a_hook_may_answer_with_a_call(
    api: BotApi, bot: Bot, alice: Person, dm: Chat
) -> None:
    """A method in the answer of a hook is carried out."""

    async def take(request: Request) -> Response:
        return JSONResponse({"method": "sendMessage", "chat_id": dm.id, "text": "Well"})

    async with serve(
        Starlette(routes=[Route("/hook", take, methods=["POST"])]), "127.0.0.1", 0
    ) as url:
        await bot.set_webhook(f"{url}/hook")
        await alice.writes(dm, "one")
        assert await api.said(dm) == ["Well"]
        await bot.delete_webhook()


async def test_a_hook_and_a_poll_shut_each_other_out(api: BotApi, bot: Bot) -> None:
    """Who polls is put out by a hook, and refused for as long as there is one."""
    polling = asyncio.create_task(bot.get_updates(timeout=30))
    await api.until(lambda: api.called("getUpdates"))
    async with hooked(api, bot) as (url, _):
        await bot.set_webhook(url)
        with pytest.raises(TelegramConflictError, match="terminated by setWebhook"):
            await polling
        with pytest.raises(TelegramConflictError, match="while webhook is active"):
            await bot.get_updates()

    assert await bot.get_updates() == []


@pytest.mark.parametrize(
    ("url", "secret", "why"),
    [
        ("http://example.org/hook", "", "An HTTPS URL must be provided"),
        ("https://example.org:99/hook", "", "only on ports"),
        ("http://127.0.0.1:1/hook", "white space", "unallowed characters"),
    ],
)
async def test_hooks_are_checked(bot: Bot, url: str, secret: str, why: str) -> None:
    """An address that Telegram would not call is refused, and so is an odd secret."""
    with pytest.raises(TelegramBadRequest, match=why):
        await bot.set_webhook(url, secret_token=secret or None)


async def test_pending_updates_can_be_dropped(bot: Bot, alice: Person, dm: Chat) -> None:
    """A bot may throw away what waits for it."""
    await alice.writes(dm, "old")

    await bot.delete_webhook(drop_pending_updates=True)

    assert await bot.get_updates() == []
