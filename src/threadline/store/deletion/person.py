"""A person who goes: their sessions as a whole, and in shared ones what they said and were told."""

from collections.abc import Iterable

from msgspec import Struct

from threadline.core.budget import CapKind
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.database.port import Transaction, expect
from threadline.store.accounts.accounts import forget_account
from threadline.store.audit import forget_subject
from threadline.store.deletion.session import OwedReply, OwedWords, drop_owed
from threadline.store.deletion.tasks import DeletionSlice, Task
from threadline.store.jobs.jobs import forget_jobs
from threadline.store.people import visibility
from threadline.store.people.grants import forget_access
from threadline.store.people.persons import tell_person_changed
from threadline.store.people.visibility import PersonSender
from threadline.store.session_writer import add_global_event
from threadline.store.turns.deferred_commands import forget_waiting

_SCAN = 4_000
"""Messages that are looked through in one slice."""
_OVERLAP = 1_000
"""Newest messages that are looked through again at the end: a slow writer may have been behind."""
_ROWS = 300
_NAME_DIGITS = 32


class SessionOfSender(Struct, frozen=True, kw_only=True):
    """A session that belongs to a sender."""

    key: int
    id: SessionId


class _Name(Struct, frozen=True, kw_only=True):
    """An id under which a platform knows somebody."""

    platform: str
    id: str


class _Sender(_Name, frozen=True, kw_only=True):
    """A sender whom a transaction has locked."""

    key: int
    person_key: int | None


def require_senders(tx: Transaction, who: Identity) -> list[PersonSender]:
    """List everybody who is the same person; nobody we know of is an error, never a guess."""
    senders = visibility.list_person_senders(tx, who)
    if not senders:
        raise NotFound("Nobody is known by this id", id=str(who))
    return senders


def tasks_for(tx: Transaction, senders: list[PersonSender]) -> list[tuple[str, int | str]]:
    """List what goes with these senders as a whole; what they said elsewhere is found later."""
    tasks: list[tuple[str, int | str]] = []
    for sender in senders:
        tasks.append(("sender", sender.key))
        tasks += [("session", owned.key) for owned in list_owned(tx, sender.key)]
    return tasks


def list_owned(tx: Transaction, sender_key: int) -> list[SessionOfSender]:
    """List the sessions that belong to a sender."""
    return tx.all("list_owned", SessionOfSender, sender_key=sender_key)


def look_for_speech(work: DeletionSlice) -> bool:
    """Look through a slice of all messages for what they said; False when all were seen."""
    tx = work.tx
    end = expect(tx, "read_last_message", int)
    task = tx.one("next_unseen_task", Task, forgetting_id=work.id, step="sender", end=end)
    if task is None:
        return False
    upto = min(task.seen + _SCAN, end)
    _note_speech(work, task.key, task.seen, upto)
    _note_seen(work, task.subject, upto)
    return True


def _note_speech(work: DeletionSlice, sender_key: int, after: int, upto: int) -> bool:
    keys = work.tx.all("scan_speech", int, sender_key=sender_key, after=after, upto=upto)
    for key in keys:
        work.add_task("speech", key)
    return bool(keys)


def _note_seen(work: DeletionSlice, subject: str, seen: int) -> None:
    work.tx.run("note_seen", forgetting_id=work.id, step="sender", subject=subject, seen=seen)


def empty_address(work: DeletionSlice, key: int) -> None:
    """Remove the identity of a direct chat that no session uses any more."""
    _hold_off_arrivals(work)
    work.tx.exists("lock_address", key=key)
    if not work.tx.exists("find_session_at", address_key=key):
        work.tx.run("empty_address", key=key, chat=_nameless(work, "address", key))
        drop_owed(work, work.tx.all("list_words_at", OwedWords, address_key=key))
        if work.tx.exists("drop_homes_at", address_key=key):
            add_global_event(work.tx, EventKind.HOME_CHANGED, key)
        work.counts["addresses"] += 1


