"""Process locks: which processes have the store open, by locks that end with a connection."""

import hashlib
import os
import secrets
import time

from threadline.core.turn import OwnerId
from threadline.database.port import Transaction
from threadline.database.postgres.connection import Raw
from threadline.database.postgres.transaction import raw

RESTART_SECONDS = 5
"""After a restart of the server nobody is called dead for so long: all have to come back first."""
SECOND_LOOK = 0.2
"""Whoever just lost the connection takes the lock again within this time."""

_FREE = """
SELECT key FROM unnest(%(keys)s::BIGINT[]) AS key
WHERE pg_try_advisory_xact_lock_shared(key)
"""
_STORE = "hashtextextended('threadline store ' || current_schema(), 0)"
"""The number of the lock that everybody shares who has the store open."""
_HOLDERS = f"""
SELECT pid FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND (classid::BIGINT << 32 | objid::BIGINT) = {_STORE}
"""  # noqa: S608 - our own words
_AGE = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::FLOAT8"


def new_owner() -> OwnerId:
    """Make a name that no other process has, on any machine."""
    return OwnerId(f"{os.getpid()}-{secrets.token_hex(8)}")


def key_of(owner: OwnerId) -> int:
    """Answer the number of an owner's lock."""
    digest = hashlib.blake2b(owner.encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def share_store_lock(connection: Raw) -> None:
    """Share the store's lock while the connection lasts; wait while the store is being replaced."""
    connection.execute(f"SELECT pg_advisory_lock_shared({_STORE})".encode())


def list_present(connection: Raw) -> frozenset[int]:
    """Return the server processes of everybody who shares the store's lock."""
    rows = connection.execute(_HOLDERS.encode()).fetchall()
    return frozenset(int(pid) for (pid,) in rows)


def has_alone(connection: Raw) -> bool:
    """Take the store's lock exclusively while the connection lasts; False if anyone has it open."""
    row = connection.execute(f"SELECT pg_try_advisory_lock({_STORE})".encode()).fetchone()
    return row is not None and bool(row[0])


def declare_alive(connection: Raw, owner: OwnerId) -> None:
    """Take the owner's lock, and share the store's, while the connection lasts.

    A process that checks whether we are dead holds the owner's lock briefly, so this waits.
    """
    share_store_lock(connection)
    connection.execute("SELECT pg_advisory_lock(%s)", [key_of(owner)])


def dead(tx: Transaction, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
    """Answer those whose lock is free, and still free at a second look."""
    connection = raw(tx)
    suspects = _without_lock(connection, owners)
    if not suspects:
        return suspects
    row = connection.execute(_AGE).fetchone()
    if row is None or row[0] < RESTART_SECONDS:
        return frozenset()
    # The first look's locks last as long as its transaction.
    connection.execute("ROLLBACK")
    time.sleep(SECOND_LOOK)
    connection.execute("BEGIN")
    return _without_lock(connection, suspects)


def _without_lock(connection: Raw, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
    keys = {key_of(owner): owner for owner in owners}
    rows = connection.execute(_FREE, {"keys": list(keys)}).fetchall()
    return frozenset(keys[key] for (key,) in rows)
