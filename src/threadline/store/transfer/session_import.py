"""Session import: one session of an import on its way into the store, in slices."""

import asyncio
from array import array
from collections.abc import Mapping
from typing import Self

from threadline.core.export_format.codec import Record
from threadline.core.export_format.file_records import (
    PortableAddress,
    PortableSender,
    SenderReference,
)
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.session import SessionId
from threadline.database.port import Database
from threadline.store.transfer import references, staging_area

SLICE_RECORDS = 40
SLICE_BYTES = 256 * 1024


class SessionImport:
    """Stores the records of one session where nobody sees them, until it is published."""

    def __init__(
        self, db: Database, key: int, place: PortableAddress, made: set[SenderReference]
    ) -> None:
        """Go on with a session whose storing has begun; `made` are the senders that are new."""
        self.key = key
        self._db = db
        self._place = place
        self._made = made
        self._senders: dict[SenderReference, int] = {}
        self._turn_ids = array("q")
        self._waiting: list[Record] = []
        self._size = 0

    @classmethod
    async def begin(cls, db: Database, place: PortableAddress, made: set[SenderReference]) -> Self:
        """Begin to store a session."""
        staged_id = f"importing-{db.environment.new_id():08x}-{db.owner}"[:200]
        try:
            key = await db.write(staging_area.stage, staged_id, place)
        except asyncio.CancelledError:
            # It may have been stored all the same.
            left = await db.read(staging_area.find_staged, staged_id)
            if left is not None:
                await delete_staged(db, left)
            raise
        return cls(db, key, place, made)

    async def add(self, record: Record, size: int) -> None:
        """Take a record, and store what has come together when it is enough or of another kind."""
        if self._waiting and type(self._waiting[0]) is not type(record):
            await self._store()
        self._waiting.append(record)
        self._size += size
        if len(self._waiting) >= SLICE_RECORDS or self._size >= SLICE_BYTES:
            await self._store()

    async def _store(self) -> None:
        records, self._waiting, self._size = self._waiting, [], 0
        senders = [record for record in records if isinstance(record, PortableSender)]
        turns = [record for record in records if isinstance(record, PortableTurn)]
        messages = [record for record in records if isinstance(record, PortableMessage)]
        spent = [record for record in records if isinstance(record, PortableUsage)]
        write, ids = self._db.write, self._turn_ids
        if senders:
            brought = await write(references.bring_senders, senders, self._made)
            self._senders.update(brought.keys)
            self._made |= brought.made
        if turns:
            ids.extend(await write(staging_area.stage_turns, self.key, turns, self._place))
        if messages:
            await write(staging_area.stage_messages, self.key, messages, ids, self._senders)
        if spent:
            await write(staging_area.stage_usage, self.key, spent, ids, self._senders)

    async def publish(
        self,
        session: PortableSession,
        id: SessionId,
        relatives: Mapping[SessionId, SessionId],
        joints: list[tuple[int, int | None, int | None]],
    ) -> None:
        """Store the rest, and let everybody see the session."""
        await self._store()
        for first in range(0, len(joints), SLICE_RECORDS):
            some = joints[first : first + SLICE_RECORDS]
            await self._db.write(staging_area.join_turns, some, self._turn_ids)
        await self._db.write(
            staging_area.publish,
            self.key,
            session,
            id=id,
            relatives=relatives,
            senders=self._senders,
        )


async def delete_staged(db: Database, key: int) -> None:
    """Delete a session that will not be shown."""
    while await db.write(staging_area.drop_staged, key):
        pass


async def drop_abandoned(db: Database) -> None:
    """Delete what imports that never came to their end have left behind."""
    while keys := await db.read(staging_area.list_abandoned):
        for key in keys:
            await delete_staged(db, key)
