"""Grants: who was let in, who asks to be, and the codes for it."""

from collections.abc import Collection
from copy import copy
from typing import Self

from threadline.core.access import Grant, Pairing, PairingCode, SenderAccess
from threadline.core.account import Actor
from threadline.core.address import Sender
from threadline.core.person import Identity
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.turn import TurnId
from threadline.core.validation import checked_id, checked_text, checked_type
from threadline.store.authorisation import for_standing
from threadline.store.facade.connection import StoreConnection
from threadline.store.people import grants, pairing
from threadline.store.people.grants import TurnRequester


class GrantMethods(StoreConnection):
    """Grants, and the pairing codes that lead to them."""

    async def ask_pairing(
        self, platform: str, sender: Sender, *, profile: str = MAIN_PROFILE
    ) -> PairingCode | None:
        """Make a code that a stranger can show to the owner; None: not now, or nobody we know.

        It is valid for an hour and once. The store keeps only its keyed hash: show it at once, and
        to nobody else.
        """
        return await pairing.request_pairing(
            self._db,
            checked_id(platform, "platform"),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
        )

    async def approve_pairing(
        self,
        code: str,
        *,
        platform: str | None = None,
        profile: str = MAIN_PROFILE,
        by: Actor | None = None,
    ) -> Grant:
        """Let in whoever was shown a code.

        Five wrong ones in an hour, and none is looked at for an hour, not even a right one.
        """
        return await pairing.use_pairing_code(
            self._db,
            code,
            None if platform is None else checked_id(platform, "platform"),
            profile=canonical_profile(profile),
            by=by,
        )

    async def pairings(self, *, profile: str = MAIN_PROFILE) -> list[Pairing]:
        """List those who wait to be let in, without their codes: nobody knows these but they."""
        return await self._db.read(pairing.pairings, profile=canonical_profile(profile))

    async def sweep_pairings(self) -> None:
        """Forget the strangers who were not let in in time."""
        await self._db.write(pairing.sweep_pairings)

    async def allow(
        self,
        identity: Identity,
        *,
        name: str | None = None,
        profile: str = MAIN_PROFILE,
        by: Actor | None = None,
    ) -> Grant:
        """Let somebody in without a code."""
        return await self._db.write(
            grants.grant_access,
            checked_type(identity, "sender", Identity),
            None if name is None else checked_text(name, "name"),
            profile=canonical_profile(profile),
            by=by,
        )

    async def revoke(
        self, identity: Identity, *, profile: str = MAIN_PROFILE, by: Actor | None = None
    ) -> bool:
        """Let somebody in no longer. False: they were not let in, and did not ask to be."""
        return await self._db.write(
            grants.revoke_access,
            checked_type(identity, "sender", Identity),
            profile=canonical_profile(profile),
            by=by,
        )

    async def grants(self, *, profile: str = MAIN_PROFILE) -> list[Grant]:
        """List everybody whom the owner let in, beside those whom the settings name."""
        return await self._db.read(grants.grants, profile=canonical_profile(profile))

    async def standing(
        self, platform: str, ids: Collection[str], *, profile: str = MAIN_PROFILE
    ) -> SenderAccess:
        """Tell by what other ids somebody is known on a platform, and whether they were let in."""
        return await self._db.read(
            grants.standing,
            checked_id(platform, "platform"),
            frozenset(checked_id(id, "id") for id in ids),
            profile=canonical_profile(profile),
        )

    def for_standing(
        self, platform: str, ids: Collection[str], standing: SenderAccess, *, profile: str
    ) -> Self:
        """Return this store for one message: raise `StandingChanged` if its sender's has changed.

        It is asked in each transaction, so that nobody is heard by a grant that was revoked.
        """
        own = copy(self)
        own._db = for_standing(  # noqa: SLF001
            self._db, platform, ids, standing, profile=canonical_profile(profile)
        )
        return own

    async def interrupted_askers(self, among: Collection[TurnId]) -> list[TurnRequester]:
        """List whose words those of some turns answer that were cut off."""
        return await self._db.read(grants.interrupted_askers, among)
