"""Fake gate: remembers what was brought, and can be slow or broken."""

import asyncio
import hashlib
from datetime import timedelta

from threadline.core.errors import StorageError
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.core.platform import ReceiveResult, ReceiveStatus, TurnReply
from threadline.core.turn import TurnId
from threadline.testing.deadline import HANG_SECONDS


class RecordingGate:
    """Takes in everything, and answers each message with a turn of its own."""

    def __init__(self) -> None:
        """Begin with nothing taken."""
        self.seen: list[Inbound] = []
        """Everything that came, what was not taken in too."""
        self.taken: list[Inbound] = []
        """Everything that was taken in, repeated ones once."""
        self.blobs: dict[BlobHash, bytes] = {}
        self.answers: dict[TurnId, TurnReply] = {}
        """What turns say; one that is not here is not over."""
        self.reception = ReceiveStatus.TAKEN
        self.said: str | None = None
        self.retry_after: timedelta | None = None
        self._outcomes: dict[tuple[object, ...], ReceiveResult] = {}
        self._broken = 0
        self._open = asyncio.Event()
        self._open.set()
        self._news = asyncio.Condition()

    def break_down(self, times: int = 1) -> None:
        """Let the store not work the next times."""
        self._broken = times

    def close(self) -> None:
        """Let everybody wait who brings something."""
        self._open.clear()

    def open(self) -> None:
        """Take in again what is brought."""
        self._open.set()

    async def keep(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment."""
        blob = BlobHash(hashlib.sha256(data).hexdigest())
        self.blobs[blob] = data
        return Attachment(kind=kind, blob=blob, media_type=media_type, size=len(data), name=name)

    async def admits(self, inbound: Inbound) -> bool:
        """Let everybody in whose messages are not refused."""
        return self.reception is not ReceiveStatus.REFUSED

    async def take(self, inbound: Inbound) -> ReceiveResult:
        """Take in what is brought, once."""
        self.seen.append(inbound)
        await self._tell()
        await self._open.wait()
        if self._broken:
            self._broken -= 1
            raise StorageError("The store does not work just now")
        place = (inbound.address.chat, inbound.message_id, inbound.kind, inbound.version)
        if before := self._outcomes.get(place):
            return ReceiveResult(reception=ReceiveStatus.REPEATED, turn_id=before.turn_id)
        if self.reception.is_refusal:
            return ReceiveResult(
                reception=self.reception, said=self.said, retry_after=self.retry_after
            )
        self.taken.append(inbound)
        turn_id = TurnId(len(self.taken)) if self.reception is ReceiveStatus.TAKEN else None
        self._outcomes[place] = ReceiveResult(
            reception=self.reception, turn_id=turn_id, said=self.said
        )
        await self._tell()
        return self._outcomes[place]

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        """Answer what a turn said, at once or never."""
        return self.answers.get(turn_id)

    async def until(self, taken: int = 0, *, seen: int = 0, within: float = HANG_SECONDS) -> None:
        """Wait until so many things were taken in, or have come at least."""
        async with asyncio.timeout(within), self._news:
            await self._news.wait_for(lambda: len(self.taken) >= taken and len(self.seen) >= seen)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()
