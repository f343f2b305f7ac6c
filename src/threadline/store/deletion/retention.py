"""Retention: sessions whose time of keeping is over, and routes that have long been silent."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.address import Kind
from threadline.core.deletion import DeletionKind, ForgettingId
from threadline.core.event import EventKind
from threadline.core.retention import Retention
from threadline.core.session import Origin, SessionId
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.deletion import tasks as deletion_tasks
from threadline.store.session_writer import write_session_by_key

BATCH = 20
OBSERVED_KEPT = 1_000
"""Messages between others that are stored for each chat, the latest ones."""
OBSERVED_FOR = timedelta(days=30)
"""How long they are stored, unless the rules say less."""
_PAGE = 500
_SCAN = 20_000
_ROUTES = 50
_PIECES = 8


class RetentionCandidate(Struct, frozen=True, kw_only=True):
    """A session that may go, as it was found."""

    key: int
    id: SessionId
    last_activity_at: int


class _Unprotected(Struct, frozen=True, kw_only=True):
    """A session that nothing protects, and what decides for how long it is stored."""

    key: int
    id: SessionId
    platform: str
    kind: Kind
    origin: Origin
    last_activity_at: datetime

    def is_outdated(self, retention: Retention, now: datetime) -> bool:
        span = retention.span_for(self.platform, self.kind, self.origin)
        return span is not None and self.last_activity_at < now - span

    def candidate(self) -> RetentionCandidate:
        return RetentionCandidate(
            key=self.key, id=self.id, last_activity_at=stamp(self.last_activity_at)
        )


class _ObservedPlace(Struct, frozen=True, kw_only=True):
    """A chat where something was said between others."""

    key: int
    platform: str
    kind: Kind


def list_outdated(
    tx: Transaction, retention: Retention, after: int
) -> tuple[list[RetentionCandidate], int | None]:
    """List the sessions of a page that have been kept for long enough.

    Answers them, and where the next page begins.
    """
    page = _page(tx, after)
    return [one.candidate() for one in page if one.is_outdated(retention, tx.now)], _next(page)


def list_unprotected(tx: Transaction, after: int) -> tuple[list[RetentionCandidate], int | None]:
    """List a page of all sessions that nothing protects, and where the next page begins."""
    page = _page(tx, after)
    return [one.candidate() for one in page], _next(page)


def session_sizes(tx: Transaction, found: Sequence[RetentionCandidate]) -> list[int]:
    """Tell how much each of some sessions holds."""
    return [expect(tx, "sum_session_bytes", int, session_key=one.key) for one in found]


def measure_messages(tx: Transaction, after: int) -> tuple[int, int | None]:
    """Add up what a stretch of all messages holds; answer it, and where the next one begins."""
    end = expect(tx, "read_last_message", int)
    upto = min(after + _SCAN, end)
    size = expect(tx, "sum_bytes", int, after=after, upto=upto)
    if after == 0:
        size += expect(tx, "sum_blobs", int)
    return size, None if upto >= end else upto


def condemn(
    tx: Transaction, found: Sequence[RetentionCandidate], under: ForgettingId | None
) -> ForgettingId | None:
    """Begin to remove some sessions, unless something happened there since they were found.

    Their routes are let go at once, so that whoever speaks now begins a new session.
    """
    found = sorted(found, key=lambda one: one.key)
    # Routes before sessions, as everywhere.
    for one in found:
        tx.all("lock_routes", str, session_key=one.key)
    doomed = [one for one in found if _still(tx, one)]
    for one in doomed:
        tx.run("unbind_session", session_key=one.key)
    tasks = [("session", one.key) for one in doomed]
    if under is None:
        return deletion_tasks.record_deletion(tx, DeletionKind.RETENTION, tasks) if tasks else None
    deletion_tasks.add_to(tx, under, tasks)
    return under


def unbind_idle(tx: Transaction, *, before: datetime) -> int:
    """Let go of a slice of the routes that have been silent; their sessions stay as they are."""
    idle = tx.all("list_idle_bound", int, before=stamp(before), now=stamp(tx.now), most=_ROUTES)
    freed = {}
    # All routes before any session, as everywhere.
    for key in idle:
        freed[key] = len(tx.all("unbind_if_idle", str, session_key=key, before=stamp(before)))
    for key in sorted(key for key, routes in freed.items() if routes):
        with write_session_by_key(tx, key) as writer:
            writer.tell(EventKind.SESSION_CHANGED)
    return sum(freed.values())


def prune_observations(tx: Transaction, retention: Retention) -> bool:
    """Delete a slice of what groups said between others long ago; True if there may be more."""
    for place in tx.all("list_observed_places", _ObservedPlace):
        span = retention.span_for(place.platform, place.kind, Origin.PERSON)
        before = tx.now - (OBSERVED_FOR if span is None else min(span, OBSERVED_FOR))
        dropped = tx.all(
            "drop_observations_before",
            int,
            address_key=place.key,
            before=stamp(before),
            kept=OBSERVED_KEPT,
            most=_PAGE,
        )
        if dropped:
            return True
    return False


def list_stray_pieces(tx: Transaction) -> frozenset[str]:
    """List attachments of which only pieces are stored: they come just now, or never will."""
    return frozenset(tx.all("list_stray_pieces", str, most=_PAGE))


def drop_stray_pieces(tx: Transaction, hash: str) -> bool:
    """Delete a slice of the pieces of an attachment that was never completed; True: there is more.

    Whoever brings it after all finds that pieces are missing, and brings them again.
    """
    return tx.exists("drop_some_blob_chunks", hash=hash, most=_PIECES)


def _page(tx: Transaction, after: int) -> list[_Unprotected]:
    return tx.all("list_prunable", _Unprotected, after=after, now=stamp(tx.now), most=_PAGE)


def _next(page: Sequence[_Unprotected]) -> int | None:
    return page[-1].key if len(page) == _PAGE else None


def _still(tx: Transaction, one: RetentionCandidate) -> bool:
    """Return, under its lock, whether a session is as it was found, and unprotected."""
    if not tx.exists("lock_session_by_key", key=one.key):
        return False
    return tx.exists(
        "find_unprotected", key=one.key, last_activity_at=one.last_activity_at, now=stamp(tx.now)
    )
