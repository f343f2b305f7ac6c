"""References: the places, people and projects that an import brings along.

What the store knows already stays as it is. Above all, no file can say that somebody whom the
store knows is also somebody else: who they are decides what they may see.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from threadline.core.export_format.file_records import (
    PortableAddress,
    PortablePerson,
    PortableProject,
    PortableSender,
    SenderReference,
)
from threadline.core.person import PersonKey
from threadline.core.project import Project
from threadline.core.session import ProjectKey
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.people.visibility import FoundSender


def place_key(tx: Transaction, place: PortableAddress) -> int:
    """Answer the key of a place, which is remembered if it is new."""
    identity: dict[str, SqlValue] = {
        "platform": place.platform,
        "account": place.account,
        "kind": place.kind,
        "chat": place.chat,
        "thread": place.thread or "",
    }
    key = tx.one("find_address", int, **identity)
    if key is None:
        labels: dict[str, SqlValue] = {
            name: getattr(place, name)
            for name in ("alt_chat", "parent", "scope", "chat_name", "topic")
        }
        tx.run("remember_place", **identity, **labels)
        key = expect(tx, "find_address", int, **identity)
    return key


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
    made = tx.one(
        "remember_sender",
        int,
        platform=who.platform,
        id=who.id,
        name=sender.name,
        first_seen_at=first_seen_at,
    )
    if made is not None:
        fresh.add(who)
        return made
    key = expect(tx, "find_sender", FoundSender, platform=who.platform, id=who.id).key
    tx.run("complete_sender", key=key, name=sender.name, first_seen_at=first_seen_at)
    return key


def _bring_aliases(tx: Transaction, sender: PortableSender, key: int) -> None:
    for alias in sender.aliases:
        # Somebody who is known by that id is not made somebody else.
        if not tx.exists("find_sender", platform=sender.platform, id=alias.id):
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
    person_key = expect(tx, "add_person", PersonKey, name=person.name, now=made_at)
    for each in person.senders:
        key = tx.one(
            "remember_sender",
            int,
            platform=each.platform,
            id=each.id,
            name=None,
            first_seen_at=made_at,
        )
        if key is not None:
            tx.run("set_person_of_sender", key=key, person_key=person_key)
    return set(person.senders)


def _is_known(tx: Transaction, who: SenderReference) -> bool:
    is_sender = tx.exists("find_sender", platform=who.platform, id=who.id)
    return is_sender or tx.exists("find_alias", platform=who.platform, id=who.id)


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
    key = tx.one("find_exported_project", ProjectKey, profile=profile, name=name)
    if key is not None:
        return key
    project = tx.one("find_project_of_runs", Project, profile=profile)
    return None if project is None else project.key
