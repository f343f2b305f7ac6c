"""Deletion: plans, forgetting in slices, and certificates."""

from collections.abc import Iterable, Sequence

from threadline.core.account import Actor
from threadline.core.deletion import (
    Certificate,
    DeletionPreview,
    ForgettingId,
    checked_forgetting_id,
)
from threadline.core.person import Identity
from threadline.core.revision import Seen
from threadline.core.session import SessionId, checked_session_id, checked_session_ids
from threadline.core.validation import COUNT_LIMIT, checked_count, checked_type
from threadline.store.deletion import forget, preview, tasks
from threadline.store.deletion.forget import Progress
from threadline.store.facade.connection import StoreConnection


class DeletionMethods(StoreConnection):
    """Forgetting sessions and people for good."""

    async def plan_forgetting(self, ids: Sequence[SessionId]) -> DeletionPreview:
        """Tell what would go with these sessions, without changing anything."""
        return await self._db.read(preview.plan_sessions, _each_once(ids))

    async def plan_forgetting_person(self, who: Identity) -> DeletionPreview:
        """Tell what would go with a person, without changing anything."""
        return await forget.plan_person(self._db, checked_type(who, "person", Identity))

    async def forget_present(
        self, ids: Sequence[SessionId], *, by: Actor | None = None
    ) -> DeletionPreview:
        """Forget those of some sessions that are still there; answers what went.

        For a request, those that its user may see.
        """
        return await forget.forget_present(
            self._db, checked_session_ids(ids), viewer=self._viewer, by=by
        )

    async def forget_session(
        self,
        id: SessionId,
        *,
        seen: Seen | None = None,
        by: Actor | None = None,
        progress: Progress | None = None,
    ) -> Certificate:
        """Forget one session.

        `seen` are tags (`Session.etag`). If anything happened to it since then, raise `Stale`.
        """
        return await forget.forget_session(
            self._db, checked_session_id(id), seen=seen, by=by, progress=progress
        )

    async def forget_person(
        self, who: Identity, *, by: Actor | None = None, progress: Progress | None = None
    ) -> Certificate:
        """Forget a person: their sessions, what they said elsewhere, and what they were answered.

        All senders that are linked to the one that is named go together.
        """
        return await forget.forget_person(
            self._db, checked_type(who, "person", Identity), by=by, progress=progress
        )

    async def go_on_forgetting(
        self, id: ForgettingId, *, progress: Progress | None = None
    ) -> Certificate:
        """Carry a forgetting on to its end, also one that was interrupted.

        It has been decided, so whether its user may see the session is not asked again.
        """
        return await forget.finish_deletion(self._db, checked_forgetting_id(id), progress=progress)

    async def certificates(self, most: int = 50, *, before: int = COUNT_LIMIT) -> list[Certificate]:
        """Read the newest certificates, or those before one of them."""
        most = checked_count(most, "number of certificates", 1)
        before = checked_count(before, "certificate")
        return await self._db.read(tasks.list_certificates, before=before, most=most)


def _each_once(ids: Iterable[SessionId]) -> list[SessionId]:
    return list(dict.fromkeys(checked_session_ids(ids)))
