"""Live replies: answers grow before people's eyes, on platforms where a message can be changed."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import partial

from threadline.core.address import Address
from threadline.core.delivery import GROWING, Delivery, DeliveryId, SendOutcome, SentPiece, compose
from threadline.core.errors import Conflict, LeaseLost, StorageError, ThreadlineError
from threadline.core.message import Role, plain_text
from threadline.core.platform import Capabilities, Outgoing, Platform, SendFailed
from threadline.core.splitting import limit_of, split
from threadline.core.turn import Lease, TurnId
from threadline.database.port import Database
from threadline.gateway.background_tasks import end_tasks, log_failure
from threadline.gateway.intervals import Intervals
from threadline.gateway.lease import LeaseProof
from threadline.gateway.platform_call import SEND_WITHIN, CallLease, EditOverwritten, edit, send
from threadline.gateway.turn_pubsub import (
    Delta,
    Happening,
    MessageAdded,
    Thinking,
    TurnBegun,
    TurnClosed,
    TurnQuiet,
)
from threadline.gateway.typing_indicator import show_typing
from threadline.store.blobs import stream_blob
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.deliveries.results import record_piece
from threadline.store.queries import turn_address
from threadline.store.turn_queue.queue import renew
from threadline.store.turns.live_reply import doubt_stream, is_kept, open_stream

log = logging.getLogger("threadline.gateway")

_FAILURES = 3
"""After so many in a row an answer is not streamed any more, and carried when it is complete."""
_IN_LINE = timedelta(milliseconds=200)
"""How long an answer waits until it is asked again whether those before it have been sent."""
_ENDS_WITHIN = 2 * SEND_WITHIN
"""How long an answer may go on growing after its turn; its platform hangs if it does."""
_FENCES = 2
"""How often a fence is raised from opening a stream to the first attempt to send the rest: when
its turn ends, and when it is taken."""
_REMEMBERED = 1000
"""Of so many answers it is known, after their turn, how they read on their platform."""


class Certainty(StrEnum):
    """How certain this process is of what a platform shows of an answer."""

    CERTAIN = "certain"
    """It saw every call end."""
    DOUBTFUL = "doubtful"
    """A message may have been seen, or not: the ledger adds the next one, marked."""
    UNHEARD = "unheard"
    """So it is because the platform did not answer when a message was added."""


@dataclass(slots=True)
class ShownMessage:
    """A message on a platform, and how it reads there; None: nobody knows."""

    platform_id: str | None
    text: str | None


@dataclass(slots=True)
class LiveReply:
    """The answer of one running turn: what was said, and what is shown of it."""

    lease: Lease
    on: str = ""
    """The platform where it is shown."""
    lines: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    """What was said since the last whole line."""
    parcel: DeliveryPayload | None = None
    earlier: Sequence[str] = ()
    """What the turn had said before it was cut off."""
    shown: list[ShownMessage] = field(default_factory=list)
    certainty: Certainty = Certainty.CERTAIN
    noted: int = 0
    """How many of the messages that are shown are stored."""
    hold: CallLease | None = None
    """The lease of its turn, under which it may be shown."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    free_at: float = 0.0
    """From when on a message of it may be changed again, by the clock of the loop."""

    async def breathe(self) -> None:
        """Wait until a message of it may be changed again."""
        await asyncio.sleep(self.free_at - asyncio.get_running_loop().time())

    def hear(self, happening: Happening) -> None:
        """Take in what the turn says; a whole line takes the place of its pieces."""
        match happening:
            case Delta(text=text):
                self.pieces.append(text)
            case MessageAdded(message=message):
                self.pieces.clear()
                if message.role is Role.ASSISTANT:
                    self.lines.append(plain_text(message.parts))
            case TurnClosed():
                self.over.set()
            case TurnBegun() | Thinking() | TurnQuiet():
                return
        self.changed.set()

    @property
    def ends_unknown(self) -> bool:
        """Whether the platform gave its last message no id."""
        return bool(self.shown) and self.shown[-1].platform_id is None

    @property
    def text(self) -> str:
        """All that is to be read so far."""
        notice = None if self.parcel is None else self.parcel.delivery.notice
        return compose(notice, [*self.earlier, *self.lines, "".join(self.pieces)])

    def begin(self, parcel: DeliveryPayload, capabilities: Capabilities) -> None:
        """Go on from a delivery, which may have been begun by somebody who is gone."""
        self.parcel = parcel
        self.shown = [ShownMessage(piece.platform_id, None) for piece in parcel.pieces]
        self.noted = len(self.shown)
        is_repeated = parcel.delivery.repeated_at is not None and not capabilities.idempotent
        self.certainty = Certainty.DOUBTFUL if is_repeated else Certainty.CERTAIN
        stored = [message.text for message in parcel.messages]
        # What was said just now may already be stored as well, and is not said twice.
        for count in range(min(len(stored), len(self.lines)), 0, -1):
            if stored[-count:] == self.lines[:count]:
                stored = stored[:-count]
                break
        self.earlier = stored


