"""People: who is who, and which senders are one person."""

from collections.abc import Collection

from threadline.core.account import Actor
from threadline.core.person import Identity, Person, PersonKey, Viewer, checked_person_key
from threadline.core.revision import Seen
from threadline.core.session import SessionId, checked_session_ids
from threadline.core.validation import checked_type
from threadline.store.facade.connection import StoreConnection
from threadline.store.people import persons, visibility
from threadline.store.person_links import unlink
from threadline.store.person_links.unlink import Parting


class PeopleMethods(StoreConnection):
    """Persons, the codes that join them, and who may see what."""

    async def join(self, one: Identity, other: Identity, *, by: Actor | None = None) -> Person:
        """Make two known senders one person, as somebody who knows that they are."""
        return await self._db.write(
            persons.join_people,
            checked_type(one, "sender", Identity),
            checked_type(other, "sender", Identity),
            by=by,
        )

    async def part(self, identity: Identity, *, by: Actor | None = None) -> Parting | None:
        """Take a known sender out of their person; None if they were not linked with anybody."""
        return await self._db.write(
            unlink.unlink_sender, checked_type(identity, "sender", Identity), by=by
        )

    async def person(self, key: PersonKey) -> Person:
        """Read a person."""
        return await self._db.read(persons.read_person, checked_person_key(key))

    async def rename_person(
        self,
        key: PersonKey,
        name: str,
        *,
        by: Actor | None = None,
        seen: Seen | None = None,
    ) -> Person:
        """Call a person by another name; `seen` are the revisions of which they must have one."""
        return await self._db.write(
            persons.rename_person, checked_person_key(key), name, by=by, seen=seen
        )

    async def seen(self, asker: Viewer, ids: Collection[SessionId]) -> frozenset[SessionId]:
        """Name those of some sessions that an asker may see; the others may not even be there."""
        return await self._db.read(
            visibility.list_seen,
            checked_type(asker, "asker", Viewer),
            checked_session_ids(list(ids)),
        )

    async def seen_by(
        self, askers: Collection[Viewer], ids: Collection[SessionId]
    ) -> dict[Viewer, frozenset[SessionId]]:
        """Name the same for each of many askers, in one read."""
        return await self._db.read(
            visibility.list_seen_by,
            [checked_type(asker, "asker", Viewer) for asker in askers],
            checked_session_ids(list(ids)),
        )
