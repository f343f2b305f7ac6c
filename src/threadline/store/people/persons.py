"""Persons: which senders are one, and what they are called. Joining them merges no sessions."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.account import OWNER_NAME, TERMINAL_CHAT, Actor
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.person import Identity, KnownSender, Person, PersonKey, Viewer
from threadline.core.revision import Seen, require_seen
from threadline.core.route import canonical_sender
from threadline.core.validation import checked_text, clean_title
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.people.address_book import add_sender, remember_address
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.visibility import (
    find_sender_by_id,
    list_person_senders,
    sender_key_of,
)
from threadline.store.session_writer import add_global_event


class StoredPerson(Struct, frozen=True, kw_only=True):
    """A person without their senders."""

    key: PersonKey
    name: str | None
    made_at: datetime


class LinkedSender(Struct, frozen=True, kw_only=True):
    """One of the senders of a person."""

    key: int
    person: PersonKey
    sender: KnownSender


class LockedSender(Struct, frozen=True, kw_only=True):
    """A sender whom a transaction has locked, and the wrong link codes that they sent."""

    key: int
    person_key: PersonKey | None
    wrong_codes: int
    wrong_since: datetime | None


def people(tx: Transaction, *, after: int, most: int) -> list[Person]:
    """List those who speak through several senders, in the order in which they were joined."""
    persons = tx.all("list_persons", StoredPerson, after=after, most=most)
    last = persons[-1].key if persons else after
    senders: dict[int, list[LinkedSender]] = {}
    for sender in tx.all("list_linked_senders", LinkedSender, after=after, last=last):
        senders.setdefault(sender.person, []).append(sender)
    return [_person(one, senders.get(one.key, [])) for one in persons]


def person_of(tx: Transaction, identity: Identity) -> Person | None:
    """Tell which person a sender is; None: nobody that we know of, and never a guess."""
    senders = list_person_senders(tx, identity)
    key = senders[0].person_key if senders else None
    return None if key is None else read_person(tx, key)


def read_person(tx: Transaction, key: PersonKey) -> Person:
    """Read a person."""
    person = tx.one("read_person", StoredPerson, key=key)
    if person is None:
        raise NotFound("There is no such person", id=str(key))
    return _person(person, list_linked_senders(tx, key))


def list_linked_senders(tx: Transaction, key: PersonKey) -> list[LinkedSender]:
    """List the senders of a person, the first one who spoke first."""
    return tx.all("list_senders_of_person", LinkedSender, person_key=key)


def rename_person(
    tx: Transaction, key: PersonKey, name: str, *, by: Actor | None = None, seen: Seen | None = None
) -> Person:
    """Call a person by another name, if they have the one that was seen."""
    cleaned = clean_title(checked_text(name, "name"))
    if not cleaned:
        raise Invalid("A name needs at least one visible character", id=str(key))
    tx.exists("lock_person", key=key)
    require_seen(read_person(tx, key).revision, seen, str(key))
    tx.run("name_person", key=key, name=cleaned)
    person = read_person(tx, key)
    tell_person_changed(tx, key)
    # Not how they are called: that would have to be forgotten with them.
    note_audit(tx, by, "person.renamed", str(key))
    return person


def join_people(
    tx: Transaction, one: Identity, other: Identity, *, by: Actor | None = None
) -> Person:
    """Make two senders one person, as somebody who knows that they are."""
    keys = [sender_key_named(tx, identity) for identity in (one, other)]
    if keys[0] == keys[1]:
        raise Invalid("Both are the same sender", id=str(one))
    key = join_senders(tx, keys[0], keys[1])
    note_audit(tx, by, "person.joined", str(key))
    return read_person(tx, key)


def join_senders(tx: Transaction, one: int, other: int) -> PersonKey:
    """Make two senders one person; if each was one already, the older one stays."""
    senders = [expect(tx, "take_sender", LockedSender, key=key) for key in sorted({one, other})]
    persons = sorted({one.person_key for one in senders if one.person_key is not None})
    locked = [tx.one("lock_person", StoredPerson, key=key) for key in persons]
    person_key = persons[0] if persons else _add_person(tx)
    for gone in persons[1:]:
        tx.run("merge_persons", from_key=gone, to_key=person_key)
        tx.run("drop_person", key=gone)
    for sender in senders:
        tx.run("set_person", key=sender.key, person_key=person_key)
    called = [one.name for one in locked if one is not None and one.name is not None]
    tx.run("name_person", key=person_key, name=called[0] if called else _name(tx, person_key))
    tell_person_changed(tx, person_key)
    return person_key


def _add_person(tx: Transaction) -> PersonKey:
    return expect(tx, "add_person", PersonKey, name=None, now=stamp(tx.now))


def tell_person_changed(tx: Transaction, key: int) -> None:
    """Add to the feed that a person has other senders than before, or another name."""
    add_global_event(tx, EventKind.PERSON_CHANGED, key)


def set_members(tx: Transaction, keys: Sequence[int], person_key: PersonKey | None) -> None:
    """Let these senders be one person from now on, or nobody's if there is only one of them."""
    if len(keys) == 1:
        tx.run("set_person", key=keys[0], person_key=None)
        return
    if person_key is None:
        person_key = _add_person(tx)
    for key in keys:
        tx.run("set_person", key=key, person_key=person_key)
    if expect(tx, "read_person", StoredPerson, key=person_key).name is None:
        tx.run("name_person", key=person_key, name=_name(tx, person_key))


def sender_key_named(tx: Transaction, identity: Identity) -> int:
    """Find a sender who must be known."""
    here = Address(platform=identity.platform, kind=Kind.DM)
    key = sender_key_of(tx, here, Sender(id=identity.id))
    if key is None:
        raise NotFound("Nobody is known by that id", id=str(identity), hint="Have they spoken yet?")
    return key


def remember_sender(tx: Transaction, address: Address, sender: Sender) -> int:
    """Find whoever gives a command, or remember them; refuse somebody without an id."""
    address, sender = resolve_aliases(tx, address, sender)
    id = canonical_sender(address.platform, sender)
    if id is None:
        raise Refused(
            "It is not known who you are here",
            id=address.platform,
            hint="The app gave no id with your message",
        )
    found = find_sender_by_id(tx, address.platform, id)
    if found is not None:
        return found.key
    return add_sender(tx, address.platform, id, sender.name)


def remember_asker(tx: Transaction, asker: Viewer) -> tuple[int | None, int]:
    """Return the keys of the sender who asks and of the address, storing them if they are new.

    A sender without an id has no key. An owner without an address is at the terminal. Call it
    before a session is locked.
    """
    address, sender = asker.address, asker.sender
    if address is None:
        address = Address(platform=LOCAL, kind=Kind.DM, chat=TERMINAL_CHAT)
        sender = Sender(id=OWNER_NAME)
    is_known = canonical_sender(address.platform, sender) is not None
    key = remember_sender(tx, address, sender) if is_known else None
    return key, remember_address(tx, address)


def _name(tx: Transaction, person_key: PersonKey) -> str | None:
    """Return the first name that is known of a person's senders."""
    senders = list_linked_senders(tx, person_key)
    return next((one.sender.name for one in senders if one.sender.name), None)


def _person(person: StoredPerson, senders: Sequence[LinkedSender]) -> Person:
    return Person(
        key=person.key,
        name=person.name,
        made_at=person.made_at,
        senders=tuple(one.sender for one in senders),
    )
