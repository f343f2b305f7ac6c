"""Access: who may speak, by the settings and by what the owner granted since."""

from collections.abc import Collection

from threadline.core.access import AccessRules, AccessSponsor, ids_of, rank_of, spoken_again
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Sender
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnId
from threadline.database.port import Database
from threadline.store.authorisation import for_standing
from threadline.store.people import grants
from threadline.store.people.aliases import ALIASED_PLATFORMS
from threadline.store.people.grants import TurnRequester, interrupted_askers


class Access:
    """Ranks senders. What the owner granted or revoked holds from the next message on."""

    def __init__(self, database: Database, rules: AccessRules) -> None:
        """Go by these rules, and by the grants in the store."""
        self._db = database
        self.rules = rules

    async def rank(self, inbound: Inbound) -> AccessLevel:
        """Tell how far the sender of something is let in."""
        return (await self.judge(inbound))[0]

    async def judge(self, inbound: Inbound) -> tuple[AccessLevel, Database]:
        """Return how far the sender of something is let in, and the database to store it in.

        That one raises `StandingChanged` if it is not so any more when something is written.
        """
        by_settings = rank_of(inbound, self.rules)
        platform = inbound.address.platform
        ids = ids_of(platform, inbound.sender)
        if not ids or by_settings is AccessLevel.OWNER:
            return by_settings, self._db
        if by_settings.may(AccessLevel.MEMBER) and not self._may_rise(platform):
            return by_settings, self._db
        standing = await self._db.read(
            grants.standing, platform, frozenset(ids), profile=inbound.profile
        )
        database = for_standing(self._db, platform, ids, standing, profile=inbound.profile)
        return rank_of(inbound, self.rules, standing), database

    def _may_rise(self, platform: str) -> bool:
        """Tell whether a member there could turn out to be an admin, by another id of theirs."""
        return platform in ALIASED_PLATFORMS and bool(self.rules.admins)

    def again(
        self, address: Address, sender: Sender, profile: str, voucher: AccessSponsor | None
    ) -> Inbound:
        """Make the message by which somebody is judged who does not speak just now.

        Whoever answered for them counts as when they spoke last, if the settings still let them.
        """
        return spoken_again(
            address, sender, voucher, self.rules, profile=profile, at=self._db.now()
        )

    async def refused_turns(self, among: Collection[TurnId]) -> frozenset[TurnId]:
        """Answer those of some turns that were cut off whose askers may not speak any more.

        One that several asked is refused only if none of them may.
        """
        asked = await self._db.read(interrupted_askers, among)
        admitted = {one.turn_id for one in asked if self._may_still_speak(one)}
        return frozenset(one.turn_id for one in asked) - admitted

    def _may_still_speak(self, asked: TurnRequester) -> bool:
        inbound = self.again(asked.address, asked.sender, asked.profile, asked.voucher)
        return rank_of(inbound, self.rules, asked.standing).may(AccessLevel.MEMBER)
