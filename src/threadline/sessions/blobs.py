"""Blobs: attachments, kept in pieces under their content hash."""

import hashlib
from datetime import datetime, timedelta

from threadline.core.errors import Invalid
from threadline.core.message import BlobHash, checked_hash
from threadline.core.text import checked_type
from threadline.storage.database import Transaction
from threadline.storage.moments import stamp

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


def put_blob(tx: Transaction, hash: BlobHash, size: int, *, now: datetime) -> None:
    """Declare a blob wholly stored; from now on messages can use it."""
    tx.run("add_blob", hash=hash, size=size, now=stamp(now))


def has_blob(tx: Transaction, hash: BlobHash) -> int | None:
    """Answer the size of a blob that is wholly stored; None if it is not."""
    row = tx.one("find_blob", hash=checked_hash(hash))
    return None if row is None else row.number("size")


def read_piece(tx: Transaction, hash: BlobHash, n: int) -> bytes | None:
    """Read one piece; None after the last."""
    row = tx.one("read_blob_chunk", hash=hash, n=n)
    return None if row is None else row.data("data")


def sweep_blobs(tx: Transaction, *, now: datetime) -> list[BlobHash]:
    """Delete a slice of the blobs that no message has used for a day."""
    rows = tx.all("list_unused_blobs", before=stamp(now - UNUSED_AFTER), most=_SLICE)
    hashes = [BlobHash(row.text("hash")) for row in rows]
    for unused in hashes:
        tx.run("drop_blob", hash=unused)
        tx.run("drop_blob_chunks", hash=unused)
    return hashes
