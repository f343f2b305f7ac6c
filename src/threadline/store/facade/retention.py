"""Retention: sessions, silent routes, and stray pieces."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from threadline.core.deletion import Certificate, DeletionKind, DeletionPreview, ForgettingId
from threadline.core.retention import Retention
from threadline.core.validation import checked_span, checked_type
from threadline.store.deletion import preview, retention
from threadline.store.deletion.retention import RetentionCandidate
from threadline.store.facade.deletion import DeletionMethods, Progress


class RetentionMethods(DeletionMethods):
    """Retention by age, kind, source, origin and size."""

    async def plan_pruning(self, rules: Retention | None = None) -> DeletionPreview:
        """Tell which sessions would go now, by these rules or the store's own."""
        found = await self._prunable(self._retention(rules))
        return await self._db.read(
            preview.plan_sessions, [one.id for one in found], DeletionKind.RETENTION
        )

    async def prune(
        self, rules: Retention | None = None, *, progress: Progress | None = None
    ) -> Certificate | None:
        """Remove the sessions whose time is over; None if there are none.

        Pinned, suspended, held and busy sessions stay, and so does whatever a branch shares. What
        groups said between others goes after 30 days at the latest.
        """
        kept = self._retention(rules)
        while await self._db.write(retention.prune_observations, kept):
            pass
        found = await self._prunable(kept)
        id: ForgettingId | None = None
        for first in range(0, len(found), retention.BATCH):
            batch = found[first : first + retention.BATCH]
            id = await self._db.write(retention.condemn, batch, id)
            if id is not None:
                await self._remove(id)
            if progress is not None:
                progress(first + len(batch))
        return None if id is None else await self.go_on_forgetting(id)

    async def unbind_idle(self, after: timedelta | None = None) -> int:
        """Let go of routes that have been silent for so long; answers how many.

        Their transcripts stay, and the next message there begins a new session.
        """
        silence = self.rules.retention.unbind_after if after is None else after
        if silence is None:
            return 0
        before = self.now() - checked_span(silence, "silence")
        freed = 0
        while count := await self._db.write(retention.unbind_idle, before=before):
            freed += count
        return freed

    async def sweep_pieces(self, suspects: frozenset[str] = frozenset()) -> frozenset[str]:
        """Delete those suspects of which still only pieces are stored; answers the new suspects.

        What comes just now is a suspect once, and complete at the next look.
        """
        strays = await self._db.read(retention.list_stray_pieces)
        for stray in strays & suspects:
            while await self._db.write(retention.drop_stray_pieces, stray):
                pass
        return strays - suspects

    def _retention(self, rules: Retention | None) -> Retention:
        return self.rules.retention if rules is None else checked_type(rules, "rules", Retention)

    async def _prunable(self, rules: Retention) -> Sequence[RetentionCandidate]:
        """List what may go: first by age, then, if that is not enough, by size."""
        if not rules.prunes:
            return []
        found = [one async for one in self._outdated(rules)]
        if rules.most_bytes is not None:
            found += await self._surplus(found, rules.most_bytes)
        return sorted(found, key=_silence)

    async def _surplus(
        self, going: Sequence[RetentionCandidate], most_bytes: int
    ) -> list[RetentionCandidate]:
        """List who goes as well, the longest silent first, until the rest is small enough."""
        left = await self._measured()
        async for _one, size in self._weighed(going):
            left -= size
        known = {one.key for one in going}
        others = [one async for one in self._unprotected() if one.key not in known]
        surplus: list[RetentionCandidate] = []
        async for one, size in self._weighed(sorted(others, key=_silence)):
            if left <= most_bytes:
                break
            surplus.append(one)
            left -= size
        return surplus

    async def _weighed(
        self, found: Sequence[RetentionCandidate]
    ) -> AsyncIterator[tuple[RetentionCandidate, int]]:
        """Tell of one after the other how much it holds; what nobody asks for is not added up."""
        for first in range(0, len(found), retention.BATCH):
            batch = found[first : first + retention.BATCH]
            for one, size in zip(
                batch, await self._db.read(retention.session_sizes, batch), strict=True
            ):
                yield one, size

    async def _outdated(self, rules: Retention) -> AsyncIterator[RetentionCandidate]:
        after: int | None = 0
        while after is not None:
            page, after = await self._db.read(retention.list_outdated, rules, after)
            for one in page:
                yield one

    async def _unprotected(self) -> AsyncIterator[RetentionCandidate]:
        after: int | None = 0
        while after is not None:
            page, after = await self._db.read(retention.list_unprotected, after)
            for one in page:
                yield one

    async def _measured(self) -> int:
        size, after = await self._db.read(retention.measure_messages, 0)
        while after is not None:
            more, after = await self._db.read(retention.measure_messages, after)
            size += more
        return size


def _silence(one: RetentionCandidate) -> tuple[int, int]:
    """Put the longest silent first."""
    return one.last_activity_at, one.key
