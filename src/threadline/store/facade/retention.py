"""Retention: sessions, silent routes, and stray pieces."""

from datetime import timedelta

from threadline.core.deletion import Certificate, DeletionPreview
from threadline.core.retention import Retention
from threadline.core.validation import checked_span, checked_type
from threadline.store.deletion import prune
from threadline.store.deletion.forget import Progress
from threadline.store.facade.deletion import DeletionMethods


class RetentionMethods(DeletionMethods):
    """Retention by age, kind, source, origin and size."""

    async def plan_pruning(self, rules: Retention | None = None) -> DeletionPreview:
        """Tell which sessions would go now, by these rules or the store's own."""
        return await prune.plan_pruning(self._db, _checked(rules))

    async def prune(
        self, rules: Retention | None = None, *, progress: Progress | None = None
    ) -> Certificate | None:
        """Remove the sessions whose time is over; None if there are none.

        Pinned, suspended, held and busy sessions stay, and so does whatever a branch shares. What
        groups said between others goes after 30 days at the latest.
        """
        return await prune.prune(self._db, _checked(rules), progress=progress)

    async def unbind_idle(self, after: timedelta | None = None) -> int:
        """Let go of routes that have been silent for so long; answers how many.

        Their transcripts stay, and the next message there begins a new session.
        """
        return await prune.unbind_idle(
            self._db, after if after is None else checked_span(after, "silence")
        )

    async def sweep_pieces(self, suspects: frozenset[str] = frozenset()) -> frozenset[str]:
        """Delete those suspects of which still only pieces are stored; answers the new suspects.

        What comes just now is a suspect once, and complete at the next look.
        """
        return await prune.sweep_pieces(self._db, suspects)


def _checked(rules: Retention | None) -> Retention | None:
    return None if rules is None else checked_type(rules, "rules", Retention)
