"""A platform inside the process: any name, any capabilities, and people who chat there."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby

from threadline.core.address import Address, Kind, Sender
from threadline.core.command import Command
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid, PlatformError
from threadline.core.message import Attachment
from threadline.core.platform import Capabilities, Outgoing, ReadBlob, Receiver, SendFailed
from threadline.core.splitting import text_length
from threadline.platforms.simulated.chats import ChatMessage, Chats, chat_key
from threadline.platforms.simulated.faults import FaultQueue, SendFault
from threadline.platforms.simulated.people import SimulatedPerson
from threadline.platforms.simulated.updates import Update, Updates, read_update

EVERYTHING = Capabilities(
    edits=True, typing=True, attachments=True, threads=True, buttons=True, raw_ids=False
)
"""What a well-equipped platform can do."""

TYPING_SECONDS = 5.0
"""How long it is seen that somebody writes."""

_HASTE = 0.9
"""An edit that comes a little early is not counted as too early: networks are uneven."""

_log = logging.getLogger(__name__)


class Simulated:
    """A platform that lives in the process, and longer than any gateway that is connected to it.

    `person`, `group` and `thread` make people and chats; `SimulatedPerson.writes` and others make
    updates, which are brought again until they are acknowledged; `seen` tells what people see;
    `suffer`, `close`, `disconnect` and `bring` make everything go wrong that can.
    """

    def __init__(
        self,
        name: str = "simulated",
        *,
        capabilities: Capabilities = EVERYTHING,
        notes: str = "",
        clock: Callable[[], datetime] | None = None,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open a platform under a name; the clock dates messages, the ticks space out edits."""
        self._name = name
        self._capabilities = capabilities
        self._notes = notes
        self._clock = clock
        self._ticks = ticks
        self._updates = Updates()
        self._weather = FaultQueue()
        self._people: dict[str, SimulatedPerson] = {}
        self._closed: set[tuple[str, str | None]] = set()
        self._keys: dict[str, str] = {}
        self._edited: dict[str, float] = {}
        self._typing: dict[tuple[str, str | None], float] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._cut = 0
        self.chats = Chats()
        """Everything that is seen on it."""
        self.sends: list[Outgoing] = []
        """Every attempt to send, those that failed too."""
        self.menu: tuple[Command, ...] = ()
        """The commands that were registered."""
        self.counts: Counter[str] = Counter()
        """How often what happened: `runs`, `brought`, `unreadable`, `hasty edits`, `typing`."""

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
        return self._notes

    # People and places

    def person(self, name: str, *, id: str | None = None, is_bot: bool = False) -> SimulatedPerson:
        """Answer the person of this name, who has an account from now on."""
        if name not in self._people:
            sender = Sender(id=id or name.lower(), name=name, is_bot=is_bot)
            self._people[name] = SimulatedPerson(self, sender)
        return self._people[name]

    def group(self, name: str, *, topic: str | None = None) -> Address:
        """Answer the place where a group meets."""
        chat = f"group-{name.lower()}"
        return Address(platform=self._name, kind=Kind.GROUP, chat=chat, chat_name=name, topic=topic)

    def thread(self, group: str, name: str) -> Address:
        """Answer a thread inside a group."""
        return Address(
            platform=self._name,
            kind=Kind.THREAD,
            chat=f"group-{group.lower()}",
            thread=f"thread-{name.lower()}",
            chat_name=group,
            topic=name,
        )

    def seen(self, at: Address) -> list[ChatMessage]:
        """List what people see in one place now, our words and theirs."""
        return self.chats.at(at)

    def is_typing(self, at: Address) -> bool:
        """Tell whether people see there that we write."""
        return self._ticks() < self._typing.get(chat_key(at), 0.0)

    @property
    def unacknowledged(self) -> int:
        """How many updates are still to be brought, or brought again."""
        return len(self._updates)

    async def until(
        self, holds: Callable[[], bool], within: timedelta = timedelta(seconds=30)
    ) -> None:
        """Wait until something holds, looking whenever anything happens here."""
        async with asyncio.timeout(within.total_seconds()):
            while not holds():
                await self._news()

    # What can go wrong

    def suffer(
        self,
        trouble: SendFault,
        *,
        times: int = 1,
        at: Address | None = None,
        retry_after: timedelta = timedelta(seconds=1),
    ) -> None:
        """Let the next sends go wrong, all or only those to one address."""
        self._weather.plan(trouble, times=times, at=at, retry_after=retry_after)

    def recover(self) -> None:
        """Let everything go well from now on."""
        self._weather.clear()
        self._closed.clear()

    def close(self, at: Address) -> None:
        """Let a chat be dead: nothing can be sent there until it is reopened."""
        self._closed.add(chat_key(at))

    def reopen(self, at: Address) -> None:
        """Let a dead chat live again."""
        self._closed.discard(chat_key(at))

    def disconnect(self) -> None:
        """Let every connection break that stands now; `run` raises, and may be begun again."""
        self._cut += 1
        self._tell()

    def bring(self, payload: object) -> None:
        """Put an update into the queue, whatever nonsense it is."""
        self._updates.add(payload)
        self._tell()

    def repeat(self) -> None:
        """Bring the latest update once more."""
        self._updates.repeat()
        self._tell()

    # The platform, as a gateway knows it

    async def run(self, gate: Receiver) -> None:
        """Bring in what people say, many chats at a time, each in its order."""
        self.counts["runs"] += 1
        cut = self._cut
        while True:
            if self._cut != cut:
                raise PlatformError("The connection was lost", id=self._name)
            if batch := self._updates.batch():
                await self._bring_in(batch, gate)
            else:
                await self._news()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show a message, unless it may not be or something goes wrong."""
        self.sends.append(outgoing)
        self._tell()
        trouble = await self._weather.meet(outgoing.address)
        self._check(outgoing)
        if self._capabilities.idempotent and outgoing.key in self._keys:
            return self._keys[outgoing.key]
        files = [await _load(file, read_blob) for file in outgoing.attachments]
        shown = self.chats.show(
            outgoing.address,
            outgoing.text,
            files=tuple(files),
            choices=outgoing.choices,
            reply_to=outgoing.reply_to,
        )
        self._keys[outgoing.key] = shown.id
        self._typing.pop(chat_key(outgoing.address), None)
        self._tell()
        if trouble is SendFault.UNHEARD:
            raise SendFailed("No answer came", outcome=SendOutcome.AMBIGUOUS)
        return shown.id

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Let a message of ours read differently, not more often than is allowed."""
        self._check_text(text)
        if not self._capabilities.edits or self.chats.find(message_id).by is not None:
            raise _refused("This message cannot be edited")
        every = self._capabilities.edit_every
        if (
            self._ticks() - self._edited.get(message_id, float("-inf"))
            < every.total_seconds() * _HASTE
        ):
            self.counts["hasty edits"] += 1
            raise _refused("Edits come too often (429)", retry_after=every)
        self._edited[message_id] = self._ticks()
        self.chats.change(message_id, text)
        self._tell()

    async def show_typing(self, address: Address) -> None:
        """Show for a few seconds that we write."""
        self.counts["typing"] += 1
        self._typing[chat_key(address)] = self._ticks() + TYPING_SECONDS
        self._tell()

    async def register(self, commands: Sequence[Command]) -> None:
        """Fill the menu."""
        self.menu = tuple(commands)
        self._tell()

    def now(self) -> datetime:
        """Tell the time of the platform."""
        return self._clock() if self._clock else datetime.now(UTC)

    async def _bring_in(self, batch: Sequence[Update], gate: Receiver) -> None:
        takes = (self._take(chat, gate) for chat in _by_chat(batch))
        for failure in await asyncio.gather(*takes, return_exceptions=True):
            if failure is not None:
                raise failure
        self._updates.acknowledge(batch)
        self._tell()

    async def _take(self, updates: Iterable[Update], gate: Receiver) -> None:
        for update in updates:
            try:
                inbound = await read_update(update.payload, self._name, gate)
            except (Invalid, KeyError) as error:
                self.counts["unreadable"] += 1
                _log.warning(
                    "%s: an update that cannot be read is passed over: %s", self._name, error
                )
            else:
                await gate.take(inbound)
                self.counts["brought"] += 1

    def _check(self, outgoing: Outgoing) -> None:
        can = self._capabilities
        if chat_key(outgoing.address) in self._closed:
            raise SendFailed("Nobody is there any more (403)", outcome=SendOutcome.DEAD)
        if not outgoing.text and not outgoing.attachments:
            raise _refused("A message may not be empty (400)")
        if outgoing.attachments and not can.attachments:
            raise _refused("Files cannot be sent here (400)")
        if any(file.size > can.attachment_limit for file in outgoing.attachments):
            raise _refused("The file is too large (413)")
        if outgoing.choices and not can.buttons:
            raise _refused("There are no buttons here (400)")
        if outgoing.address.thread and not can.threads:
            raise _refused("There are no threads here (400)")
        self._check_text(outgoing.text)

    def _check_text(self, text: str) -> None:
        if text_length(text, self._capabilities.unit) > self._capabilities.text_limit:
            raise _refused("The message is too long (400)")

    def _tell(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def _news(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)


def _by_chat(batch: Sequence[Update]) -> list[list[Update]]:
    ordered = sorted(batch, key=_chat_of)
    return [list(updates) for _, updates in groupby(ordered, key=_chat_of)]


def _chat_of(update: Update) -> str:
    address = update.payload.get("address") if isinstance(update.payload, dict) else None
    return str(address.get("chat")) if isinstance(address, dict) else ""


async def _load(file: Attachment, read_blob: ReadBlob) -> tuple[str, bytes]:
    return file.name or "", b"".join([piece async for piece in read_blob(file.blob)])


def _refused(why: str, retry_after: timedelta | None = None) -> SendFailed:
    return SendFailed(why, outcome=SendOutcome.REJECTED, retry_after=retry_after)
