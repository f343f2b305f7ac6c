"""Admin: what screens show beside conversations."""

from datetime import datetime

from threadline.core.budget import Spending
from threadline.core.deletion import Seal
from threadline.core.delivery import Delivery, DeliveryId
from threadline.core.message import Attachment, BlobHash, checked_hash
from threadline.core.person import Identity
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import (
    checked_count,
    checked_flag,
    checked_moment,
    checked_type,
)
from threadline.store import admin_queries, blobs
from threadline.store.admin_queries import SenderRow
from threadline.store.deliveries import create
from threadline.store.facade.connection import StoreConnection
from threadline.store.queries import PAGE


class AdminMethods(StoreConnection):
    """Deliveries, senders, caps, profiles, and which attachments a transcript shows."""

    async def delivery(self, id: DeliveryId) -> Delivery:
        """Read how far something got that is or was owed."""
        return await self._db.read(create.read_delivery, _checked(id))

    async def owe_again(self, id: DeliveryId) -> Delivery:
        """Owe something once more that was given up.

        What its platform has taken is not sent again; what may have been seen is marked so.
        """
        return await self._db.write(create.resend, _checked(id))

    async def lost_deliveries(
        self, *, before: tuple[datetime, DeliveryId] | None = None, most: int = PAGE
    ) -> list[Delivery]:
        """List what never arrived, the newest first, from behind a moment and a number on."""
        place = None
        if before is not None:
            at, number = before
            place = checked_moment(at, "before"), _checked(number)
        return await self._db.read(admin_queries.undelivered, before=place, most=most)

    async def senders(self, *, after: int = 0, most: int = PAGE) -> list[SenderRow]:
        """List everybody who is known on any platform, in the order in which they came."""
        after = checked_count(after, "key of a sender")
        return await self._db.read(admin_queries.senders, after=after, most=most)

    async def attachment_in(self, id: SessionId, hash: BlobHash) -> Attachment | None:
        """Find an attachment as a session's transcript shows it; None: nothing in it has it."""
        return await self._db.read(admin_queries.attachment_in, checked_session_id(id), hash)

    async def blob_size(self, hash: BlobHash) -> int | None:
        """Tell how many bytes an attachment has; None: there is none with this hash."""
        return await self._db.read(blobs.has_blob, checked_hash(hash))

    async def blob_piece(self, hash: BlobHash, n: int) -> bytes | None:
        """Read one piece of an attachment, each but the last as long; None after the last."""
        number = checked_count(n, "number of a piece")
        return await self._db.read(blobs.read_piece, checked_hash(hash), number)

    async def spendings(
        self,
        sender: Identity | None = None,
        *,
        everybody: bool = True,
        session: SessionId | None = None,
    ) -> list[Spending]:
        """Tell how near the caps are: a sender's own, a session's, and those of all together."""
        return await self._db.read(
            admin_queries.spendings,
            None if sender is None else checked_type(sender, "sender", Identity),
            everybody=checked_flag(everybody, "everybody"),
            session=None if session is None else checked_session_id(session),
        )

    async def profiles(self) -> list[str]:
        """List the profiles in which there is any session, by their names."""
        return await self._db.read(admin_queries.profiles)

    async def seal(self) -> Seal:
        """Give the installation's seal, with which a server signs what it has to know again."""
        return Seal(key=await self._db.secret())


def _checked(id: object) -> DeliveryId:
    return DeliveryId(checked_count(id, "delivery id"))
