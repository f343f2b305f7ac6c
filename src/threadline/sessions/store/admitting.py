"""The store's door-keeping: who was let in, who asks to be, and the codes for it."""

from collections.abc import Callable, Collection

from threadline.core.access import Grant, Pairing, PairingCode, Standing
from threadline.core.account import Actor
from threadline.core.address import Sender
from threadline.core.errors import Refused
from threadline.core.forgetting import Seal
from threadline.core.person import Identity
from threadline.core.route import MAIN_PROFILE, canonical_profile, canonical_sender
from threadline.core.text import checked_id, checked_text, checked_type
from threadline.core.turn import TurnId
from threadline.sessions import admission, pairing
from threadline.sessions.admission import Asked
from threadline.sessions.store.door import Door


class Admitting(Door):
    """Grants, and the pairing codes that lead to them."""

    async def ask_pairing(
        self,
        platform: str,
        sender: Sender,
        *,
        profile: str = MAIN_PROFILE,
        new_code: Callable[[], int] | None = None,
    ) -> PairingCode | None:
        """Make a code that a stranger can show to the owner; None: not now, or nobody we know.

        It is valid for an hour and once. The store keeps only its keyed hash: show it at once, and
        to nobody else.
        """
        id = canonical_sender(
            checked_id(platform, "platform"), checked_type(sender, "sender", Sender)
        )
        if id is None:
            return None
        who, profile = Identity(platform=platform, id=id), canonical_profile(profile)
        # Most who ask in a flood are told nothing, and cost a read only.
        if not await self._db.read(pairing.is_askable, who, profile=profile, now=self.now()):
            return None
        return await self._db.write(
            pairing.ask_pairing,
            who,
            sender.name,
            profile=profile,
            seal=Seal(key=await self._db.secret()),
            now=self.now(),
            new_code=new_code or self._draw_code,
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
        answer = await self._db.write(
            pairing.approve_pairing,
            code,
            None if platform is None else checked_id(platform, "platform"),
            profile=canonical_profile(profile),
            seal=Seal(key=await self._db.secret()),
            by=by,
            now=self.now(),
        )
        if isinstance(answer, Refused):
            raise answer
        return answer

    async def pairings(self, *, profile: str = MAIN_PROFILE) -> list[Pairing]:
        """List those who wait to be let in, without their codes: nobody knows these but they."""
        return await self._db.read(
            pairing.pairings, profile=canonical_profile(profile), now=self.now()
        )

    async def sweep_pairings(self) -> None:
        """Forget the strangers who were not let in in time."""
        await self._db.write(pairing.sweep_pairings, now=self.now())

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
            admission.allow,
            checked_type(identity, "sender", Identity),
            None if name is None else checked_text(name, "name"),
            profile=canonical_profile(profile),
            by=by,
            now=self.now(),
        )

    async def revoke(
        self, identity: Identity, *, profile: str = MAIN_PROFILE, by: Actor | None = None
    ) -> bool:
        """Let somebody in no longer. False: they were not let in, and did not ask to be."""
        return await self._db.write(
            admission.revoke,
            checked_type(identity, "sender", Identity),
            profile=canonical_profile(profile),
            by=by,
            now=self.now(),
        )

    async def grants(self, *, profile: str = MAIN_PROFILE) -> list[Grant]:
        """List everybody whom the owner let in, beside those whom the settings name."""
        return await self._db.read(admission.grants, profile=canonical_profile(profile))

    async def standing(
        self, platform: str, ids: Collection[str], *, profile: str = MAIN_PROFILE
    ) -> Standing:
        """Tell by what other ids somebody is known on a platform, and whether they were let in."""
        return await self._db.read(
            admission.standing,
            checked_id(platform, "platform"),
            frozenset(checked_id(id, "id") for id in ids),
            profile=canonical_profile(profile),
        )

    async def interrupted_askers(self, among: Collection[TurnId]) -> list[Asked]:
        """List whose words those of some turns answer that were cut off."""
        return await self._db.read(admission.interrupted_askers, among)
