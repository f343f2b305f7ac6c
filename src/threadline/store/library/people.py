"""People: which senders are one person, who is let in, and who may see what."""

from collections.abc import Sequence

from threadline.core.access import Grant, Pairing, PairingCode
from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.deletion import (
    Certificate,
)
from threadline.core.person import Identity, Person, PersonKey, Viewer, checked_person_key
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import (
    COUNT_LIMIT,
    checked_count,
    checked_id,
    checked_text,
    checked_type,
)
from threadline.store.deletion import forget
from threadline.store.deletion.forget import Progress
from threadline.store.library.group import Group
from threadline.store.people import grants, pairing, persons, visibility
from threadline.store.person_links import alias_discovery, link_codes, unlink
from threadline.store.person_links.link_codes import LinkCode
from threadline.store.person_links.unlink import Parting


class PeopleGroup(Group):
    """Which senders are one person, who is let in, and who may see what."""

    async def make_link_code(
        self, address: Address, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> LinkCode:
        """Return a code that links this sender with the one who sends it from another app.

        It is valid for ten minutes and once. Only its hash is stored: show it at once.

        >>> code = (await store.people.make_link_code(telegram, alice)).code
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
        """Link the sender of a code with the sender it was shown to; return the person.

        A code that is not valid is refused without a reason; after five in an hour none is accepted
        for an hour.

        >>> person = await store.people.link(webhook, same, code)
        """
        return await link_codes.use_link_code(
            self._db,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            code,
            profile=canonical_profile(profile),
        )

    async def get(self, key: PersonKey) -> Person:
        """Return a person.

        >>> await store.people.get(person.key) == person
        True
        """
        return await self._db.read(persons.read_person, checked_person_key(key))

    async def list(self, *, after: int = 0, most: int = COUNT_LIMIT) -> Sequence[Person]:
        """Return the people who speak through several senders, after the person of a key.

        >>> await store.people.list() == [person]
        True
        """
        after, most = checked_count(after, "person"), checked_count(most, "number of people", 1)
        return await self._db.read(persons.people, after=after, most=most)

    async def find(self, identity: Identity) -> Person | None:
        """Return the person that a sender is, or None if that is not known.

        >>> await store.people.find(Identity(platform="telegram", id="7")) == person
        True
        """
        return await self._db.read(persons.person_of, checked_type(identity, "sender", Identity))

    async def may_see(self, asker: Viewer, id: SessionId) -> bool:
        """Return whether a session is the viewer's own, or is shared in the viewer's chat.

        >>> await store.people.may_see(Viewer.owner(), arrival.session_id)
        True
        """
        return await self._db.read(
            visibility.may_see, checked_type(asker, "asker", Viewer), checked_session_id(id)
        )

    async def unlink(self, address: Address, sender: Sender) -> Parting | None:
        """Unlink a sender from their person; None if they were not linked.

        A session in which both spoke ends and stays with the one who began it; the other begins a
        new one.

        >>> parting = await store.people.unlink(webhook, same)
        """
        return await self._db.write(
            unlink.unlink,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
        )

    async def learn_alias(self, platform: str, id: str, same_as: str) -> bool:
        """Treat two ids of one human on a platform as one, `same_as`; False if that was known.

        >>> await store.people.learn_alias("whatsapp", "4915112345@s.whatsapp.net", "98@lid")
        True
        """
        return await self._db.write(
            alias_discovery.merge_aliases,
            checked_id(platform, "platform"),
            checked_id(id, "id"),
            checked_id(same_as, "id"),
        )

    async def allow(
        self,
        identity: Identity,
        *,
        name: str | None = None,
        profile: str = MAIN_PROFILE,
        by: Actor | None = None,
    ) -> Grant:
        """Let a sender in without a code.

        >>> bob = Identity(platform="telegram", id="8")
        >>> grant = await store.people.allow(bob, name="Bob")
        """
        return await self._db.write(
            grants.grant_access,
            checked_type(identity, "sender", Identity),
            None if name is None else checked_text(name, "name"),
            profile=canonical_profile(profile),
            by=by,
        )

    async def grants(self, *, profile: str = MAIN_PROFILE) -> Sequence[Grant]:
        """Return the senders that were let in, beside those whom the settings name.

        >>> await store.people.grants() == [grant]
        True
        """
        return await self._db.read(grants.grants, profile=canonical_profile(profile))

    async def revoke(
        self, identity: Identity, *, profile: str = MAIN_PROFILE, by: Actor | None = None
    ) -> bool:
        """Take back a grant. False if the sender was not let in, and did not ask to be.

        >>> await store.people.revoke(bob)
        True
        """
        return await self._db.write(
            grants.revoke_access,
            checked_type(identity, "sender", Identity),
            profile=canonical_profile(profile),
            by=by,
        )

    async def request_pairing(
        self, platform: str, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> PairingCode | None:
        """Return a code that an unknown sender can show to the owner; None if they may not ask now.

        It is valid for an hour and once. Only its keyed hash is stored: show it at once, and only
        to that sender.

        >>> shown = await store.people.request_pairing("telegram", Sender(id="9", name="Cleo"))
        """
        return await pairing.request_pairing(
            self._db,
            checked_id(platform, "platform"),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
        )

    async def pairings(self, *, profile: str = MAIN_PROFILE) -> Sequence[Pairing]:
        """Return the senders who wait to be let in, without their codes, which are not stored.

        >>> [waiting.name for waiting in await store.people.pairings()]
        ['Cleo']
        """
        return await self._db.read(pairing.pairings, profile=canonical_profile(profile))

    async def approve_pairing(
        self,
        code: str,
        *,
        platform: str | None = None,
        profile: str = MAIN_PROFILE,
        by: Actor | None = None,
    ) -> Grant:
        """Let in the sender that was shown a code.

        After five wrong codes in an hour none is accepted for an hour, not even a right one.

        >>> grant = await store.people.approve_pairing(shown.code)
        """
        return await pairing.use_pairing_code(
            self._db,
            code,
            None if platform is None else checked_id(platform, "platform"),
            profile=canonical_profile(profile),
            by=by,
        )

    async def delete(
        self, who: Identity, *, by: Actor | None = None, progress: Progress | None = None
    ) -> Certificate:
        """Delete a person: their sessions, what they said elsewhere, and the replies to it.

        All senders that are linked to the one that is named are deleted together.

        >>> certificate = await store.people.delete(Identity(platform="telegram", id="7"))
        """
        return await forget.forget_person(
            self._db, checked_type(who, "person", Identity), by=by, progress=progress
        )

    __call__ = list  # noqa: A003 - what it is called by until its callers read from the database
