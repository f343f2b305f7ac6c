"""The crowd: people on a simulated platform who write without waiting, and judge the answers."""

import re
import time
from datetime import timedelta

from threadline.core.address import Address
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, MediaKind
from threadline.core.platform import Outgoing, ReadBlob, Receiver, ReceiveResult, TurnReply
from threadline.core.turn import TurnId
from threadline.platforms.simulated import Simulated

NAME = "crowd"
AHEAD = 200
"""So many messages are written ahead of those that the gateway has taken."""

_ANSWER = re.compile(r"You said “note (\d+)”\. That is message (\d+) of our conversation\.$")


class TimedGate:
    """Hands on to a gate, and notes in milliseconds how long each message took to be on disk."""

    def __init__(self, gate: Receiver, times: list[float]) -> None:
        self._gate = gate
        self._times = times

    async def keep(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        return await self._gate.keep(data, media_type, kind, name)

    async def admits(self, inbound: Inbound) -> bool:
        return await self._gate.admits(inbound)

    async def take(self, inbound: Inbound) -> ReceiveResult:
        start = time.perf_counter()
        taken = await self._gate.take(inbound)
        self._times.append((time.perf_counter() - start) * 1000)
        return taken

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        return await self._gate.answer_to(turn_id, within)


class Crowd(Simulated):
    """A platform whose people write so many messages each, and forget what they have read.

    Everybody writes one message, then everybody the next, whatever was answered meanwhile. Nothing
    is kept of an answer but that it came, so that memory which grows is the gateway's.
    """

    def __init__(self, people: int, messages: int, *, ahead: int = AHEAD) -> None:
        super().__init__(NAME)
        self._count = people
        self._all = people * messages
        self._ahead = ahead
        self._written = 0
        self._read: dict[str, int] = {}
        self._shown_here: set[str] = set()
        self.takes: list[float] = []
        """Milliseconds from each arrival until it was on disk."""
        self.answers = 0
        self.misfits = 0
        """Answers that came twice, out of order, or to something that nobody had said."""

    async def run(self, gate: Receiver) -> None:
        """Bring in what people write, in the time of the gateway."""
        self.write_on()
        await super().run(TimedGate(gate, self.takes))

    def write_on(self) -> None:
        """Let people write, a little ahead of what is taken; if that is nothing, they only read."""
        while self._written < self._all and self.unacknowledged < self._ahead:
            number = self._written % self._count
            person = self.person(f"p{number}")
            shown = person.writes(f"note {self._written // self._count + 1}")
            self.chats.remove(shown)
            self._written += 1

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show an answer, and judge it if it is whole."""
        id = await super().send(outgoing, read_blob)
        self.sends.clear()
        if id is not None:
            self._shown_here.add(id)
            self._judge(outgoing.address, outgoing.text, id)
        self.write_on()
        return id

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Change an answer, and judge it if it is whole now."""
        # What another process had shown is not here, and reads differently all the same.
        if message_id in self._shown_here:
            await super().edit(address, message_id, text)
        self._judge(address, text, message_id)
        self.write_on()

    def _judge(self, address: Address, text: str, id: str) -> None:
        if (found := _ANSWER.search(text)) is None:
            return
        due = self._read.get(address.chat, 0) + 1
        self._read[address.chat] = due
        self.answers += 1
        self.misfits += (int(found[1]), int(found[2])) != (due, due)
        if id in self._shown_here:
            self._shown_here.remove(id)
            self.chats.remove(id)
        self._tell()
