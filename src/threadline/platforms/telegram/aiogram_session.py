"""Aiogram session: the SDK's session and bot, and what it reads too strictly."""

import json
from http import HTTPStatus
from typing import Any, ClassVar

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import ClientDecodeError, TelegramServerError
from aiogram.methods import Response, TelegramMethod
from aiogram.methods.base import TelegramType
from aiohttp import ClientTimeout
from pydantic import ValidationError

from threadline.platforms.telegram.unknown_fields import drop_unreadable, with_plain_words

CALL_SECONDS = 25.0
"""How long an ordinary call may take."""
CONNECT_SECONDS = 10.0
"""How long it may wait for its connection. After that, nothing of it was sent."""


class Unavailable(TelegramServerError):
    """The server, or a proxy before it, did not begin with the call (status 503)."""


class AiogramSession(AiohttpSession):
    """The SDK's own session, which is closed at once and reads what the SDK does not know."""

    async def close(self) -> None:
        """Close all connections, without the SDK's pause: nobody waits for a platform to end."""
        if self._session is not None and not self._session.closed:
            await self._session.close()

    def check_response(
        self, bot: Bot, method: TelegramMethod[TelegramType], status_code: int, content: str
    ) -> Response[TelegramType]:
        """Return the response of a call, or raise the error of the SDK that it means.

        An error page of a proxy counts by its status. In a result, what the SDK cannot read is left
        out: the call was carried out all the same.
        """
        content = _readable(status_code, content)
        while True:
            try:
                return super().check_response(bot, method, status_code, content)
            except ClientDecodeError as error:
                if not isinstance(error.original, ValidationError):
                    raise
                dropped = drop_unreadable(error.data, error.original)
                if not dropped:
                    raise
                content = json.dumps(error.data)
            except TelegramServerError as error:
                if status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                raise Unavailable(method=error.method, message=error.message) from None


class GetRawUpdates(TelegramMethod[list[Any]]):
    """Asks for updates as they are: one that the SDK cannot read must not cost the others."""

    __returning__: ClassVar[Any] = list[Any]
    __api_method__: ClassVar[str] = "getUpdates"

    offset: int | None = None
    limit: int = 100
    timeout: int = 0
    allowed_updates: list[str]


def make_bot(token: str, api_url: str) -> Bot:
    """Make a bot that speaks to a server of the Bot API."""
    server = TelegramAPIServer.from_base(api_url.rstrip("/"))
    wire = AiogramSession(api=server)
    # The SDK hands this on to aiohttp, which takes more than a number.
    wire.timeout = ClientTimeout(total=CALL_SECONDS, connect=CONNECT_SECONDS)  # type: ignore[assignment]
    return Bot(token, session=wire)


def _readable(status: int, content: str) -> str:
    """Return the body of a response as the SDK can read it."""
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        told = None
    if status < HTTPStatus.BAD_REQUEST:
        return content if told is None else json.dumps(with_plain_words(told))
    told = told if isinstance(told, dict) else {}
    if not isinstance(told.get("description"), str):
        told["description"] = f"HTTP {status}"
    return json.dumps({**told, "ok": False})
