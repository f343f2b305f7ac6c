"""The outbox: carries what is owed to the platforms of this process."""

import asyncio
import itertools
import logging
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial

from threadline.core.address import Address
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState, SendOutcome
from threadline.core.errors import LeaseLost, ThreadlineError
from threadline.core.event import Event, EventKind
from threadline.core.platform import Outgoing, Platform, SendFailed
from threadline.core.redaction import mask_secrets
from threadline.core.splitting import limit_of, split
from threadline.database.port import Database
from threadline.gateway.background_tasks import end_tasks, log_failure
from threadline.gateway.delivery_sender import DeliverySender
from threadline.gateway.edit_repair import EditRepair
from threadline.gateway.feed_consumer import follow_feed
from threadline.gateway.intervals import (
    NO_STORAGE,
    Intervals,
    attempt,
    retry_until_stored,
    run_every,
)
from threadline.gateway.lease import LeaseProof
from threadline.gateway.live_replies import LiveReplies
from threadline.gateway.metrics import Metrics
from threadline.gateway.platform_call import EditOverwritten, send
from threadline.gateway.tracing import logged_for
from threadline.gateway.turn_pubsub import TurnPubSub
from threadline.store.blobs import stream_blob
from threadline.store.deliveries.lease import next_due, renew_deliveries
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.deliveries.results import record_failure
from threadline.store.deliveries.take import take_deliveries
from threadline.store.feed import feed_end

log = logging.getLogger("threadline.gateway")

SENDING_AT_A_TIME = 32
"""After so many messages under way on one platform no more are taken for it."""
WARN_AFTER = 3
"""After so many attempts a delivery that cannot be sent is a warning in the log."""
_SLICE = 20
_GONE = "The platform is not served any more."
_SHORTEST = timedelta(milliseconds=20)


