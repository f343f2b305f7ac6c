"""The wire: a platform whose people are on an exchange in another process."""

import asyncio
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.crash.dying_database import Fate, Moment, Pause
from tests.crash.gateway.chat_platform import GROWS, address_of
from threadline.core.address import Address, Sender
from threadline.core.command import Command
from threadline.core.inbound import Inbound
from threadline.core.platform import Capabilities, Outgoing, ReadBlob, Receiver
from threadline.testing.deadline import HANG_SECONDS

TEXT_LIMIT = 120


class Wire:
    """Speaks with an exchange over HTTP: it asks for news and acknowledges what is on disk."""

    notes = ""

    def __init__(self, name: str, url: str, fate: Fate, *, is_late: bool = False) -> None:
        """Meet a fate; with `is_late`, a call in which the process stops is made all the same."""
        self.name = name
        self.capabilities = Capabilities(text_limit=TEXT_LIMIT, edits=name == GROWS)
        self._fate = fate
        self._is_late = is_late
        self._url = f"{url}/{name}/"
        self._http = httpx.AsyncClient(
            base_url=self._url, timeout=HANG_SECONDS, limits=httpx.Limits(max_connections=None)
        )

    async def run(self, gate: Receiver) -> None:
        """Bring in everything, in order; what is not acknowledged comes again."""
        offset = 0
        while True:
            updates = await self._post("updates", offset=offset)
            self._fate.meet("ack", Moment.TOLD)
            for update in updates:
                self._fate.meet("take", Moment.INSIDE)
                inbound = _inbound(update)
                taken = await gate.take(inbound)
                self._fate.meet("take", Moment.TOLD)
                if taken.reception.is_refusal:
                    await self._post("refused", message_id=inbound.message_id)
                offset = update["id"] + 1
            self._fate.meet("ack", Moment.INSIDE)

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        begun_at = time.time()
        self._fate.meet("send", Moment.INSIDE)
        wish: dict[str, object] = {
            "chat": outgoing.address.chat,
            "key": outgoing.key,
            "text": outgoing.text,
        }
        told = await self._call("send", begun_at, wish)
        self._fate.meet("send", Moment.TOLD)
        return str(told["id"])

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        begun_at = time.time()
        self._fate.meet("edit", Moment.INSIDE)
        await self._call("edit", begun_at, {"id": message_id, "text": text})
        self._fate.meet("edit", Moment.TOLD)

    async def show_typing(self, address: Address) -> None:
        raise AssertionError("Nobody said that typing can be shown")

    async def register(self, commands: Sequence[Command]) -> None:
        pass

    async def _call(self, what: str, begun_at: float, wish: dict[str, object]) -> Any:
        """Send or edit. Right after a stop, without a pause in between if it is to be too late."""
        wish |= {"by": os.getpid(), "begun_at": begun_at}
        if self._is_late and isinstance(self._fate, Pause) and self._fate.has_stopped:
            answer = httpx.post(f"{self._url}{what}", json=wish, timeout=HANG_SECONDS)
            return answer.raise_for_status().json()
        if isinstance(self._fate, Pause) and self._fate.has_stopped:
            await asyncio.sleep(0)  # As if a connection had to be made.
        return await self._post(what, **wish)

    async def _post(self, what: str, **wish: object) -> Any:
        answer = await self._http.post(what, json=wish)
        answer.raise_for_status()
        return answer.json()


def _inbound(update: dict[str, Any]) -> Inbound:
    conversation, question = update["conversation"], update["question"]
    return Inbound.text(
        update["text"],
        address=address_of(conversation),
        sender=Sender(id=f"person{conversation}", name=f"Person {conversation}"),
        at=datetime.now(UTC) - timedelta(milliseconds=1),
        message_id=f"{conversation}.{question}",
    )
