"""Grants: who was let in, who asks to be, and the codes for it."""

from threadline.core.access import Grant, Pairing
from threadline.core.account import Actor
from threadline.core.person import Identity
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.validation import checked_id, checked_text, checked_type
from threadline.store.facade.connection import StoreConnection
from threadline.store.people import grants, pairing


class GrantMethods(StoreConnection):
    """Grants, and the pairing codes that lead to them."""

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