class Outbox:
    """Sends what is owed, to many addresses at a time, to each of them in order.

    It is woken by the feed, not by asking. What a platform does harms no other platform: each
    message has its own task and its own time, and a platform that is slow is given no more. While
    a turn of this process runs, people see that somebody writes, and what.
    """

    def __init__(
        self,
        database: Database,
        platforms: Mapping[str, Platform],
        *,
        live: TurnPubSub,
        pace: Intervals | None = None,
        meters: Metrics | None = None,
        streams: bool = True,
        secrets: Collection[str] = (),
    ) -> None:
        """Carry to these platforms; without `streams` every answer is sent when it is complete.

        No error is kept with one of the `secrets` in it.
        """
        self._db = database
        self._platforms = platforms
        self._live = live
        self._pace = pace or Intervals()
        self._meters = meters
        self._secrets = secrets
        self._mending = EditRepair(database, platforms)
        self._streaming = LiveReplies(
            database,
            platforms,
            streams=streams,
            pace=self._pace,
            on_overwritten=self._mending.begin,
        )
        self._sending: dict[asyncio.Task[None], DeliveryPayload] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._is_leaving = False
        self._said = itertools.count(1)

    async def run(self) -> None:
        """Send what is owed, until cancelled; what a crash had left behind comes first."""
        try:
            # Before anything else, lest a turn begins unheard.
            with self._live.attend(self._streaming.hear):
                await self._serve()
        finally:
            await self._streaming.stop()
            await self._let_go()
            await self._mending.stop(self._pace.grace)

    async def _serve(self) -> None:
        cursor = await self._db.read(feed_end)
        async with asyncio.TaskGroup() as group:
            group.create_task(follow_feed(self._db, cursor, self._notice, self._miss))
            group.create_task(self._take())
            group.create_task(run_every(self.renew, self._db.environment.settings.lease / 3))

    async def say(self, address: Address, text: str) -> bool:
        """Say something directly, without keeping it; False if that did not work."""
        platform = self._platforms.get(address.platform)
        if platform is None:
            return False
        key = f"{self._db.owner}-{next(self._said)}"
        try:
            for n, cut in enumerate(split(text, limit_of(platform.capabilities))):
                outgoing = Outgoing(address=address, text=cut.text, key=f"{key}-{n}")
                await send(platform, outgoing, partial(stream_blob, self._db))
        except SendFailed as error:
            log.info("%s did not take what was said to it: %s", platform.name, error)
            return False
        return True

    async def drain(self, within: timedelta) -> None:
        """Send what is due and let what is being sent end, for a while; then take nothing more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within.total_seconds()):
                await self.settle()
        self._is_leaving = True

    async def settle(self) -> None:
        """Send what is due, and wait until nothing is being sent."""
        self._idle.clear()
        self._wake.set()
        await self._idle.wait()
        while self._sending:
            await asyncio.wait(set(self._sending))

    def adopt(self, *, streams: bool, secrets: Collection[str]) -> None:
        """Stream from now on, or not, and keep no error with one of these secrets in it."""
        self._streaming.streams = streams
        self._secrets = secrets

    async def leave(self, platform: str, within: timedelta) -> None:
        """Let what is being sent to a platform end, for a while, and nothing grow there."""
        await self._streaming.leave(platform, within)
        tasks = {
            task
            for task, parcel in self._sending.items()
            if parcel.delivery.address.platform == platform
        }
        if tasks:
            await asyncio.wait(tasks, timeout=within.total_seconds())

    def wake(self) -> None:
        """Look again at once for what is due."""
        self._wake.set()

    async def _notice(self, event: Event) -> None:
        if event.kind is EventKind.DELIVERY_PENDING:
            self._wake.set()
        self._mending.notice(event)

    def _miss(self) -> None:
        """Look at everything, as events were missed."""
        self._wake.set()
        self._mending.wake()

    async def _take(self) -> None:
        self._wake.set()
        while not self._is_leaving:
            await self._await_news()
            if not await attempt(self._take_due):
                await asyncio.sleep(NO_STORAGE.total_seconds())
                self._wake.set()

    async def _await_news(self) -> None:
        """Wait until something may be due: because it is owed anew, or because its time comes."""
        wait = self._pace.recover
        with suppress(ThreadlineError):
            if (
                due := await self._db.read(next_due, self._free(), owner=self._db.owner)
            ) is not None:
                wait = min(wait, max(due - self._db.now(), _SHORTEST))
        with suppress(TimeoutError):
            async with asyncio.timeout(wait.total_seconds()):
                await self._wake.wait()
        self._wake.clear()

    async def _take_due(self) -> None:
        while (free := self._free()) and not self._is_leaving:
            asked_at = self._pace.clock()
            parcels = await take_deliveries(self._db, free, _SLICE)
            for parcel in parcels:
                self._begin(
                    parcel,
                    LeaseProof(self._db.environment.settings.lease, self._pace.clock, asked_at),
                )
            if len(parcels) < _SLICE:
                break
        if not self._sending:
            self._idle.set()

    def _free(self) -> list[str]:
        """List the platforms that can be given more."""
        busy = [parcel.delivery.address.platform for parcel in self._sending.values()]
        return [name for name in self._platforms if busy.count(name) < SENDING_AT_A_TIME]

    def _begin(self, parcel: DeliveryPayload, proof: LeaseProof) -> None:
        # No child of the task group: one that cannot be written down must not end the others.
        task = asyncio.create_task(
            self._carry(parcel, proof), name=f"delivery {parcel.delivery.id}"
        )
        self._sending[task] = parcel
        task.add_done_callback(self._take_end)

    def _take_end(self, task: asyncio.Task[None]) -> None:
        del self._sending[task]
        # The next one at the same address may be due now.
        self._wake.set()
        log_failure(task)

    async def _carry(self, parcel: DeliveryPayload, proof: LeaseProof) -> None:
        with logged_for(parcel.delivery):
            await self._try(parcel, proof)

    async def _try(self, parcel: DeliveryPayload, proof: LeaseProof) -> None:
        """Send one parcel; whatever the platform does becomes the state of the delivery."""
        owed = parcel.delivery
        platform = self._platforms.get(owed.address.platform)
        try:
            if platform is None:
                # It went while this was taken: what is owed there waits for its return.
                await self._db.write(
                    record_failure, owed, SendOutcome.REJECTED, _GONE, retry_after=None
                )
                return
            stream = await self._streaming.settle(owed)
            carriage = DeliverySender(self._db, platform, parcel, stream, proof)
            try:
                await carriage.carry()
                state = DeliveryState.SENT
            except SendFailed as error:
                state = await self._fail(carriage.delivery, error, platform)
        except EditOverwritten as error:
            self._mending.begin(owed, error.message_id)
        except LeaseLost:
            log.info("Delivery %s is sent by another process", owed.id)
        except ThreadlineError as error:
            # Its lease is not renewed any more; when it expires, it is sent again and marked.
            log.warning("Delivery %s cannot be continued: %s", owed.id, error)
        else:
            self._note_end(owed, state)

    async def _fail(
        self, delivery: Delivery, error: SendFailed, platform: Platform
    ) -> DeliveryState:
        why = mask_secrets(str(error), self._secrets)
        outcome = error.outcome
        if outcome is SendOutcome.AMBIGUOUS and platform.capabilities.idempotent:
            # It shows nothing twice, however often it is sent.
            outcome = SendOutcome.REJECTED
        state = await retry_until_stored(
            lambda: self._db.write(
                record_failure, delivery, outcome, why, retry_after=error.retry_after
            ),
            f"the failed attempt to send delivery {delivery.id}",
        )
        is_bad = state is not DeliveryState.PENDING or delivery.attempts >= WARN_AFTER
        level = logging.WARNING if is_bad else logging.INFO
        log.log(level, "Delivery %s is %s: %s", delivery.id, state, why)
        return state

    def _note_end(self, delivery: Delivery, state: DeliveryState) -> None:
        since = self._db.now() - delivery.owed_at
        if state is DeliveryState.SENT:
            seconds = max(since.total_seconds(), 0)
            log.info("Delivery %s was sent %.1f s after it was owed", delivery.id, seconds)
        if self._meters is not None:
            self._meters.delivered(delivery.address.platform, state, since)

    @property
    def sending(self) -> frozenset[DeliveryId]:
        """What is being sent."""
        return frozenset(parcel.delivery.id for parcel in self._sending.values())

    async def renew(self) -> None:
        """Renew the leases of what is being sent, and cancel what another process has taken."""
        held = dict(self._sending)
        if held:
            lost = await self._db.write(renew_deliveries, [one.delivery for one in held.values()])
            # Not those that began meanwhile: the same delivery may have been taken again.
            for task, parcel in held.items():
                if parcel.delivery.id in lost:
                    task.cancel()

    async def _let_go(self) -> None:
        await end_tasks(set(self._sending), self._pace.grace)
