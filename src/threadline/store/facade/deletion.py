"""Deletion: plans, forgetting in slices, and certificates."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from threadline.core.account import Actor
from threadline.core.deletion import (
    Certificate,
    DeletionPreview,
    ForgettingId,
    Seal,
    checked_forgetting_id,
)
from threadline.core.errors import StorageError
from threadline.core.person import Identity
from threadline.core.revision import Seen
from threadline.core.session import SessionId, checked_session_id, checked_session_ids
from threadline.core.validation import COUNT_LIMIT, checked_count, checked_id, checked_type
from threadline.store.deletion import preview, reapply, tasks
from threadline.store.deletion.runner import forget_some
from threadline.store.facade.connection import StoreConnection

Progress: TypeAlias = Callable[[int], None]
"""Is told how many slices were carried out."""

_MARKS = 200


class DeletionMethods(StoreConnection):
    """Forgetting sessions and people for good."""

    async def plan_forgetting(self, ids: Sequence[SessionId]) -> DeletionPreview:
        """Tell what would go with these sessions, without changing anything."""
        return await self._db.read(preview.plan_sessions, _each_once(ids))

    async def plan_forgetting_person(self, who: Identity) -> DeletionPreview:
        """Tell what would go with a person, without changing anything."""
        plan = await self._db.read(preview.plan_person, checked_type(who, "person", Identity))
        shared: set[str] = set()
        lines, after = 0, 0
        while True:
            following, found, count = await self._db.read(preview.scan_speech, who, after)
            shared.update(found)
            lines += count
            if following is None:
                break
            after = following
        return replace(
            plan,
            shared=tuple(SessionId(id) for id in sorted(shared)),
            messages=plan.messages + lines,
        )

    async def forget_sessions(
        self,
        ids: Sequence[SessionId],
        *,
        by: Actor | None = None,
        progress: Progress | None = None,
    ) -> Certificate:
        """Forget sessions: rows, attachments, index, journal and free pages.

        What runs there is stopped first. Branches lose the history they shared with it. If the
        certificate is not done, somebody was reading an older state; `go_on_forgetting` finishes.
        """
        id = await self._db.write(preview.begin_sessions, _each_once(ids), by=by)
        return await self.go_on_forgetting(id, progress=progress)

    async def forget_present(
        self, ids: Sequence[SessionId], *, by: Actor | None = None
    ) -> DeletionPreview:
        """Forget those of some sessions that are still there; answers what went.

        For a request, those that its user may see.
        """
        plan, id = await self._db.write(
            preview.begin_present, _each_once(ids), viewer=self._viewer, by=by
        )
        if id is not None:
            await self.go_on_forgetting(id)
        return plan

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
        begun = await self._db.write(
            preview.begin_session_deletion, checked_session_id(id), seen=seen, by=by
        )
        return await self.go_on_forgetting(begun, progress=progress)

    async def forget_person(
        self, who: Identity, *, by: Actor | None = None, progress: Progress | None = None
    ) -> Certificate:
        """Forget a person: their sessions, what they said elsewhere, and what they were answered.

        All senders that are linked to the one that is named go together.
        """
        checked_type(who, "person", Identity)
        id = await self._db.write(preview.begin_person, who, by=by)
        return await self.go_on_forgetting(id, progress=progress)

    async def go_on_forgetting(
        self, id: ForgettingId, *, progress: Progress | None = None
    ) -> Certificate:
        """Carry a forgetting on to its end, also one that was interrupted.

        It has been decided, so whether its user may see the session is not asked again.
        """
        await self._remove(checked_forgetting_id(id), progress)
        is_wiped = await self._db.wipe()
        await self._remove_outputs(id)
        if not is_wiped:
            return await self._unchecked.read(tasks.certificate, id)
        return await self._unchecked.write(tasks.finish_deletion, id)

    async def _remove(self, id: ForgettingId, progress: Progress | None = None) -> None:
        """Remove rows, slice by slice, so that others can write in between."""
        seal = Seal(key=await self._db.secret())
        slices = 0
        while await self._unchecked.write(forget_some, id, seal=seal):
            slices += 1
            if progress is not None:
                progress(slices)

    async def _remove_outputs(self, id: ForgettingId) -> None:
        """Delete the files that were written of what goes; they are known until that is done."""
        while sessions := await self._unchecked.read(tasks.list_outputs, id):
            if self._drop_outputs is not None:
                await self._drop_outputs(sessions)
            await self._unchecked.write(tasks.end_outputs, id, sessions)

    async def finish_forgettings(self) -> list[Certificate]:
        """Carry on every forgetting that is under way; answers their certificates.

        One that fails, as a file cannot be deleted, keeps no other from its end.
        """
        done: list[Certificate] = []
        failures: list[StorageError] = []
        for id in await self._db.read(tasks.list_unfinished):
            try:
                done.append(await self.go_on_forgetting(id))
            except StorageError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        return done

    async def tombstones(self) -> list[str]:
        """Read the keyed hashes of everything that was forgotten here."""
        marks: list[str] = []
        while page := await self._db.read(reapply.list_marks, marks[-1] if marks else ""):
            marks += page
        return marks

    async def forget_again(self, marks: Iterable[str]) -> list[Certificate]:
        """Forget what came back although it has one of these tombstones, which were not known here.

        Call it after a restore, with the tombstones of the store that was replaced.
        """
        seal = Seal(key=await self._db.secret())
        given = frozenset(checked_id(mark, "tombstone") for mark in marks)
        new = await self._db.read(reapply.find_new_tombstones, given)
        done: list[Certificate] = []
        after: int | None = 0
        while after is not None:
            people, after = await self._db.read(reapply.find_people, new, after, seal=seal)
            # Another sender of the same person may have gone just before.
            done += [
                await self.forget_person(who)
                for who in people
                if await self._db.read(preview.is_known_sender, who)
            ]
        after = 0
        while after is not None:
            sessions, after = await self._db.read(reapply.find_sessions, new, after, seal=seal)
            done += [await self.forget_sessions(sessions)] if sessions else []
        return done + await self._keep_marks(sorted(new))

    async def _keep_marks(self, marks: Sequence[str]) -> list[Certificate]:
        id: ForgettingId | None = None
        for first in range(0, len(marks), _MARKS):
            page = frozenset(marks[first : first + _MARKS])
            id = await self._db.write(reapply.keep_marks, page, id)
        return [] if id is None else [await self.go_on_forgetting(id)]

    async def certificate(self, id: ForgettingId) -> Certificate:
        """Read what a forgetting removed, and whether it is done."""
        return await self._db.read(tasks.certificate, checked_forgetting_id(id))

    async def certificates(self, most: int = 50, *, before: int = COUNT_LIMIT) -> list[Certificate]:
        """Read the newest certificates, or those before one of them."""
        most = checked_count(most, "number of certificates", 1)
        before = checked_count(before, "certificate")
        return await self._db.read(tasks.list_certificates, before=before, most=most)

    async def find_forgotten(self, ids: Iterable[SessionId]) -> set[SessionId]:
        """Tell which of these sessions were forgotten here, so that an import leaves them out."""
        seal = Seal(key=await self._db.secret())
        return await self._db.read(preview.find_forgotten, _each_once(ids), seal=seal)


def _each_once(ids: Iterable[SessionId]) -> list[SessionId]:
    return list(dict.fromkeys(checked_session_ids(ids)))
