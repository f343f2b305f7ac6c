"""Blobs: attachments, kept in pieces under their content hash."""

import hashlib
from datetime import datetime, timedelta

from threadline.core.errors import Invalid
from threadline.core.message import BlobHash, checked_hash
from threadline.core.validation import checked_type
from threadline.database.port import Transaction, expect
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
