"""Comparing: whether a session of a file is the same as the one in the store."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from threadline.core.portable.lines import PortableTurn
from threadline.core.portable.places import Place, PortableSender
from threadline.core.portable.records import Record, encode
from threadline.core.portable.sessions import PortableSession
from threadline.sessions.exports import units
from threadline.sessions.exports.writing import excerpt_of, read_records
from threadline.storage.database import Database


class Essence:
    """A hash of what a session is, without what may change around it.

    Names of people and chats change, and a file may not have the session before this one.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._hash = hashlib.sha256()

    def add(self, records: Iterable[Record]) -> None:
        """Add records."""
        for record in records:
            match record:
                case PortableSender():
                    pass
                case PortableSession():
                    place = _bare(record.place)
                    self._hash.update(encode(replace(record, parent=None, place=place)))
                case PortableTurn(place=Place() as place):
                    self._hash.update(encode(replace(record, place=_bare(place))))
                case _:
                    self._hash.update(encode(record))

    def digest(self) -> bytes:
        """Answer the hash."""
        return self._hash.digest()


def _bare(place: Place) -> Place:
    return Place(
        platform=place.platform,
        kind=place.kind,
        chat=place.chat,
        account=place.account,
        thread=place.thread,
    )


async def essence_of(db: Database, key: int, like: PortableSession) -> bytes:
    """Hash a session of the store, as much of it as another record is an excerpt of."""
    essence = Essence()
    unit = await db.read(units.read_unit, key, excerpt_of(like))
    async for records in read_records(db, unit, lambda _: False):
        essence.add(records)
    return essence.digest()
