"""A stage for Telegram: the double of the Bot API, and Alice who writes to the bot."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib import import_module
from unittest import SkipTest

from tests.doubles.telegram import BotApi, Shown
from threadline.core.address import Address, Kind
from threadline.core.platform import Receiver
from threadline.platforms.telegram import Telegram, TelegramSettings
from threadline.platforms.telegram.rate_limit import TelegramRateLimit
from threadline.testing.platform_harness import Fault, PlatformHarness

# The SDK takes seconds to load: that is done before any test looks at the clock.
for module in ("update_processor", "polling", "message_sender", "album_buffer"):
    import_module(f"threadline.platforms.telegram.{module}")

QUIET = timedelta(seconds=0.05)


def settings(api: BotApi, **given: object) -> TelegramSettings:
    return TelegramSettings.model_validate({"token": api.token, "api_url": api.url, **given})


def make_telegram(api: BotApi, **given: object) -> Telegram:
    """Make the platform as it is, but without the pauses between what it sends."""
    return Telegram(
        "telegram",
        settings(api, **given),
        quiet=QUIET,
        pacing=TelegramRateLimit(sleep=no_pause),
    )


async def no_pause(_: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def running(telegram: Telegram, gate: Receiver) -> AsyncIterator[asyncio.Task[None]]:
    """Let the platform run once, without anybody who begins it again."""
    task = asyncio.create_task(telegram.run(gate))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


class TelegramStage(PlatformHarness):
    """Alice, in a direct chat with the bot and in a topic of a group."""

    def __init__(self, api: BotApi) -> None:
        self.api = api
        self.alice = api.person("Alice Liddell", username="alice")
        self.dm = api.dm(self.alice)
        self.group = api.group("Wonderland", [self.alice], forum=True)
        # The first line of a group says that it was made; no topic has its number.
        api.world.add_line(self.group, {"supergroup_chat_created": True}, by=self.alice)
        self.topic = api.world.add_topic(self.group, "Tea", by=self.alice)
        self.platform: Telegram = make_telegram(api, groups="all")
        self.address = Address(platform="telegram", kind=Kind.DM, chat=str(self.dm.id))
        self.thread = Address(
            platform="telegram",
            kind=Kind.THREAD,
            chat=str(self.group.id),
            thread=str(self.topic.id),
        )
        self._last: Shown | None = None

    async def write(
        self,
        text: str,
        *,
        file: tuple[str, str, bytes] | None = None,
        in_thread: bool = False,
    ) -> str:
        chat = self.group if in_thread else self.dm
        thread = self.topic if in_thread else None
        if file is None:
            self._last = await self.alice.writes(chat, text, thread=thread)
        else:
            name, media_type, data = file
            self._last = await self.alice.sends(
                chat, "document", data, name=name, media_type=media_type, caption=text
            )
        return str(self._last.id)

    async def edit(self, message_id: str, text: str) -> None:
        await self.alice.edits(self.dm.lines[int(message_id)], text)

    async def delete(self, message_id: str) -> None:
        raise SkipTest("The Bot API does not tell of deleted messages")

    async def repeat(self) -> None:
        assert self._last is not None
        self.api.inject({"message": self._last.wire})

    async def talk_nonsense(self) -> None:
        self.api.inject({"message": {"message_id": "many", "chat": None}})
        self.api.inject({"message": 7, "poll": [[[]]]})
        self.api.inject({})
        self.api.inject({"a_kind_of_tomorrow": {"id": 1}})
        self.api.inject(b"{]")
        self.api.inject(b'{"ok": true, "result": [3, null, {"update_id": true}]}')

    async def disconnect(self) -> None:
        self.api.drop(methods="getUpdates")
        self.api.inject(b"<html>Bad Gateway</html>")

    async def suffer(self, mishap: Fault) -> None:
        match mishap:
            case Fault.FLOOD:
                self.api.flood(2)
            case Fault.BROKEN:
                self.api.fail(502)
            case Fault.SILENT:
                self.api.silence()
            case Fault.DEAD:
                await self.alice.blocks(self.dm)

    async def is_acknowledged(self) -> bool:
        return not self.api.waiting

    async def seen(self, *, in_thread: bool = False) -> Sequence[str]:
        if in_thread:
            return [one.text for one in self.group.messages if one.thread == self.topic.id]
        return self.dm.texts

    async def files(self) -> Sequence[bytes]:
        return [file.data for shown in self.dm.messages for file in shown.files]

    async def is_typing(self) -> bool:
        return bool(self.api.typing(self.dm))


@asynccontextmanager
async def stage() -> AsyncIterator[TelegramStage]:
    """Open the double, and put Alice there."""
    async with BotApi(reads_all=True) as api:
        yield TelegramStage(api)
