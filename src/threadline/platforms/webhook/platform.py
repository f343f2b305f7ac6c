"""The webhook as a platform: messages come by signed requests, answers by callback or waiting."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import httpx

from threadline.core.address import Address
from threadline.core.command import Command
from threadline.core.errors import PlatformError
from threadline.core.platform import (
    Capabilities,
    Outgoing,
    ReadBlob,
    Receive,
    Receiver,
    Scope,
    Send,
)
from threadline.platforms.webhook.callback import Callback
from threadline.platforms.webhook.endpoint import WebhookEndpoint
from threadline.platforms.webhook.settings import WebhookSettings

Settings = WebhookSettings
"""By this name `make`'s module says which settings there are, so that a wrong one is explained."""

NOTES = "You are spoken to by a program over HTTP, perhaps on behalf of a person."


class Webhook:
    """A platform and an endpoint: `POST messages` brings in, `GET messages/<ticket>` asks again."""

    def __init__(
        self,
        name: str,
        settings: WebhookSettings,
        *,
        clock: Callable[[], datetime] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Set it up; clock and transport are for tests."""
        self._name = name
        self._clock = clock or _now
        self._doorway = WebhookEndpoint(name, settings, clock=self._clock)
        self._callback = _callback(settings, transport)
        self._capabilities = Capabilities(
            text_limit=settings.text_limit,
            attachments=settings.callback is not None,
            threads=True,
            buttons=settings.callback is not None,
            idempotent=settings.callback is not None,
            speaks=settings.callback is not None,
            relays=settings.senders == "trusted",
        )

    @property
    def name(self) -> str:
        """How it is called in addresses and settings."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self._capabilities

    @property
    def notes(self) -> str:
        """What an agent should know when it speaks there."""
        return NOTES

    async def run(self, gate: Receiver) -> None:
        """Keep the door open until cancelled."""
        with self._doorway.open(gate):
            await asyncio.Event().wait()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._doorway.serve(scope, receive, send)

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Post a message to the callback; without one it is taken as read: it can be fetched."""
        if self._callback is None:
            return outgoing.key
        return await self._callback.post(outgoing, read_blob, self._clock()) or outgoing.key

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Refuse: what was posted cannot be changed."""
        raise PlatformError("A webhook cannot change what it said", id=message_id)

    async def show_typing(self, address: Address) -> None:
        """Show nothing: a program does not watch."""

    async def register(self, commands: Sequence[Command]) -> None:
        """Fill no menu: there is none."""


def make(name: str, settings: Mapping[str, object]) -> Webhook:
    """Make a webhook from its settings; pydantic tells what is wrong with them."""
    return Webhook(name, WebhookSettings.model_validate(dict(settings)))


def _callback(
    settings: WebhookSettings, transport: httpx.AsyncBaseTransport | None
) -> Callback | None:
    if settings.callback is None:
        return None
    return Callback(
        str(settings.callback),
        settings.keys[0],
        timeout=timedelta(seconds=settings.timeout_seconds),
        transport=transport,
    )


def _now() -> datetime:
    return datetime.now(UTC)