def remove_sender(work: DeletionSlice, subject: str, seen: int) -> bool:
    """Leave of a sender only that there was one; False if there is still something of theirs."""
    tx, key = work.tx, int(subject)
    _hold_off_arrivals(work)
    if _drop_answers(work, key) or _drop_observations(work, key):
        return False
    # Before it is looked whether they spoke again: a job would do so in their name. And before
    # the sender is locked, of whom a job that just starts wants to know.
    work.counts["jobs"] += forget_jobs(tx, key)
    sender = tx.one("lock_sender", _Sender, key=key)
    if sender is None:
        return True
    if tx.exists("list_jobs_of_sender", sender_key=key):
        return False
    if tx.exists("list_words_for", sender_key=key, most=1):
        return False
    if _has_come_back(work, key, subject, seen):
        return False
    if tx.exists("anonymise_spending", sender_key=key, most=_ROWS):
        return False
    aliases = tx.all("list_aliases_of", _Name, sender_key=key)
    for alias in aliases:
        work.bury("sender", alias.platform, alias.id)
    _forget_names(work, (*aliases, sender))
    forget_waiting(tx, sender.platform, {sender.id, *(alias.id for alias in aliases)})
    nameless = _nameless(work, "account", key)
    work.counts["accounts"] += forget_account(tx, sender.platform, sender.id, nameless)
    work.bury("sender", sender.platform, sender.id)
    for one in (*aliases, sender):
        tx.run("drop_early_changes_of", platform=one.platform, sender_id=one.id)
    tx.run("drop_aliases", sender_key=key)
    tx.run("drop_link_codes", sender_key=key)
    tx.run("disown_allowances", sender_key=key)
    # A route names whoever speaks on it, also where it leads to somebody else's session.
    tx.run("drop_bindings_of_sender", sender_key=key)
    tx.run("empty_sender", key=key, id=_nameless(work, "sender", key), now=work.at)
    _drop_warnings(tx, f"sender {key}")
    if sender.person_key is not None:
        tx.run("drop_empty_person", key=sender.person_key)
        tell_person_changed(tx, sender.person_key)
        _drop_warnings(tx, f"person {sender.person_key}")
    work.counts["senders"] += 1
    return True


def _hold_off_arrivals(work: DeletionSlice) -> None:
    """Wait for what the person is just sending, and hold off new messages until the commit.

    A message that had found the sender or the chat before would be stored under the nameless rest.
    """
    for one in work.tx.all("list_forgotten_senders", _Name, forgetting_id=work.id):
        work.tx.run("lock_arrivals_of_sender", platform=one.platform, sender_id=one.id)


def _forget_names(work: DeletionSlice, known: Iterable[_Name]) -> None:
    """Let somebody in no more under their names, and take those out of what was written down."""
    for one in known:
        forget_access(work.tx, one.platform, one.id)
        forget_subject(work.tx, f"{one.platform}:{one.id}")
    # An answer may name them: a member who was added, or somebody who was let in.
    work.tx.run("hush_outcomes_of_any")


def _drop_answers(work: DeletionSlice, key: int) -> bool:
    """Delete a slice of what is owed to them for a command; False when there is nothing."""
    owed = work.tx.all("list_words_for", OwedReply, sender_key=key, most=_ROWS)
    for words in owed:
        drop_owed(work, [words])
        if words.session_key is not None:
            opened = work.open(words.session_key)
            if opened is not None:
                with opened as writer:
                    writer.tell(EventKind.SESSION_CHANGED)
    return bool(owed)


def _drop_observations(work: DeletionSlice, key: int) -> bool:
    """Delete a slice of what they said between others in groups; False when there is nothing."""
    dropped = work.tx.all("drop_observations_of", int, sender_key=key, most=_ROWS)
    work.counts["messages"] += len(dropped)
    return bool(dropped)


def _nameless(work: DeletionSlice, what: str, key: int) -> str:
    """Make a name for what is left of something; nobody can take it before, to be in the way."""
    return f"forgotten {work.seal.mark(f'nameless {what}', str(key))[:_NAME_DIGITS]}"


def _drop_warnings(tx: Transaction, subject: str) -> None:
    for cap in CapKind:
        tx.run("drop_spend_warnings", cap=cap, subject=subject)


def _has_come_back(work: DeletionSlice, key: int, subject: str, seen: int) -> bool:
    """Tell whether they spoke again meanwhile; then that goes too."""
    owned = list_owned(work.tx, key)
    for session in owned:
        work.add_task("session", session.key)
    if owned:
        # A new message may get the key of one that was deleted.
        _note_seen(work, subject, 0)
        return True
    end = expect(work.tx, "read_last_message", int)
    return _note_speech(work, key, max(0, seen - _OVERLAP), end)
