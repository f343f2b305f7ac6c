"""Tasks: what is being forgotten, what is still to be removed, and what was."""

import json
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from threadline.core.deletion import (
    Certificate,
    DeletionKind,
    DeletionState,
    ForgettingId,
    Seal,
    checked_forgetting_id,
)
from threadline.core.errors import NotFound
from threadline.core.session import SessionId, TitleSource
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.session_writer import SessionState, SessionWriter

_MOST_TOMBSTONES = 10_000
_OUTPUTS = 200


class DeletionSlice(Struct, kw_only=True):
    """One slice of a forgetting: its transaction, and what was removed in it."""

    tx: Transaction
    id: ForgettingId
    kind: DeletionKind
    seal: Seal
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def at(self) -> int:
        """The moment of this slice, as the database keeps it."""
        return stamp(self.tx.now)

    def add_task(self, step: str, subject: int | str) -> None:
        """Remember what has to be removed; what is known already stays so."""
        self.tx.run("add_task", forgetting_id=self.id, step=step, subject=str(subject))

    def end_task(self, step: str, subject: str) -> None:
        """Remember that something is gone."""
        self.tx.run("end_task", forgetting_id=self.id, step=step, subject=subject)

    def open(self, key: int) -> SessionWriter | None:
        """Lock a session and begin its writer; None if another forgetting removed it."""
        session = self.tx.one("lock_session_by_key", SessionState, key=key)
        return None if session is None else SessionWriter(self.tx, session)

    def bury(self, kind: str, *names: str) -> None:
        """Leave a tombstone, so that what was forgotten is known if it comes again."""
        mark = self.seal.mark(kind, *names)
        self.tx.run("add_tombstone", hash=mark, forgetting_id=self.id, now=self.at)


class Task(Struct, frozen=True, kw_only=True):
    """What is still to be removed in one step of a forgetting."""

    subject: str
    seen: int
    """How far a table has been looked through."""

    @property
    def key(self) -> int:
        """The subject, where it is the key of a row."""
        return int(self.subject)


class Remains(Struct, frozen=True, kw_only=True):
    """What the forgetting of a session must know of it."""

    key: int
    id: SessionId
    parent_key: int | None
    root_key: int | None
    base_key: int | None
    base_seq: int | None
    base_revision: int | None
    base_depth: int
    native_source: str | None
    native_id: str | None
    revision: int
    sender_key: int | None
    title: str | None
    titled_by: TitleSource | None


class Sharer(Struct, frozen=True, kw_only=True):
    """A session that shares history with another, and how far it sees into that."""

    key: int
    id: SessionId
    reach: int


def record_deletion(
    tx: Transaction, kind: DeletionKind, tasks: Iterable[tuple[str, int | str]]
) -> ForgettingId:
    """Record what is to be forgotten, so that it continues after a crash.

    From the commit on no message enters the sessions that go: it opens a new one, or is refused.
    """
    id = expect(tx, "begin_forgetting", ForgettingId, kind=kind, now=stamp(tx.now))
    _add_tasks(tx, id, tasks)
    _close_doors(tx, id)
    return id


def add_to(tx: Transaction, id: ForgettingId, tasks: Iterable[tuple[str, int | str]]) -> None:
    """Let a forgetting that is not done go on with more."""
    lock_deletion(tx, id)
    tx.run("reopen_forgetting", id=id)
    _add_tasks(tx, id, tasks)
    _close_doors(tx, id)


def _close_doors(tx: Transaction, id: ForgettingId) -> None:
    """Release the routes of the sessions that go, and wait for messages that are on their way in.

    Otherwise a message that another person sends there is acknowledged, and then deleted.
    """
    tx.run("unbind_doomed", forgetting_id=id)
    tx.all("lock_doomed", int, forgetting_id=id)


def _add_tasks(tx: Transaction, id: ForgettingId, tasks: Iterable[tuple[str, int | str]]) -> None:
    tx.run_many(
        "add_task",
        [{"forgetting_id": id, "step": step, "subject": str(subject)} for step, subject in tasks],
    )


def lock_deletion(tx: Transaction, id: ForgettingId) -> Certificate:
    """Take a forgetting for this transaction; its tombstones are left out."""
    return _required(tx.one("lock_forgetting", Certificate, id=id), id)


def _required(found: Certificate | None, id: ForgettingId) -> Certificate:
    if found is None:
        raise NotFound("There is no such forgetting", id=str(id))
    return found


def write_down(work: DeletionSlice, before: Certificate, state: DeletionState) -> None:
    """Keep what this slice removed, and how far the forgetting has come."""
    counts = dict(sorted((Counter(before.counts) + work.counts).items()))
    work.tx.run("set_forgetting", id=work.id, state=state, counts=json.dumps(counts), done_at=None)


def list_outputs(tx: Transaction, id: ForgettingId) -> list[str]:
    """List some of the sessions and names whose files have to be deleted."""
    return tx.all("list_outputs", str, forgetting_id=id, most=_OUTPUTS)


def end_outputs(tx: Transaction, id: ForgettingId, names: Iterable[str]) -> None:
    """Remember that the files of these sessions and names are gone."""
    tx.run_many("end_output", [{"forgetting_id": id, "session_id": one} for one in names])


def finish_deletion(tx: Transaction, id: ForgettingId) -> Certificate:
    """Write down that no trace is left."""
    found = lock_deletion(tx, id)
    if found.state is DeletionState.WIPING:
        done, counts = DeletionState.DONE, json.dumps(found.counts)
        tx.run("set_forgetting", id=id, state=done, counts=counts, done_at=stamp(tx.now))
    return certificate(tx, id)


def certificate(tx: Transaction, id: ForgettingId) -> Certificate:
    """Read what a forgetting removed, and whether it is done."""
    found = tx.one("read_forgetting", Certificate, id=checked_forgetting_id(id))
    return _with_tombstones(tx, _required(found, id))


def list_certificates(tx: Transaction, *, before: int, most: int) -> list[Certificate]:
    """Read the newest forgettings, or those before one of them."""
    found = tx.all("list_forgettings", Certificate, before=before, most=most)
    return [_with_tombstones(tx, one) for one in found]


def list_unfinished(tx: Transaction) -> list[ForgettingId]:
    """List the forgettings that are under way, the oldest first."""
    return tx.all("list_unfinished_forgettings", ForgettingId)


def _with_tombstones(tx: Transaction, found: Certificate) -> Certificate:
    hashes = tx.all("list_tombstones", str, forgetting_id=found.id, most=_MOST_TOMBSTONES)
    return replace(found, tombstones=tuple(hashes))
