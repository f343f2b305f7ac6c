"""Forget: sessions and people are deleted slice by slice, so that others can write in between."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from threadline.core.account import Account, Actor
from threadline.core.deletion import Certificate, DeletionPreview, ForgettingId, Seal
from threadline.core.errors import StorageError
from threadline.core.person import Identity
from threadline.core.revision import Seen
from threadline.core.session import SessionId
from threadline.database.port import Database
from threadline.store.authorisation import unchecked
from threadline.store.deletion import after_restore, preview, tasks
from threadline.store.deletion.runner import forget_some

Progress: TypeAlias = Callable[[int], None]
"""Is called with the number of slices that are done."""

_MARKS = 200


async def plan_person(db: Database, who: Identity) -> DeletionPreview:
    """Return what would be deleted with a person, without changing anything."""
    plan = await db.read(preview.plan_person, who)
    shared: set[str] = set()
    lines, after = 0, 0
    while True:
        following, found, count = await db.read(preview.scan_speech, who, after)
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
    db: Database,
    ids: Sequence[SessionId],
    *,
    by: Actor | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Delete sessions: rows, attachments, index, journal and free pages.

    What runs there is stopped first. Branches lose the history they shared with it. If the
    certificate is not done, a reader still had an older state open; `finish_deletion` finishes.
    """
    id = await db.write(preview.begin_sessions, _each_once(ids), by=by)
    return await finish_deletion(db, id, progress=progress)


async def forget_present(
    db: Database,
    ids: Sequence[SessionId],
    *,
    viewer: Account | None = None,
    by: Actor | None = None,
) -> DeletionPreview:
    """Delete those of some sessions that a viewer may see; return what was deleted."""
    plan, id = await db.write(preview.begin_present, _each_once(ids), viewer=viewer, by=by)
    if id is not None:
        await finish_deletion(db, id)
    return plan


async def forget_session(
    db: Database,
    id: SessionId,
    *,
    seen: Seen | None = None,
    by: Actor | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Delete one session.

    `seen` are tags (`Session.etag`). If anything happened to it since then, raise `Stale`.
    """
    begun = await db.write(preview.begin_session_deletion, id, seen=seen, by=by)
    return await finish_deletion(db, begun, progress=progress)


async def forget_person(
    db: Database, who: Identity, *, by: Actor | None = None, progress: Progress | None = None
) -> Certificate:
    """Delete a person: their sessions, what they said elsewhere, and the replies to it.

    All senders that are linked to the one that is named are deleted together.
    """
    id = await db.write(preview.begin_person, who, by=by)
    return await finish_deletion(db, id, progress=progress)


async def finish_deletion(
    db: Database, id: ForgettingId, *, progress: Progress | None = None
) -> Certificate:
    """Carry out a deletion to its end, also one that was interrupted.

    It has been decided, so whether its user may see the session is not checked again.
    """
    db = unchecked(db)
    await remove_rows(db, id, progress)
    is_wiped = await db.wipe()
    await _remove_outputs(db, id)
    if not is_wiped:
        return await db.read(tasks.certificate, id)
    return await db.write(tasks.finish_deletion, id)


async def remove_rows(db: Database, id: ForgettingId, progress: Progress | None = None) -> None:
    """Remove rows, slice by slice, so that others can write in between."""
    db = unchecked(db)
    seal = Seal(key=await db.secret())
    slices = 0
    while await db.write(forget_some, id, seal=seal):
        slices += 1
        if progress is not None:
            progress(slices)


async def _remove_outputs(db: Database, id: ForgettingId) -> None:
    """Delete the files that were written of what goes; they are known until that is done."""
    drop = db.environment.drop_outputs
    while sessions := await db.read(tasks.list_outputs, id):
        if drop is not None:
            await drop(sessions)
        await db.write(tasks.end_outputs, id, sessions)


async def finish_deletions(db: Database) -> list[Certificate]:
    """Carry out every deletion that is under way; return their certificates.

    One that fails, as a file cannot be deleted, does not keep another from its end.
    """
    done: list[Certificate] = []
    failures: list[StorageError] = []
    for id in await db.read(tasks.list_unfinished):
        try:
            done.append(await finish_deletion(db, id))
        except StorageError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return done


async def list_tombstones(db: Database) -> list[str]:
    """Read the keyed hashes of everything that was deleted here."""
    marks: list[str] = []
    while page := await db.read(after_restore.list_marks, marks[-1] if marks else ""):
        marks += page
    return marks


async def forget_again(db: Database, marks: Iterable[str]) -> list[Certificate]:
    """Delete what came back although it has one of these tombstones, which were not known here.

    Call it after a restore, with the tombstones of the store that was replaced.
    """
    seal = Seal(key=await db.secret())
    new = await db.read(after_restore.find_new_tombstones, frozenset(marks))
    done: list[Certificate] = []
    after: int | None = 0
    while after is not None:
        people, after = await db.read(after_restore.find_people, new, after, seal=seal)
        # Another sender of the same person may have gone just before.
        done += [
            await forget_person(db, who)
            for who in people
            if await db.read(preview.is_known_sender, who)
        ]
    after = 0
    while after is not None:
        sessions, after = await db.read(after_restore.find_sessions, new, after, seal=seal)
        done += [await forget_sessions(db, sessions)] if sessions else []
    return done + await _keep_marks(db, sorted(new))


async def _keep_marks(db: Database, marks: Sequence[str]) -> list[Certificate]:
    id: ForgettingId | None = None
    for first in range(0, len(marks), _MARKS):
        page = frozenset(marks[first : first + _MARKS])
        id = await db.write(after_restore.keep_marks, page, id)
    return [] if id is None else [await finish_deletion(db, id)]


def _each_once(ids: Iterable[SessionId]) -> list[SessionId]:
    return list(dict.fromkeys(ids))
