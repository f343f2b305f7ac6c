"""Preview: what would go, told before anything does."""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from threadline.core.account import Account, Actor
from threadline.core.deletion import DeletionKind, DeletionPreview, ForgettingId, Seal
from threadline.core.person import Identity
from threadline.core.revision import Seen, require_seen
from threadline.core.session import SessionId
from threadline.database.port import Transaction, expect
from threadline.store.audit import note_audit
from threadline.store.deletion import tasks as deletion_tasks
from threadline.store.deletion.person import list_owned, require_senders, tasks_for
from threadline.store.deletion.tasks import Sharer
from threadline.store.people import visibility
from threadline.store.queries import read_session, session_key

_SCAN = 20_000


class _Speech(Struct, frozen=True, kw_only=True):
    """How much a sender said in a session, and whose session it is."""

    id: SessionId
    owner_key: int | None
    lines: int


class _Doomed(Struct, frozen=True, kw_only=True):
    """How much goes with a session."""

    messages: int
    attachments: int


def plan_sessions(
    tx: Transaction, ids: Iterable[SessionId], kind: DeletionKind = DeletionKind.SESSION
) -> DeletionPreview:
    """Tell what would go with these sessions."""
    keys = {id: session_key(tx, id) for id in ids}
    branches = {
        sharer.id for key in keys.values() for sharer in tx.all("list_sharers", Sharer, key=key)
    }
    messages, attachments = _count(tx, keys.values())
    return DeletionPreview(
        kind=kind,
        sessions=tuple(keys),
        branches=tuple(sorted(branches - keys.keys())),
        messages=messages,
        attachments=attachments,
    )


def plan_person(tx: Transaction, who: Identity) -> DeletionPreview:
    """Tell what would go with a person: their sessions, and how many senders they are."""
    senders = require_senders(tx, who)
    owned = [session.id for sender in senders for session in list_owned(tx, sender.key)]
    plan = plan_sessions(tx, owned, DeletionKind.PERSON)
    return DeletionPreview(
        kind=plan.kind,
        sessions=plan.sessions,
        branches=plan.branches,
        messages=plan.messages,
        attachments=plan.attachments,
        senders=len(senders),
    )


def scan_speech(tx: Transaction, who: Identity, after: int) -> tuple[int | None, list[str], int]:
    """Look through a slice of all messages for what a person said in sessions of others.

    Answers where the next slice begins, the sessions, and the number of lines.
    """
    end = expect(tx, "read_last_message", int)
    upto = min(after + _SCAN, end)
    found: set[str] = set()
    lines = 0
    keys = {sender.key for sender in require_senders(tx, who)}
    for key in keys:
        stretch = {"sender_key": key, "after": after, "upto": upto}
        for speech in tx.all("count_speech", _Speech, **stretch):
            if speech.owner_key not in keys:
                found.add(speech.id)
                lines += speech.lines
    return (None if upto >= end else upto), sorted(found), lines


def begin_sessions(
    tx: Transaction, ids: Collection[SessionId], *, by: Actor | None = None
) -> ForgettingId:
    """Begin to forget these sessions; from now on that is written down, and goes on by itself."""
    tasks = [("session", session_key(tx, id)) for id in ids]
    for id in ids:
        note_audit(tx, by, "session.forgotten", id)
    return deletion_tasks.record_deletion(tx, DeletionKind.SESSION, tasks)


def begin_present(
    tx: Transaction,
    ids: Sequence[SessionId],
    *,
    viewer: Account | None = None,
    by: Actor | None = None,
) -> tuple[DeletionPreview, ForgettingId | None]:
    """Begin to forget those of some sessions that are still there; answers what goes.

    To a viewer, a session that they may not see does not exist.
    """
    seen = ids if viewer is None else visibility.list_visible(tx, viewer, ids)
    there = [id for id in ids if id in seen and tx.exists("read_session_key", id=id)]
    plan = plan_sessions(tx, there)
    return plan, begin_sessions(tx, there, by=by) if there else None


def begin_session_deletion(
    tx: Transaction, id: SessionId, *, seen: Seen | None = None, by: Actor | None = None
) -> ForgettingId:
    """Begin to forget a session, or raise `Stale` if its tag is none of those in `seen`."""
    if tx.exists("lock_session", id=id) and seen is not None:
        require_seen(read_session(tx, id).etag, seen, id)
    return begin_sessions(tx, [id], by=by)


def begin_person(tx: Transaction, who: Identity, *, by: Actor | None = None) -> ForgettingId:
    """Begin to forget a person."""
    tasks = tasks_for(tx, require_senders(tx, who))
    id = deletion_tasks.record_deletion(tx, DeletionKind.PERSON, tasks)
    # Whom it was is what shall be forgotten; the number of the certificate says enough.
    note_audit(tx, by, "person.forgotten", str(id))
    return id


def is_known_sender(tx: Transaction, who: Identity) -> bool:
    """Tell whether anybody is known by this id."""
    return bool(visibility.list_person_senders(tx, who))


def find_forgotten(tx: Transaction, ids: Iterable[SessionId], *, seal: Seal) -> set[SessionId]:
    """Tell which of these sessions were forgotten here, so that an import leaves them out."""
    return {id for id in ids if tx.exists("find_tombstone", hash=seal.mark("session", id))}


def find_forgotten_native(tx: Transaction, source: str, id: str, *, seal: Seal) -> bool:
    """Tell whether a session of another program was forgotten after it had been brought in."""
    return tx.exists("find_tombstone", hash=seal.mark("native", source, id))


def _count(tx: Transaction, keys: Iterable[int]) -> tuple[int, int]:
    counts = [expect(tx, "count_doomed", _Doomed, session_key=key) for key in keys]
    return sum(one.messages for one in counts), sum(one.attachments for one in counts)
