"""The inbox: may this sender speak? Is it a command, an answer, a message? Then it is kept."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind
from threadline.core.command import WhileRunning, parse_command
from threadline.core.errors import Invalid, QueueFull, StorageError, ThreadlineError
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Attachment, MediaKind, plain_text
from threadline.core.platform import Capabilities, ReceiveResult, ReceiveStatus, TurnReply
from threadline.core.profile_rules import ProfileRule, profile_for
from threadline.core.route import MAIN_PROFILE, canonical_chat, canonical_sender
from threadline.core.safe_names import one_line
from threadline.core.session import BusyMode
from threadline.core.turn import TurnId, checked_turn_id
from threadline.core.validation import checked_span, checked_type
from threadline.database.port import Database, write_keyed
from threadline.gateway.access import Access
from threadline.gateway.background_tasks import BackgroundTasks
from threadline.gateway.command_jobs import NO_FILES, MakeRoom, finish_command_job, tell_how
from threadline.gateway.intervals import Intervals
from threadline.gateway.keyed_lock import KeyedLock
from threadline.gateway.metrics import Metrics
from threadline.gateway.reply_cache import ReplyCache
from threadline.gateway.reply_waiter import ReplyWaiter
from threadline.gateway.sender_rate_limit import RateDecision, SenderRateLimit
from threadline.store.blobs import BLOB_LIMIT, store_blob
from threadline.store.commands import suggest_command
from threadline.store.commands.context import CommandReply, Errand, Export, Forget
from threadline.store.commands.dispatch import refuse
from threadline.store.commands.execute import execute
from threadline.store.inbound.receive import receive
from threadline.store.people.grants import StandingChanged
from threadline.store.people.pairing import request_pairing
from threadline.store.turn_queue.queue import serve

log = logging.getLogger("threadline.gateway")

TOO_FAST = (
    "That was a lot at once. I leave out your messages until {until:%H:%M:%S} UTC, and then as "
    "long as they come faster than {per_minute} in a minute."
)
LEFT_OUT = "I left out {count} of your messages, as they came too fast. Send again what matters."
OLDEST = timedelta(minutes=5)
"""How long ago a message may say that it was written, when haste is judged."""
UNKNOWN = "I do not know you yet."
ASK_OWNER = (
    "I do not know you yet. Give this code to the person who runs me, and they can let you in: "
    "{code}\nIt is valid for an hour."
)
_ABLE = Capabilities(attachments=True, attachment_limit=BLOB_LIMIT)


class DirectSender(Protocol):
    """Whoever says something to a chat directly: the outbox."""

    async def say(self, address: Address, text: str) -> bool:
        """Say something that is not kept, as well as that can be done."""
        ...


class Inbox:
    """The gate through which every platform brings what people say.

    Whatever is said to somebody who may not be kept, or must not be, goes directly and in the
    background: a platform that is slow to send does not wait for itself.
    """

    def __init__(
        self,
        database: Database,
        access: Access,
        outbox: DirectSender,
        *,
        routing: Sequence[ProfileRule] = (),
        default_profile: str = MAIN_PROFILE,
        meters: Metrics,
        per_minute: int | None = None,
        capabilities: Callable[[str], Capabilities] = lambda _: _ABLE,
        keep_said: Callable[[], Awaitable[None]] | None = None,
        compress: MakeRoom | None = None,
    ) -> None:
        """Let in whom the access admits; `capabilities` tells what a platform can do.

        `keep_said` stores what running turns have said, before somebody stops one of them, and
        `compress` makes room in a conversation.
        """
        self._db = database
        self._access = access
        self._outbox = outbox
        self._meters = meters
        limit = access.rules.per_minute if per_minute is None else per_minute
        self._limit = SenderRateLimit(limit)
        self._strangers = SenderRateLimit(limit)
        self._order = KeyedLock()
        self._answers = ReplyWaiter(database)
        self._capabilities = capabilities
        self._recollection = ReplyCache()
        self._keep_said = keep_said
        self._compress = compress
        self._words = BackgroundTasks()
        self._errands = BackgroundTasks()
        self.adopt(routing, default_profile, limit)

    def adopt(self, routing: Sequence[ProfileRule], default_profile: str, per_minute: int) -> None:
        """Go by other rules from the next message on; who was hasty stays so."""
        self._routing = tuple(routing)
        self._default_profile = default_profile
        self._limit.per_minute = self._strangers.per_minute = per_minute

    async def keep(
        self, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
    ) -> Attachment:
        """Store an attachment, before the message that it belongs to is brought."""
        return await store_blob(self._db, data, media_type, kind, name)

    async def admits(self, inbound: Inbound) -> bool:
        """Tell whether its sender may speak; what cannot be told leads nowhere."""
        try:
            return await self._access.rank(self._routed(inbound)) is not AccessLevel.STRANGER
        except Invalid:
            return False

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        """Wait for what a turn says to people, or asks them; None: it is not so far yet."""
        return await self._answers.wait(checked_turn_id(turn_id), checked_span(within, "within"))

    async def take(self, inbound: Inbound) -> ReceiveResult:
        """Take in a message, an edit or a deletion; when this returns it is on disk."""
        try:
            inbound = self._routed(inbound)
        except Invalid as error:
            log.warning("A platform brought what is no message: %s", error)
            return ReceiveResult(reception=ReceiveStatus.REFUSED, said=error.chat)
        async with self._order.within(_chat_of(inbound)):
            try:
                taken = await self._take(inbound)
            except StorageError:
                raise
            except ThreadlineError as error:
                taken = await self._turn_down(inbound, error)
        self._meters.arrived(inbound.address.platform, taken.reception)
        return taken

    async def settle(self) -> None:
        """Wait for the end of what goes on in the background; to be called before the store closes.

        An export that is cut off is asked for again; a forgetting goes on by itself.
        """
        while self._errands or self._words:
            await self._errands.settle()
            await self._words.settle()

    async def close(self, within: timedelta = Intervals().grace) -> None:
        """End what goes on in the background; what does not end is left to itself."""
        await asyncio.gather(self._errands.close(within), self._words.close(within))

    def _routed(self, inbound: Inbound) -> Inbound:
        checked_type(inbound, "inbound", Inbound)
        profile = profile_for(inbound, self._routing, self._default_profile)
        return inbound if profile == inbound.profile else replace(inbound, profile=profile)

    async def _take(self, inbound: Inbound) -> ReceiveResult:
        rank, database = await self._access.judge(inbound)
        if rank is AccessLevel.STRANGER:
            return await self._meet(inbound)
        if rank is not AccessLevel.OWNER and not self._is_in_time(inbound):
            return self._limited(inbound)
        try:
            return await self._receive(inbound, rank, database)
        except StandingChanged:
            return await self._take(inbound)  # the owner has just let them in, or out

    async def _meet(self, inbound: Inbound) -> ReceiveResult:
        """Give a pairing code to an unknown sender of a direct message; others get no reply.

        What others said to the agent is logged with the ids that the access settings need.
        """
        address, sender = inbound.address, inbound.sender
        if not _is_said(inbound):
            return ReceiveResult(reception=ReceiveStatus.REFUSED)
        if address.kind is not Kind.DM or sender.is_bot:
            pair = (_sender_of(inbound), address.chat)
            if self._strangers.take(pair, self._moment_of(inbound)) is RateDecision.NONE:
                _log_refused(inbound)
            return ReceiveResult(reception=ReceiveStatus.REFUSED)
        refused = ReceiveResult(reception=ReceiveStatus.REFUSED, said=UNKNOWN)
        haste = self._strangers.take(_sender_of(inbound), self._moment_of(inbound))
        if not self._access.rules.pairing or haste is not RateDecision.NONE:
            return refused
        shown = await request_pairing(self._db, address.platform, sender, profile=inbound.profile)
        if shown is None:
            return self._recall(inbound) or refused
        said = self._tell_apart(address, ASK_OWNER.format(code=shown.code))
        return self._recallable(inbound, replace(refused, said=said or UNKNOWN))

    def _is_in_time(self, inbound: Inbound) -> bool:
        """Count a message; what takes words back is never too much."""
        if inbound.kind is InboundKind.DELETION:
            return True
        who = _sender_of(inbound)
        haste = self._limit.take(who, self._moment_of(inbound))
        if inbound.observed:
            return haste is RateDecision.NONE
        words = [self._too_fast(inbound)] if haste is RateDecision.FIRST else []
        if haste is not RateDecision.AGAIN and (count := self._limit.report(who)):
            words.insert(0, LEFT_OUT.format(count=count))
        if words:
            self.tell(inbound.address, "\n".join(words))
        return haste is RateDecision.NONE

    def _limited(self, inbound: Inbound) -> ReceiveResult:
        at = self._moment_of(inbound)
        free_at = self._limit.free_at(_sender_of(inbound), at)
        # A message written in the past is judged by that time, and waits no longer for it.
        after = max(free_at - self._db.now(), timedelta(0))
        said = self._too_fast(inbound)
        return ReceiveResult(reception=ReceiveStatus.LIMITED, said=said, retry_after=after)

    def _too_fast(self, inbound: Inbound) -> str:
        until = self._limit.free_at(_sender_of(inbound), self._moment_of(inbound))
        # Rounded up, so that whoever waits until then is heard.
        until = until.astimezone(UTC) + timedelta(seconds=1)
        return TOO_FAST.format(until=until, per_minute=self._limit.per_minute)

    def _moment_of(self, inbound: Inbound) -> datetime:
        """Tell when something was said: not later than now, and not long ago.

        Whoever dates their messages could otherwise write as many as they like.
        """
        now = self._db.now()
        return max(min(inbound.at, now), now - OLDEST)

    async def _receive(
        self, inbound: Inbound, rank: AccessLevel, database: Database
    ) -> ReceiveResult:
        # Else a message that comes right after the clock was set looks as if nobody had served.
        await serve(self._db)
        is_said = _is_said(inbound)
        words = plain_text(inbound.parts).strip() if is_said else ""
        if words.startswith("/"):
            if (call := parse_command(words)) is not None:
                if call.command.while_running is WhileRunning.STOP:
                    await self._before_stop()
                reply = await execute(database, inbound, call, rank)
                return await self._answered(inbound, reply)
            if (unknown := suggest_command(words)) is not None:
                refused = await write_keyed(
                    database, inbound.message_id, refuse, inbound, str(unknown)
                )
                return await self._answered(inbound, refused)
        if (
            is_said
            and self._db.environment.settings.busy_for(inbound.address.platform)
            is BusyMode.INTERRUPT
        ):
            await self._before_stop()
        arrival = await write_keyed(
            database, inbound.message_id, receive, inbound, answers=rank if is_said else None
        )
        if arrival.is_repeated:
            return ReceiveResult(reception=ReceiveStatus.REPEATED, turn_id=arrival.turn_id)
        return ReceiveResult(reception=ReceiveStatus.TAKEN, turn_id=arrival.turn_id)

    async def _before_stop(self) -> None:
        """Let what people have seen of a turn be kept, as what comes next may stop it."""
        if self._keep_said is not None:
            await self._keep_said()

    async def _answered(self, inbound: Inbound, reply: CommandReply | None) -> ReceiveResult:
        """Say what must not be kept, and do in the background what takes longer."""
        if reply is None:
            return self._recall(inbound) or ReceiveResult(reception=ReceiveStatus.REPEATED)
        said: str | None = reply.text
        if reply.is_secret and reply.text:
            said = self._tell_apart(inbound.address, reply.text)
        if isinstance(reply.errand, Forget):
            self._recollection.forget()
        if isinstance(reply.errand, Export) and not self._can(inbound).speaks:
            said = tell_how(reply.errand, NO_FILES)
        elif reply.errand is not None:
            await self.run(reply.errand, inbound)
        for waited in reply.waited:
            if waited.reply.errand is not None:
                await self.run(waited.reply.errand, waited.inbound)
        taken = ReceiveResult(reception=ReceiveStatus.COMMAND, turn_id=reply.turn_id, said=said)
        return self._recallable(inbound, taken)

    def _tell_apart(self, address: Address, words: str) -> str | None:
        """Say what must not be kept; answer it where it can only be said with the outcome."""
        if not self._capabilities(address.platform).speaks:
            return words
        self.tell(address, words)
        return None

    def _can(self, inbound: Inbound) -> Capabilities:
        return self._capabilities(inbound.address.platform)

    def _recallable(self, inbound: Inbound, taken: ReceiveResult) -> ReceiveResult:
        """Remember what came of a message that may be brought again."""
        if inbound.message_id is not None:
            self._recollection.keep(_key_of(inbound), taken, self._db.now())
        return taken

    def _recall(self, inbound: Inbound) -> ReceiveResult | None:
        """Return what was said to a message before, if that is remembered."""
        taken = self._recollection.find(_key_of(inbound), self._db.now())
        if taken is not None and taken.reception is ReceiveStatus.COMMAND:
            return replace(taken, reception=ReceiveStatus.REPEATED)
        return taken

    async def _turn_down(self, inbound: Inbound, why: ThreadlineError) -> ReceiveResult:
        """Tell the sender that a message was not stored. It is received if it comes again."""
        log.info("Something from %s was not taken in: %s", inbound.address.platform, why)
        try:
            if (
                _is_said(inbound)
                and await write_keyed(self._db, inbound.message_id, refuse, inbound, why.chat)
                is None
            ):
                return self._recall(inbound) or ReceiveResult(reception=ReceiveStatus.REPEATED)
        except StorageError:
            raise
        except ThreadlineError as error:
            log.warning("Nobody could be told about it: %s", error)
        reception = ReceiveStatus.BUSY if isinstance(why, QueueFull) else ReceiveStatus.REFUSED
        return ReceiveResult(reception=reception, said=why.chat, retry_after=why.retry_after)

    async def run(self, errand: Errand, inbound: Inbound) -> None:
        """Do in the background what a command leaves to do; wait first while too much is done."""
        await self._errands.free()
        self._errands.begin(_name_of(errand), lambda: self._run(errand, inbound))

    async def _run(self, errand: Errand, inbound: Inbound) -> None:
        can = self._can(inbound)
        largest = can.attachment_limit if can.attachments else 0
        words = await finish_command_job(
            self._db, errand, inbound, largest=largest, compress=self._compress
        )
        if words:
            await self._outbox.say(inbound.address, words)

    def tell(self, address: Address, words: str) -> None:
        """Say something directly, unkept and in the background: nobody waits for a platform.

        It is left out, with a line in the log, while too much waits to be said.
        """

        async def say() -> None:
            await self._outbox.say(address, words)

        self._words.begin(f"say something on {address.platform}", say)


def _name_of(errand: Errand) -> str:
    return type(errand).__name__.lower()


def _key_of(inbound: Inbound) -> tuple[str, ...]:
    return (*_sender_of(inbound), *_chat_of(inbound), inbound.message_id or "")


def _chat_of(inbound: Inbound) -> tuple[str, ...]:
    address = inbound.address
    chat = canonical_chat(address, inbound.sender)
    return inbound.profile, address.platform, address.account, address.kind, chat


def _is_said(inbound: Inbound) -> bool:
    """Tell a message to the agent from chatter, and from changes of what was said."""
    return inbound.kind is InboundKind.MESSAGE and not inbound.observed


def _sender_of(inbound: Inbound) -> tuple[str, ...]:
    """Name whose haste is counted; where nobody can be told apart, it is the chat's."""
    platform = inbound.address.platform
    id = canonical_sender(platform, inbound.sender)
    return _chat_of(inbound) if id is None else (platform, id)


def _log_refused(inbound: Inbound) -> None:
    """Log that an unknown sender was refused, and which settings would admit them."""
    address, sender = inbound.address, inbound.sender
    who = one_line(f"{address.platform}:{sender.canonical or '?'}")
    chat = one_line(f"{address.platform}:{address.chat}")
    if sender.is_bot:
        log.info("Refused a message from the bot %s in %s: it is not in access.bots", who, chat)
    else:
        how = "the sender is not in access.allow, nor the chat in access.chats"
        log.info("Refused a message from %s in %s: %s", who, chat, how)
