"""A person who goes: their sessions as a whole, and in shared ones what they said and were told."""

from collections.abc import Iterable

from threadline.core.budget import CapKind
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.database.port import Row, Transaction, expect
from threadline.store.accounts.accounts import forget_account
from threadline.store.audit import forget_subject
from threadline.store.deletion.session import drop_owed
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.jobs.jobs import forget_jobs
from threadline.store.people import visibility
from threadline.store.people.grants import forget_access
from threadline.store.people.persons import tell_person_changed
from threadline.store.session_writer import add_global_event
from threadline.store.turns.deferred_commands import forget_waiting

_SCAN = 4_000
"""Messages that are looked through in one slice."""
_OVERLAP = 1_000
"""Newest messages that are looked through again at the end: a slow writer may have been behind."""
_ROWS = 300
_NAME_DIGITS = 32


def require_senders(tx: Transaction, who: Identity) -> list[Row]:
    """List everybody who is the same person; nobody we know of is an error, never a guess."""
    rows = visibility.list_person_senders(tx, who)
    if not rows:
        raise NotFound("Nobody is known by this id", id=str(who))
    return rows


def tasks_for(tx: Transaction, senders: list[Row]) -> list[tuple[str, int | str]]:
    """List what goes with these senders as a whole; what they said elsewhere is found later."""
    tasks: list[tuple[str, int | str]] = []
    for sender in senders:
        key = sender.number("key")
        tasks.append(("sender", key))
        tasks += [("session", owned.number("key")) for owned in _owned(tx, key)]
    return tasks


def _owned(tx: Transaction, sender_key: int) -> list[Row]:
    return tx.all("list_owned", sender_key=sender_key)


def look_for_speech(work: DeletionSlice) -> bool:
    """Look through a slice of all messages for what they said; False when all were seen."""
    tx = work.tx
    end = expect(tx, "read_last_message").number("key")
    task = tx.one("next_unseen_task", forgetting_id=work.id, step="sender", end=end)
    if task is None:
        return False
    seen = task.number("seen")
    upto = min(seen + _SCAN, end)
    _note_speech(work, int(task.text("subject")), seen, upto)
    _note_seen(work, task.text("subject"), upto)
    return True


def _note_speech(work: DeletionSlice, sender_key: int, after: int, upto: int) -> bool:
    rows = work.tx.all("scan_speech", sender_key=sender_key, after=after, upto=upto)
    for row in rows:
        work.add_task("speech", row.number("session_key"))
    return bool(rows)


def _note_seen(work: DeletionSlice, subject: str, seen: int) -> None:
    work.tx.run("note_seen", forgetting_id=work.id, step="sender", subject=subject, seen=seen)


def empty_address(work: DeletionSlice, key: int) -> None:
    """Remove the identity of a direct chat that no session uses any more."""
    _hold_off_arrivals(work)
    work.tx.one("lock_address", key=key)
    if work.tx.one("find_session_at", address_key=key) is None:
        work.tx.run("empty_address", key=key, chat=_nameless(work, "address", key))
        drop_owed(work, work.tx.all("list_words_at", address_key=key))
        if work.tx.all("drop_homes_at", address_key=key):
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
    sender = tx.one("lock_sender", key=key)
    if sender is None:
        return True
    if tx.one("list_jobs_of_sender", sender_key=key) is not None:
        return False
    if tx.one("list_words_for", sender_key=key, most=1) is not None:
        return False
    if _has_come_back(work, key, subject, seen):
        return False
    if tx.all("anonymise_spending", sender_key=key, most=_ROWS):
        return False
    aliases = tx.all("list_aliases_of", sender_key=key)
    for alias in aliases:
        work.bury("sender", alias.text("platform"), alias.text("id"))
    _forget_names(work, (*aliases, sender))
    forget_waiting(
        tx, sender.text("platform"), {sender.text("id"), *(alias.text("id") for alias in aliases)}
    )
    nameless = _nameless(work, "account", key)
    work.counts["accounts"] += forget_account(tx, sender, nameless)
    work.bury("sender", sender.text("platform"), sender.text("id"))
    for one in (*aliases, sender):
        tx.run("drop_early_changes_of", platform=one.text("platform"), sender_id=one.text("id"))
    tx.run("drop_aliases", sender_key=key)
    tx.run("drop_link_codes", sender_key=key)
    tx.run("disown_allowances", sender_key=key)
    # A route names whoever speaks on it, also where it leads to somebody else's session.
    tx.run("drop_bindings_of_sender", sender_key=key)
    tx.run("empty_sender", key=key, id=_nameless(work, "sender", key), now=work.at)
    _drop_warnings(tx, f"sender {key}")
    person_key = sender.number_or_none("person_key")
    if person_key is not None:
        tx.run("drop_empty_person", key=person_key)
        tell_person_changed(tx, person_key)
        _drop_warnings(tx, f"person {person_key}")
    work.counts["senders"] += 1
    return True


def _hold_off_arrivals(work: DeletionSlice) -> None:
    """Wait for what the person is just sending, and hold off new messages until the commit.

    A message that had found the sender or the chat before would be stored under the nameless rest.
    """
    for one in work.tx.all("list_forgotten_senders", forgetting_id=work.id):
        platform, id = one.text("platform"), one.text("id")
        work.tx.run("lock_arrivals_of_sender", platform=platform, sender_id=id)


def _forget_names(work: DeletionSlice, known: Iterable[Row]) -> None:
    """Let somebody in no more under their names, and take those out of what was written down."""
    for one in known:
        platform, id = one.text("platform"), one.text("id")
        forget_access(work.tx, platform, id)
        forget_subject(work.tx, f"{platform}:{id}")
    # An answer may name them: a member who was added, or somebody who was let in.
    work.tx.run("hush_outcomes_of_any")


def _drop_answers(work: DeletionSlice, key: int) -> bool:
    """Delete a slice of what is owed to them for a command; False when there is nothing."""
    rows = work.tx.all("list_words_for", sender_key=key, most=_ROWS)
    for row in rows:
        drop_owed(work, [row])
        if (session_key := row.number_or_none("session_key")) is not None:
            opened = work.open(session_key)
            if opened is not None:
                with opened as writer:
                    writer.tell(EventKind.SESSION_CHANGED)
    return bool(rows)


def _drop_observations(work: DeletionSlice, key: int) -> bool:
    """Delete a slice of what they said between others in groups; False when there is nothing."""
    dropped = work.tx.all("drop_observations_of", sender_key=key, most=_ROWS)
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
    owned = _owned(work.tx, key)
    for row in owned:
        work.add_task("session", row.number("key"))
    if owned:
        # A new message may get the key of one that was deleted.
        _note_seen(work, subject, 0)
        return True
    end = expect(work.tx, "read_last_message").number("key")
    return _note_speech(work, key, max(0, seen - _OVERLAP), end)
