"""Diff: whether a session of a file is the same as the one in the store."""

import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from threadline.core.export_format.codec import Record, encode
from threadline.core.export_format.file_records import PortableAddress, PortableSender
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
)
from threadline.core.message import Note, quotes_of
from threadline.database.port import Database
from threadline.store.transfer import session_reader
from threadline.store.transfer.exporter import read_records, record_excerpt


class SessionDigest:
    """A hash of what a session is, without what may change around it.

    Names of people and chats change, a file may not have the session before this one or have
    another id for the one that a note quotes, and folders, tools and model addresses are left out
    of an import.
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
                    self._hash.update(
                        encode(replace(without_settings(record), parent=None, place=place))
                    )
                case PortableTurn(place=PortableAddress() as place):
                    self._hash.update(encode(replace(record, place=_bare(place))))
                case PortableMessage(parts=parts) if quotes_of(parts):
                    bare = tuple(
                        replace(part, quotes=()) if isinstance(part, Note) else part
                        for part in parts
                    )
                    self._hash.update(encode(replace(record, parts=bare)))
                case _:
                    self._hash.update(encode(record))

    def digest(self) -> bytes:
        """Answer the hash."""
        return self._hash.digest()


def without_settings(session: PortableSession) -> PortableSession:
    """Return a session without what lets its agent reach further: folders, tools, an address.

    The model of another address goes with the address.
    """
    choice = session.choice
    kept = None if choice is not None and choice.base_url is not None else choice
    return replace(session, workspace=None, worktree=None, tools=None, choice=kept)


def _bare(place: PortableAddress) -> PortableAddress:
    return PortableAddress(
        platform=place.platform,
        kind=place.kind,
        chat=place.chat,
        account=place.account,
        thread=place.thread,
    )


async def essence_of(db: Database, key: int, like: PortableSession) -> bytes:
    """Hash a session of the store, as much of it as another record is an excerpt of."""
    essence = SessionDigest()
    unit = await db.read(session_reader.read_unit, key, record_excerpt(like))
    async for records in read_records(db, unit, lambda _: False):
        essence.add(records)
    return essence.digest()
