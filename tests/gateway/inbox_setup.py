"""What tests of the inbox share: a front door with a voice, and people before it."""

import itertools
from collections.abc import Sequence
from typing import Any

from threadline.core.access import AccessRules
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, Role, Text, say
from threadline.core.platform import ReceiveResult
from threadline.core.profile_rules import ProfileRule
from threadline.core.turn import TurnId
from threadline.gateway.access import Access
from threadline.gateway.inbox import Inbox
from threadline.gateway.metrics import Metrics
from threadline.store import Store
from threadline.store.deliveries.payload import DeliveryPayload

ALICE = AccessRules(allow=["telegram:alice", "telegram:bob"], chats=["telegram:group"])
"""Alice and Bob may speak, and everybody in the group."""
GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="group")
THREAD = Address(platform="telegram", kind=Kind.THREAD, chat="group", thread="t")
"""All who speak there share one conversation."""

_numbers = itertools.count(1)


class Heard:
    """A voice that remembers what it was asked to say directly."""

    def __init__(self) -> None:
        self.words: list[tuple[str, str]] = []

    async def say(self, address: Address, text: str) -> bool:
        self.words.append((address.chat, text))
        return True


class Front:
    """A front door: the inbox, and everything that can be seen of it from outside."""

    def __init__(
        self,
        store: Store,
        rules: AccessRules = ALICE,
        routing: Sequence[ProfileRule] = (),
        **more: Any,
    ) -> None:
        self.store = store
        self.voice = Heard()
        self.access = Access(store.database, rules)
        self.meters = Metrics(["telegram"])
        self.inbox = Inbox(
            store.database, self.access, self.voice, routing=routing, meters=self.meters, **more
        )

    async def take(self, text: str, who: str = "alice", **fields: Any) -> ReceiveResult:
        """Let somebody say something, and wait for what follows from it."""
        taken = await self.inbox.take(self.said(text, who, **fields))
        await self.inbox.settle()
        return taken

    def said(
        self, text: str, who: str = "alice", address: Address | None = None, **fields: Any
    ) -> Inbound:
        """Make a message of somebody, in their dm if nothing else is said."""
        at = address or Address(platform="telegram", kind=Kind.DM, chat=who)
        given: dict[str, Any] = {
            "sender": Sender(id=who, name=who.title()),
            "parts": (Text(text=text),),
            "message_id": str(next(_numbers)),
            "at": self.store.now(),
            **fields,
        }
        return Inbound(address=at, **given)

    async def owed(self) -> list[str]:
        """Send everything that is owed, and read it."""
        return [parcel.text for parcel in await self._send()]

    async def owed_files(self) -> list[Attachment]:
        """Send everything that is owed, and look at what comes along."""
        return [file for parcel in await self._send() for file in parcel.attachments]

    async def _send(self) -> list[DeliveryPayload]:
        sent: list[DeliveryPayload] = []
        while parcels := await self.store.deliveries.lease():
            for parcel in parcels:
                await self.store.deliveries.record_sent(parcel.delivery)
            sent += parcels
        return sent

    async def answer(self, *words: str) -> TurnId:
        """Answer the turn that has waited longest."""
        claim = await self.store.turns.claim()
        assert claim is not None
        await self.store.turns.finish(claim.lease, [say(Role.ASSISTANT, word) for word in words])
        return claim.turn.id

    async def ask(self, question: str) -> TurnId:
        """Let the turn that has waited longest ask something back."""
        claim = await self.store.turns.claim()
        assert claim is not None
        await self.store.turns.wait(claim.lease, Question(text=question))
        return claim.turn.id

    async def transcripts(self, profile: str = "main") -> list[str]:
        """Read all that people said, wherever it is or waits."""
        found = []
        for row in (await self.store.sessions.list(profile=profile, most=1000)).rows:
            id = row.session.id
            lines = [
                *await self.store.transcripts.read(id, most=1000),
                *await self.store.transcripts.waiting(id),
            ]
            found += [line.text for line in lines if line.role is Role.USER]
        return found
