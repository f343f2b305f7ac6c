"""People: who is who, and which senders are one person."""

from collections.abc import Collection

from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.person import Identity, Person, PersonKey, Viewer, checked_person_key
from threadline.core.revision import Seen
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import SessionId, checked_session_id, checked_session_ids
from threadline.core.validation import checked_id, checked_type
from threadline.store.facade.connection import StoreConnection
from threadline.store.linking import alias_discovery, link_codes, unlink
from threadline.store.linking.link_codes import LinkCode
from threadline.store.linking.unlink import Parting
from threadline.store.people import persons, visibility


class PeopleMethods(StoreConnection):
    """Persons, the codes that join them, and who may see what."""

    async def make_link_code(
        self, address: Address, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> LinkCode:
        """Make a code that joins this sender with whoever sends it from another app.

        It is valid for ten minutes and once. The store keeps only its hash: show it at once.
        """
        return await self._db.write(
            link_codes.make_link_code,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
        )

    async def link(
        self, address: Address, sender: Sender, code: str, *, profile: str = MAIN_PROFILE
    ) -> Person:
        """Join whoever sends a code with whoever was shown it, into one person.

        A code that is not valid is refused without a word on why; five in an hour, and nothing
        more is looked at for an hour.
        """
        return await link_codes.use_link_code(
            self._db,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            code,
            profile=canonical_profile(profile),
        )

    async def unlink(self, address: Address, sender: Sender) -> Parting | None:
        """Let a sender leave their person; None if they were not linked with anybody.

        A session in which both spoke ends and stays with whoever began it; the others begin anew.
        """
        return await self._db.write(
            unlink.unlink,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
        )

    async def join(self, one: Identity, other: Identity, *, by: Actor | None = None) -> Person:
        """Make two known senders one person, as somebody who knows that they are."""
        return await self._db.write(
            persons.join,
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

    async def person_of(self, identity: Identity) -> Person | None:
        """Tell which person a sender is; None: nobody that we know of, and never a guess."""
        return await self._db.read(persons.person_of, checked_type(identity, "sender", Identity))

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

    async def learn_alias(self, platform: str, id: str, same_as: str) -> bool:
        """Go by `same_as` for both ids of one human on a platform; False if that was known."""
        return await self._db.write(
            alias_discovery.merge_aliases,
            checked_id(platform, "platform"),
            checked_id(id, "id"),
            checked_id(same_as, "id"),
        )

    async def may_see(self, asker: Viewer, id: SessionId) -> bool:
        """Tell whether a session is the asker's own, or everybody's in the asker's chat."""
        return await self._db.read(
            visibility.may_see, checked_type(asker, "asker", Viewer), checked_session_id(id)
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
