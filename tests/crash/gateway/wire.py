"""The wire: a platform whose people are on an exchange in another process."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.crash.deadly import Fate, Moment
from tests.crash.gateway.exchange import GROWS, address_of
from threadline.core.address import Address, Sender
from threadline.core.command import Command
from threadline.core.inbound import Inbound
from threadline.core.platform import Capabilities, Gate, Outgoing, ReadBlob

TEXT_LIMIT = 120


class Wire:
    """Speaks with an exchange over HTTP: it asks for news and acknowledges what is on disk."""

    notes = ""

    def __init__(self, name: str, url: str, fate: Fate) -> None:
        self.name = name
        self.capabilities = Capabilities(text_limit=TEXT_LIMIT, edits=name == GROWS)
        self._fate = fate
        limits = httpx.Limits(max_connections=None)
        self._http = httpx.AsyncClient(base_url=f"{url}/{name}/", timeout=30.0, limits=limits)

    async def run(self, gate: Gate) -> None:
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
        self._fate.meet("send", Moment.INSIDE)
        address = outgoing.address
        told = await self._post("send", chat=address.chat, key=outgoing.key, text=outgoing.text)
        self._fate.meet("send", Moment.TOLD)
        return str(told["id"])

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        self._fate.meet("edit", Moment.INSIDE)
        await self._post("edit", id=message_id, text=text)
        self._fate.meet("edit", Moment.TOLD)

    async def show_typing(self, address: Address) -> None:
        raise AssertionError("Nobody said that typing can be shown")

    async def register(self, commands: Sequence[Command]) -> None:
        pass

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
