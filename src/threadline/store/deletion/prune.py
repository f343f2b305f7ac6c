"""Prune: sessions past their retention period, silent routes, and pieces of lost uploads."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from threadline.core.deletion import Certificate, DeletionKind, DeletionPreview, ForgettingId
from threadline.core.retention import Retention
from threadline.database.port import Database
from threadline.store.deletion import preview, retention
from threadline.store.deletion.forget import Progress, finish_deletion, remove_rows
from threadline.store.deletion.retention import RetentionCandidate


async def plan_pruning(db: Database, rules: Retention | None = None) -> DeletionPreview:
    """Return which sessions would be deleted now, by these rules or those of the settings."""
    found = await list_prunable(db, _rules(db, rules))
    return await db.read(preview.plan_sessions, [one.id for one in found], DeletionKind.RETENTION)


async def prune(
    db: Database, rules: Retention | None = None, *, progress: Progress | None = None
) -> Certificate | None:
    """Delete the sessions that are past their retention period; None if there are none.

    Pinned, suspended, held and busy sessions stay, and so does what a branch shares. What groups
    said between others is deleted after 30 days at the latest.
    """
    kept = _rules(db, rules)
    while await db.write(retention.prune_observations, kept):
        pass
    found = await list_prunable(db, kept)
    id: ForgettingId | None = None
    for first in range(0, len(found), retention.BATCH):
        batch = found[first : first + retention.BATCH]
        id = await db.write(retention.condemn, batch, id)
        if id is not None:
            await remove_rows(db, id)
        if progress is not None:
            progress(first + len(batch))
    return None if id is None else await finish_deletion(db, id)


async def unbind_idle(db: Database, after: timedelta | None = None) -> int:
    """Unbind the routes that have been silent for a span of time; return how many.

    Their transcripts stay, and the next message there begins a new session.
    """
    silence = db.environment.settings.retention.unbind_after if after is None else after
    if silence is None:
        return 0
    before = db.now() - silence
    freed = 0
    while count := await db.write(retention.unbind_idle, before=before):
        freed += count
    return freed


async def sweep_pieces(db: Database, suspects: frozenset[str] = frozenset()) -> frozenset[str]:
    """Delete those suspects of which still only pieces are stored; return the new suspects.

    An upload under way is a suspect once, and complete at the next call.
    """
    strays = await db.read(retention.list_stray_pieces)
    for stray in strays & suspects:
        while await db.write(retention.drop_stray_pieces, stray):
            pass
    return strays - suspects


def _rules(db: Database, rules: Retention | None) -> Retention:
    return db.environment.settings.retention if rules is None else rules


async def list_prunable(db: Database, rules: Retention) -> Sequence[RetentionCandidate]:
    """List what may go: first by age, then, if that is not enough, by size."""
    if not rules.prunes:
        return []
    found = [one async for one in _outdated(db, rules)]
    if rules.most_bytes is not None:
        found += await _surplus(db, found, rules.most_bytes)
    return sorted(found, key=_silence)


async def _surplus(
    db: Database, going: Sequence[RetentionCandidate], most_bytes: int
) -> list[RetentionCandidate]:
    """List who goes as well, the longest silent first, until the rest is small enough."""
    left = await _measured(db)
    async for _one, size in _weighed(db, going):
        left -= size
    known = {one.key for one in going}
    others = [one async for one in _unprotected(db) if one.key not in known]
    surplus: list[RetentionCandidate] = []
    async for one, size in _weighed(db, sorted(others, key=_silence)):
        if left <= most_bytes:
            break
        surplus.append(one)
        left -= size
    return surplus


async def _weighed(
    db: Database, found: Sequence[RetentionCandidate]
) -> AsyncIterator[tuple[RetentionCandidate, int]]:
    """Yield each candidate with its size; sizes that no caller reads are not added up."""
    for first in range(0, len(found), retention.BATCH):
        batch = found[first : first + retention.BATCH]
        for one, size in zip(batch, await db.read(retention.session_sizes, batch), strict=True):
            yield one, size


async def _outdated(db: Database, rules: Retention) -> AsyncIterator[RetentionCandidate]:
    after: int | None = 0
    while after is not None:
        page, after = await db.read(retention.list_outdated, rules, after)
        for one in page:
            yield one


async def _unprotected(db: Database) -> AsyncIterator[RetentionCandidate]:
    after: int | None = 0
    while after is not None:
        page, after = await db.read(retention.list_unprotected, after)
        for one in page:
            yield one


async def _measured(db: Database) -> int:
    size, after = await db.read(retention.measure_messages, 0)
    while after is not None:
        more, after = await db.read(retention.measure_messages, after)
        size += more
    return size


def _silence(one: RetentionCandidate) -> tuple[int, int]:
    """Put the longest silent first."""
    return one.last_activity_at, one.key
