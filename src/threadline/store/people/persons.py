"""Persons: which senders are one, and what they are called. Joining them merges no sessions."""

from collections.abc import Sequence

from threadline.core.account import OWNER_NAME, TERMINAL_CHAT, Actor
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.person import Identity, KnownSender, Person, PersonKey, Viewer
from threadline.core.revision import Seen, require_seen
from threadline.core.route import canonical_sender
from threadline.core.validation import checked_text, clean_title
from threadline.database.port import Row, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.people.address_book import NEVER_SEEN, add_sender, remember_address
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.visibility import find_sender, list_person_senders
from threadline.store.session_writer import add_global_event


def people(tx: Transaction, *, after: int, most: int) -> list[Person]:
    """List those who speak through several senders, in the order in which they were joined."""
    rows = tx.all("list_persons", after=after, most=most)
    last = rows[-1].number("key") if rows else after
    senders: dict[int, list[Row]] = {}
    for row in tx.all("list_linked_senders", after=after, last=last):
        senders.setdefault(row.number("person_key"), []).append(row)
    return [_person(row, senders.get(row.number("key"), [])) for row in rows]


def person_of(tx: Transaction, identity: Identity) -> Person | None:
    """Tell which person a sender is; None: nobody that we know of, and never a guess."""
    senders = list_person_senders(tx, identity)
    key = senders[0].number_or_none("person_key") if senders else None
    return None if key is None else read_person(tx, PersonKey(key))


def read_person(tx: Transaction, key: PersonKey) -> Person:
    """Read a person."""
    row = tx.one("read_person", key=key)
    if row is None:
        raise NotFound("There is no such person", id=str(key))
    return _person(row, tx.all("list_senders_of_person", person_key=key))


def rename_person(
    tx: Transaction, key: PersonKey, name: str, *, by: Actor | None = None, seen: Seen | None = None
) -> Person:
    """Call a person by another name, if they have the one that was seen."""
    cleaned = clean_title(checked_text(name, "name"))
    if not cleaned:
        raise Invalid("A name needs at least one visible character", id=str(key))
    tx.one("lock_person", key=key)
    require_seen(read_person(tx, key).revision, seen, str(key))
    tx.run("name_person", key=key, name=cleaned)
    person = read_person(tx, key)
    tell_person_changed(tx, key)
    # Not how they are called: that would have to be forgotten with them.
    note_audit(tx, by, "person.renamed", str(key))
    return person


def join(tx: Transaction, one: Identity, other: Identity, *, by: Actor | None = None) -> Person:
    """Make two senders one person, as somebody who knows that they are."""
    keys = [sender_key_named(tx, identity) for identity in (one, other)]
    if keys[0] == keys[1]:
        raise Invalid("Both are the same sender", id=str(one))
    key = join_senders(tx, keys[0], keys[1])
    note_audit(tx, by, "person.joined", str(key))
    return read_person(tx, key)


def join_senders(tx: Transaction, one: int, other: int) -> PersonKey:
    """Make two senders one person; if each was one already, the older one stays."""
    senders = [expect(tx, "take_sender", key=key) for key in sorted({one, other})]
    persons = sorted({row.number("person_key") for row in senders if row["person_key"] is not None})
    names = [tx.one("lock_person", key=key) for key in persons]
    if persons:
        person_key = persons[0]
    else:
        person_key = expect(tx, "add_person", name=None, now=stamp(tx.now)).number("key")
    for gone in persons[1:]:
        tx.run("merge_persons", from_key=gone, to_key=person_key)
        tx.run("drop_person", key=gone)
    for sender in senders:
        tx.run("set_person", key=sender.number("key"), person_key=person_key)
    called = [row["name"] for row in names if row is not None and row["name"] is not None]
    tx.run("name_person", key=person_key, name=called[0] if called else _name(tx, person_key))
    tell_person_changed(tx, person_key)
    return PersonKey(person_key)


def tell_person_changed(tx: Transaction, key: int) -> None:
    """Add to the feed that a person has other senders than before, or another name."""
    add_global_event(tx, EventKind.PERSON_CHANGED, key)


def set_members(tx: Transaction, keys: Sequence[int], person_key: int | None) -> None:
    """Let these senders be one person from now on, or nobody's if there is only one of them."""
    if len(keys) == 1:
        tx.run("set_person", key=keys[0], person_key=None)
        return
    if person_key is None:
        person_key = expect(tx, "add_person", name=None, now=stamp(tx.now)).number("key")
    for key in keys:
        tx.run("set_person", key=key, person_key=person_key)
    if expect(tx, "read_person", key=person_key)["name"] is None:
        tx.run("name_person", key=person_key, name=_name(tx, person_key))


def sender_key_named(tx: Transaction, identity: Identity) -> int:
    """Find a sender who must be known."""
    row = _find(tx, identity)
    if row is None:
        raise NotFound("Nobody is known by that id", id=str(identity), hint="Have they spoken yet?")
    return row.number("key")


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
    row = tx.one("find_sender", platform=address.platform, id=id)
    if row is not None:
        return row.number("key")
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


def _find(tx: Transaction, identity: Identity) -> Row | None:
    here = Address(platform=identity.platform, kind=Kind.DM)
    return find_sender(tx, *resolve_aliases(tx, here, Sender(id=identity.id)))


def _name(tx: Transaction, person_key: int) -> str | None:
    """Answer the first name that is known of a person's senders."""
    rows = tx.all("list_senders_of_person", person_key=person_key)
    return next((row.text("name") for row in rows if row["name"]), None)


def _person(row: Row, senders: Sequence[Row]) -> Person:
    return Person(
        key=PersonKey(row.number("key")),
        name=row.text_or_none("name"),
        made_at=row.moment("made_at"),
        senders=tuple(_sender(sender) for sender in senders),
    )


def _sender(row: Row) -> KnownSender:
    return KnownSender(
        identity=Identity(platform=row.text("platform"), id=row.text("id")),
        name=row.text_or_none("name"),
        first_seen_at=None if row["first_seen_at"] == NEVER_SEEN else row.moment("first_seen_at"),
    )
