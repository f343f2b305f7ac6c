"""Access: who may speak, by the settings and by what the owner granted since."""

from threadline.core.access import AccessRules, ids_of, rank_of
from threadline.core.inbound import Inbound
from threadline.core.message import Text
from threadline.core.rank import Rank
from threadline.core.turn import TurnId
from threadline.sessions.admission import Asked
from threadline.sessions.people.aliases import ALIASED_PLATFORMS
from threadline.sessions.store import Store


class Access:
    """Ranks senders. What the owner granted or revoked holds from the next message on."""

    def __init__(self, store: Store, rules: AccessRules) -> None:
        """Go by these rules, and by the grants in the store."""
        self._store = store
        self.rules = rules

    async def rank(self, inbound: Inbound) -> Rank:
        """Tell how far the sender of something is let in."""
        by_settings = rank_of(inbound, self.rules)
        platform = inbound.address.platform
        ids = ids_of(platform, inbound.sender)
        if not ids or by_settings is Rank.OWNER:
            return by_settings
        if by_settings.may(Rank.MEMBER) and not self._may_rise(platform):
            return by_settings
        standing = await self._store.standing(platform, ids, profile=inbound.profile)
        return rank_of(inbound, self.rules, standing)

    def _may_rise(self, platform: str) -> bool:
        """Tell whether a member there could turn out to be an admin, by another id of theirs."""
        return platform in ALIASED_PLATFORMS and bool(self.rules.admins)

    async def refused_turns(self) -> frozenset[TurnId]:
        """Answer the turns that were cut off and whose askers may not speak any more.

        One that several asked is refused only if none of them may.
        """
        asked = await self._store.interrupted_askers()
        admitted = {one.turn_id for one in asked if self._may_still_speak(one)}
        return frozenset(one.turn_id for one in asked) - admitted

    def _may_still_speak(self, asked: Asked) -> bool:
        # What only the platform or its connector could say again counts as it was: that it was so
        # when they spoke, or nothing would have been cut off.
        platform = asked.address.platform
        inbound = Inbound(
            address=asked.address,
            sender=asked.sender,
            parts=(Text(text="?"),),
            at=self._store.now(),
            profile=asked.profile,
            is_trusted=platform in self.rules.relays or platform in self.rules.roles,
        )
        return rank_of(inbound, self.rules, asked.standing).may(Rank.MEMBER)
