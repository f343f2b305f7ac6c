"""Edit repair: edits messages again that a process changed after it had been replaced."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta

from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.errors import ThreadlineError
from threadline.core.event import Event, EventKind
from threadline.core.platform import Platform, SendFailed
from threadline.database.port import Database
from threadline.gateway.background_tasks import BackgroundTasks
from threadline.gateway.delivery_sender import EDIT_TRIES, DeliverySender
from threadline.gateway.intervals import retry_until_stored
from threadline.gateway.lease import LeaseProof
from threadline.gateway.platform_call import edit
from threadline.store.deliveries.create import read_whole
from threadline.store.deliveries.payload import DeliveryPayload

log = logging.getLogger("threadline.gateway")

_OWED = frozenset({DeliveryState.PENDING, DeliveryState.SENDING})
_ENDS = frozenset(
    {EventKind.DELIVERY_SENT, EventKind.DELIVERY_FAILED, EventKind.DELIVERY_ABANDONED}
)
_PAUSE = timedelta(seconds=1)


class EditRepair:
    """Edits overwritten messages once more, when nobody else edits them any more.

    Until then the process that took over may still be changing them.
    """

    def __init__(self, database: Database, platforms: Mapping[str, Platform]) -> None:
        """Begin with nothing to mend."""
        self._db = database
        self._platforms = platforms
        self._news: set[asyncio.Event] = set()
        self._tasks = BackgroundTasks()

    def begin(self, delivery: Delivery, message_id: str) -> None:
        """Mend a message as soon as its delivery has ended."""
        name = f"mend a message of delivery {delivery.id}"
        self._tasks.begin(name, lambda: self._mend(delivery, message_id))

    def notice(self, event: Event) -> None:
        """Look again if a delivery has ended."""
        if event.kind in _ENDS:
            self.wake()

    def wake(self) -> None:
        """Look again at once."""
        for news in self._news:
            news.set()

    async def stop(self, within: timedelta) -> None:
        """Let go of everything."""
        await self._tasks.close(within)

    async def _mend(self, delivery: Delivery, message_id: str) -> None:
        try:
            parcel = await self._until_ended(delivery.id)
            platform = self._platforms[delivery.address.platform]
            proof = LeaseProof(self._db.environment.settings.lease)
            text = DeliverySender(self._db, platform, parcel, None, proof).text_of(message_id)
            if text is None:
                log.info("How a message of delivery %s should read is not known", delivery.id)
            else:
                await _edit(platform, delivery, message_id, text)
                log.info("A message of delivery %s reads as it should again", delivery.id)
        except (ThreadlineError, KeyError):
            log.warning("A message of delivery %s may be incomplete", delivery.id)

    async def _until_ended(self, id: DeliveryId) -> DeliveryPayload:
        news = asyncio.Event()
        self._news.add(news)
        try:
            while True:
                parcel = await retry_until_stored(
                    lambda: self._db.read(read_whole, id), f"delivery {id}"
                )
                if parcel.delivery.state not in _OWED:
                    return parcel
                await news.wait()
                news.clear()
        finally:
            self._news.discard(news)


async def _edit(platform: Platform, delivery: Delivery, message_id: str, text: str) -> None:
    for left in reversed(range(EDIT_TRIES)):
        try:
            await edit(platform, delivery.address, message_id, text)
        except SendFailed as error:
            if not left:
                raise
            await asyncio.sleep((error.retry_after or _PAUSE).total_seconds())
        else:
            return
