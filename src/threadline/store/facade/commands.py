"""The store's way in for commands, and for what they decide beyond a conversation."""

from collections.abc import Mapping

from threadline.core.access_level import AccessLevel
from threadline.core.address import Address
from threadline.core.command import Call
from threadline.core.inbound import Inbound
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import checked_choice, checked_type
from threadline.database.port import write_keyed
from threadline.store.commands import dispatch
from threadline.store.commands.context import CommandReply, Errand
from threadline.store.commands.execute import end_errand
from threadline.store.deliveries import targets
from threadline.store.facade.connection import StoreConnection


class CommandMethods(StoreConnection):
    """Commands from platforms, and the homes that they set."""

    async def command_in(
        self, id: SessionId, inbound: Inbound, call: Call, rank: AccessLevel
    ) -> CommandReply | None:
        """Carry out a command that somebody gave on a screen which shows a session they may see.

        Why it fails is raised, and its answer is not owed, but what it says when it had to wait
        is. An errand is the caller's to run, and to end. The same message a second time: None.
        """
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            dispatch.receive_command,
            inbound,
            checked_type(call, "command", Call),
            rank=checked_choice(rank, "rank", AccessLevel),
            owner=self.owner,
            session=checked_session_id(id),
        )

    async def end_errand(self, errand: Errand) -> None:
        """Let go on what stands behind an errand: it is done, whatever came of it."""
        await end_errand(self._db, errand)

    async def homes(self, profile: str = MAIN_PROFILE) -> Mapping[str, Address]:
        """List the chats to which the unasked messages of platforms go, by platform."""
        return await self._db.read(targets.known_homes, canonical_profile(profile))
