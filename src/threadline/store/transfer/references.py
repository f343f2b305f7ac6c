"""References: the places, people and projects that an import brings along.

What the store knows already stays as it is. Above all, no file can say that somebody whom the
store knows is also somebody else: who they are decides what they may see.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from threadline.core.export_format.files import (
    PortableAddress,
    PortablePerson,
    PortableProject,
    PortableSender,
    SenderReference,
)
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp


def place_key(tx: Transaction, place: PortableAddress) -> int:
    """Answer the key of a place, which is remembered if it is new."""
    identity: dict[str, SqlValue] = {
        "platform": place.platform,
        "account": place.account,
        "kind": place.kind,
        "chat": place.chat,
        "thread": place.thread or "",
    }
    row = tx.one("find_address", **identity)
    if row is None:
        labels: dict[str, SqlValue] = {
            name: getattr(place, name)
            for name in ("alt_chat", "parent", "scope", "chat_name", "topic")
        }
        tx.run("remember_place", **identity, **labels)
        row = expect(tx, "find_address", **identity)
    return row.number("key")


class ImportedSenders(Struct, frozen=True, kw_only=True):
    """Senders that an import needs."""

    keys: tuple[tuple[SenderReference, int], ...]
    made: frozenset[SenderReference]
    """Those whom the store had not known: only of them a file may tell who else they are."""


def bring_senders(
    tx: Transaction, senders: Sequence[PortableSender], made: AbstractSet[SenderReference]
) -> ImportedSenders:
    """Make sure that senders are known; `made` are those whom this import brought before."""
    fresh: set[SenderReference] = set()
    keys = []
    for sender in senders:
        who = SenderReference(platform=sender.platform, id=sender.id)
        if sender.person is not None:
            fresh |= _bring_person(tx, sender.person)
        key = _remember(tx, who, sender, fresh)
        if who in fresh or who in made:
            _bring_aliases(tx, sender, key)
        keys.append((who, key))
    return ImportedSenders(keys=tuple(keys), made=frozenset(fresh))


def _remember(
    tx: Transaction, who: SenderReference, sender: PortableSender, fresh: set[SenderReference]
) -> int:
    first_seen_at = stamp(sender.first_seen_at)
    row = tx.one(
        "remember_sender",
        platform=who.platform,
        id=who.id,
        name=sender.name,
        first_seen_at=first_seen_at,
    )
    if row is not None:
        fresh.add(who)
        return row.number("key")
    key = expect(tx, "find_sender", platform=who.platform, id=who.id).number("key")
    tx.run("complete_sender", key=key, name=sender.name, first_seen_at=first_seen_at)
    return key


def _bring_aliases(tx: Transaction, sender: PortableSender, key: int) -> None:
    for alias in sender.aliases:
        # Somebody who is known by that id is not made somebody else.
        if tx.one("find_sender", platform=sender.platform, id=alias.id) is None:
            tx.run(
                "bring_alias",
                platform=sender.platform,
                id=alias.id,
                sender_key=key,
                learned_at=stamp(alias.learned_at),
            )


def _bring_person(tx: Transaction, person: PortablePerson) -> set[SenderReference]:
    """Store a person whose senders are all new; answer these. Who is known is joined to nobody."""
    if any(_is_known(tx, each) for each in person.senders):
        return set()
    made_at = stamp(person.made_at)
    person_key = expect(tx, "add_person", name=person.name, now=made_at).number("key")
    for each in person.senders:
        row = tx.one(
            "remember_sender",
            platform=each.platform,
            id=each.id,
            name=None,
            first_seen_at=made_at,
        )
        if row is not None:
            tx.run("set_person_of_sender", key=row.number("key"), person_key=person_key)
    return set(person.senders)


def _is_known(tx: Transaction, who: SenderReference) -> bool:
    known = tx.one("find_sender", platform=who.platform, id=who.id)
    return known is not None or tx.one("find_alias", platform=who.platform, id=who.id) is not None


def bring_project(tx: Transaction, project: PortableProject) -> None:
    """Make sure that a project is there; the one for scheduled runs is there once."""
    tx.run(
        "bring_project",
        profile=project.profile,
        name=project.name,
        color=project.color,
        kind=project.kind,
        made_at=stamp(project.made_at),
    )


def project_key(tx: Transaction, profile: str, name: str | None) -> int | None:
    """Find the project of a session; under another name it can only be the scheduled one."""
    if name is None:
        return None
    row = tx.one("find_exported_project", profile=profile, name=name)
    if row is None:
        row = tx.one("find_project_of_runs", profile=profile)
    return None if row is None else row.number("key")