class LiveReplies:
    """Accompanies the turns of this process: shows that somebody writes, and what.

    The ledger carries every answer to its end. What is shown before is a courtesy: whatever
    fails here leaves only more for the ledger to do.
    """

    def __init__(
        self,
        database: Database,
        platforms: Mapping[str, Platform],
        *,
        streams: bool,
        pace: Intervals = Intervals(),
        on_overwritten: Callable[[Delivery, str], None] = lambda _delivery, _message_id: None,
    ) -> None:
        """Accompany turns on these platforms; without `streams` only typing is shown.

        `on_overwritten` hears of messages that were edited after another process had taken over.
        """
        self._db = database
        self._platforms = platforms
        self.streams = streams
        self._pace = pace
        self._on_overwritten = on_overwritten
        self._turns: dict[TurnId, LiveReply] = {}
        self._known: dict[DeliveryId, LiveReply] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def hear(self, happening: Happening) -> None:
        """Hear what a running turn of this process says."""
        if isinstance(happening, TurnBegun):
            if happening.lease is not None and self._platforms:
                self._begin(happening.lease)
            return
        if (stream := self._turns.get(happening.turn_id)) is not None:
            stream.hear(happening)

    async def settle(self, taken: Delivery) -> LiveReply | None:
        """Stop the growth of a delivery that was taken for sending; return what is shown of it.

        Return None if it grew elsewhere, or if anything happened to it since it grew here: then
        only the ledger knows what may have been seen.
        """
        stream = await self._end_growth(taken.id, taken.turn_id)
        self._known.pop(taken.id, None)
        if stream is None or stream.parcel is None:
            return None
        return stream if taken.fence == stream.parcel.delivery.fence + _FENCES else None

    async def _end_growth(
        self, delivery_id: DeliveryId, turn_id: TurnId | None
    ) -> LiveReply | None:
        stream = self._known.get(delivery_id)
        if stream is None and turn_id is not None:
            stream = self._turns.get(turn_id)
        if stream is None or stream.task is None:
            return None
        stream.over.set()
        stream.changed.set()
        _, running = await asyncio.wait({stream.task}, timeout=_ENDS_WITHIN.total_seconds())
        if running:
            log.warning("What is shown of turn %s cannot be told", stream.lease.turn_id)
            return None
        return self._known.get(delivery_id)

    async def leave(self, platform: str, within: timedelta) -> None:
        """Let nothing grow on a platform any more; the ledger carries it when it is complete."""
        leaving = [stream for stream in self._turns.values() if stream.on == platform]
        for stream in leaving:
            stream.over.set()
            stream.changed.set()
        tasks = {stream.task for stream in leaving if stream.task is not None}
        if tasks:
            await asyncio.wait(tasks, timeout=within.total_seconds())

    async def stop(self) -> None:
        """Let go of everything at once."""
        await end_tasks(set(self._tasks), self._pace.grace)

    def _begin(self, lease: Lease) -> None:
        stream = LiveReply(lease)
        self._turns[lease.turn_id] = stream
        stream.task = asyncio.create_task(
            self._accompany(stream), name=f"accompany turn {lease.turn_id}"
        )
        self._tasks.add(stream.task)
        stream.task.add_done_callback(lambda task: self._end(stream, task))

    def _end(self, stream: LiveReply, task: asyncio.Task[None]) -> None:
        """Let go of a turn, not before its stream has ended: until then the ledger asks for it."""
        self._tasks.discard(task)
        log_failure(task)
        if self._turns.get(stream.lease.turn_id) is stream:
            del self._turns[stream.lease.turn_id]

    async def _accompany(self, stream: LiveReply) -> None:
        try:
            address = await self._db.read(turn_address, stream.lease.turn_id)
            platform = self._platforms.get(address.platform)
            if platform is not None:
                stream.on = platform.name
                await self._attend(stream, platform, address)
        except EditOverwritten as error:
            if stream.parcel is not None:
                self._on_overwritten(stream.parcel.delivery, error.message_id)
        except ThreadlineError as error:
            log.debug("Turn %s is not accompanied: %s", stream.lease.turn_id, error)

    async def _attend(self, stream: LiveReply, platform: Platform, address: Address) -> None:
        typing = None
        if platform.capabilities.typing:
            name = f"typing on {platform.name}"
            typing = asyncio.create_task(show_typing(platform, address), name=name)
            self._tasks.add(typing)
            typing.add_done_callback(self._tasks.discard)
            typing.add_done_callback(log_failure)
        try:
            if platform.capabilities.edits and self.streams:
                await self._stream(stream, platform)
            if typing is not None:
                await stream.over.wait()
        finally:
            if typing is not None:
                typing.cancel()

    async def _stream(self, stream: LiveReply, platform: Platform) -> None:
        failures = 0
        while not stream.over.is_set() and failures < _FAILURES:
            await stream.changed.wait()
            stream.changed.clear()
            if stream.over.is_set() or not stream.text.strip():
                continue
            try:
                parcel = stream.parcel or await self._open(stream, platform)
            except LeaseLost:
                raise
            except Conflict:
                stream.changed.set()
                await _pause(stream, _IN_LINE)
                continue
            if parcel is None:
                return
            pause = platform.capabilities.edit_every
            try:
                if await self._show(stream, parcel, platform):
                    stream.changed.set()
                failures = 0
            except SendFailed as error:
                failures += 1
                pause = max(pause * 2**failures, error.retry_after or pause)
                stream.changed.set()
                await self._take_failure(stream, error)
            await _pause(stream, pause)

    async def _renew(self, stream: LiveReply) -> None:
        """Raise `LeaseLost` if another process has taken the turn; else prolong its lease.

        A turn that has ended has no lease. Its answer stays with this process for a while.
        """
        if await renew(self._db, [stream.lease]) and not (
            stream.parcel is not None
            and await self._db.read(is_kept, stream.parcel.delivery.id, owner=self._db.owner)
        ):
            raise LeaseLost(id=str(stream.lease.turn_id))

    async def _open(self, stream: LiveReply, platform: Platform) -> DeliveryPayload | None:
        proof = LeaseProof(self._db.environment.settings.lease, self._pace.clock)
        stream.hold = CallLease(proof, lambda: self._renew(stream))
        parcel = await self._db.write(open_stream, stream.lease, owner=self._db.owner)
        if parcel is None:
            return None
        stream.begin(parcel, platform.capabilities)
        self._known[parcel.delivery.id] = stream
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        return parcel

    async def _show(self, stream: LiveReply, parcel: DeliveryPayload, platform: Platform) -> bool:
        """Bring one message up to date; True if another one may have to be."""
        cuts = split(stream.text, limit_of(platform.capabilities))
        for n, cut in enumerate(cuts):
            if n < len(stream.shown):
                old = stream.shown[n]
                if old.platform_id is not None and old.text != cut.text:
                    every = platform.capabilities.edit_every.total_seconds()
                    stream.free_at = asyncio.get_running_loop().time() + every
                    old_id, where = old.platform_id, parcel.delivery.address
                    old.text = None  # Until the platform has answered.
                    await edit(platform, where, old_id, cut.text, stream.hold)
                    old.text = cut.text
                    with suppress(LeaseLost, StorageError):
                        await self._note_shown(stream, parcel.delivery)
                    return True
            elif stream.certainty is not Certainty.CERTAIN or stream.ends_unknown:
                return False  # The ledger adds the rest, and marks it where it has to.
            else:
                return await self._add(stream, parcel, platform, cut.text)
        return False

    async def _add(
        self, stream: LiveReply, parcel: DeliveryPayload, platform: Platform, text: str
    ) -> bool:
        """Add one message; return False if the turn has ended, and the ledger adds it."""
        n, delivery = len(stream.shown), parcel.delivery
        try:
            await self._note_shown(stream, delivery)
            if n and not platform.capabilities.idempotent:
                # Recorded before it is sent, so that after a crash an attempt that needs fewer
                # messages knows of it. The first message is needed in any case.
                begun = SentPiece(n=n, platform_id=None, length=GROWING)
                await self._db.write(record_piece, delivery, begun, is_new=False)
        except LeaseLost:
            return False
        except StorageError:
            return True  # Nothing is added that a crash now would leave unrecorded.
        outgoing = Outgoing(
            address=delivery.address,
            text=text,
            reply_to=None if n else parcel.reply_to,
            key=f"{delivery.id}-{n}",
        )
        try:
            platform_id = await send(
                platform, outgoing, partial(stream_blob, self._db), stream.hold
            )
        except (LeaseLost, asyncio.CancelledError):
            stream.certainty = Certainty.DOUBTFUL
            raise
        # Its key may name a message that was sent before a crash, when the answer was shorter.
        stream.shown.append(ShownMessage(platform_id, None if delivery.repeated_at else text))
        # The turn has just ended, or storage fails: the ledger asks us what is shown.
        with suppress(LeaseLost, StorageError):
            await self._note_shown(stream, delivery)
        return True

    async def _note_shown(self, stream: LiveReply, delivery: Delivery) -> None:
        while stream.noted < len(stream.shown):
            shown = stream.shown[stream.noted]
            piece = SentPiece(n=stream.noted, platform_id=shown.platform_id, length=GROWING)
            await self._db.write(record_piece, delivery, piece)
            stream.noted += 1

    async def _take_failure(self, stream: LiveReply, error: SendFailed) -> None:
        log.debug("Turn %s is not shown as it grows: %s", stream.lease.turn_id, error)
        if error.outcome is SendOutcome.AMBIGUOUS and stream.parcel is not None:
            stream.certainty = Certainty.UNHEARD
            with suppress(LeaseLost):
                await self._db.write(doubt_stream, stream.parcel.delivery)


async def _pause(stream: LiveReply, span: timedelta) -> None:
    """Wait for a while, but not longer than the turn runs."""
    with suppress(TimeoutError):
        async with asyncio.timeout(span.total_seconds()):
            await stream.over.wait()
