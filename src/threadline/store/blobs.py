"""Blobs: attachments, kept in pieces under their content hash."""

import hashlib
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from threadline.core.errors import Invalid, NotFound
from threadline.core.json_codec import checked
from threadline.core.message import Attachment, BlobHash, MediaKind, checked_hash
from threadline.core.validation import checked_type
from threadline.database.port import Database, Transaction, expect
from threadline.database.timestamps import stamp

CHUNK_BYTES = 256 * 1024
BLOB_LIMIT = 25 * 1024 * 1024
UNUSED_AFTER = timedelta(hours=24)
_SLICE = 4


def hash_of(data: bytes) -> BlobHash:
    """Name a blob after its content; refuse one that is too large."""
    if len(checked_type(data, "attachment", bytes)) > BLOB_LIMIT:
        size = f"{len(data):,} bytes"
        raise Invalid(f"An attachment of {size} is too large", hint=f"At most {BLOB_LIMIT:,} bytes")
    return BlobHash(hashlib.sha256(data).hexdigest())


def pieces_of(data: bytes) -> list[bytes]:
    """Cut a blob into pieces that are small enough for one write each."""
    return [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]


def put_piece(tx: Transaction, hash: BlobHash, n: int, data: bytes) -> None:
    """Store one piece."""
    tx.run("add_blob_chunk", hash=hash, n=n, data=data)


def put_blob(
    tx: Transaction, hash: BlobHash, size: int, *, stored_at: datetime | None = None
) -> bool:
    """Declare a blob stored, so that messages can use it; False if pieces of it are missing.

    It was stored now, or at the time by which the caller will know that it is theirs.
    """
    if expect(tx, "count_blob_chunks", int, hash=hash) < -(-size // CHUNK_BYTES):
        return False
    tx.run("add_blob", hash=hash, size=size, now=stamp(stored_at or tx.now))
    return True


def has_blob(tx: Transaction, hash: BlobHash) -> int | None:
    """Answer the size of a blob that is wholly stored; None if it is not."""
    return tx.one("find_blob", int, hash=checked_hash(hash))


def read_piece(tx: Transaction, hash: BlobHash, n: int) -> bytes | None:
    """Read one piece; None after the last."""
    return tx.one("read_blob_chunk", bytes, hash=hash, n=n)


def sweep_blobs(tx: Transaction) -> list[BlobHash]:
    """Delete a slice of the blobs that no message has used for a day."""
    before = stamp(tx.now - UNUSED_AFTER)
    swept = []
    for unused in tx.all("list_unused_blobs", BlobHash, before=before, most=_SLICE):
        if tx.exists("drop_blob", hash=unused, before=before):
            tx.run("drop_blob_chunks", hash=unused)
            swept.append(unused)
    return swept


async def store_blob(
    db: Database, data: bytes, media_type: str, kind: MediaKind, name: str | None = None
) -> Attachment:
    """Store an attachment, so that a message can use it within a day."""
    content = hash_of(data)
    part = checked(
        Attachment(kind=kind, blob=content, media_type=media_type, size=len(data), name=name),
        "attachment",
    )
    while not await db.write(put_blob, content, len(data)):
        for n, piece in enumerate(pieces_of(data)):
            await db.write(put_piece, content, n, piece)
    return part


async def stream_blob(db: Database, hash: BlobHash) -> AsyncIterator[bytes]:
    """Read an attachment, piece by piece."""
    if await db.read(has_blob, hash) is None:
        raise NotFound("There is no such attachment", id=hash)
    n = 0
    while (piece := await db.read(read_piece, hash, n)) is not None:
        yield piece
        n += 1


async def sweep_all_blobs(db: Database) -> list[BlobHash]:
    """Delete the attachments that no message has used for a day; return their hashes."""
    swept: list[BlobHash] = []
    while slice_ := await db.write(sweep_blobs):
        swept += slice_
    return swept
