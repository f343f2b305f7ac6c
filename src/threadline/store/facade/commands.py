"""The store's way in for commands, and for what they decide beyond a conversation."""

from collections.abc import Mapping, Sequence

from threadline.core.address import Address
from threadline.core.command import Call
from threadline.core.delivery import DeliveryId
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment
from threadline.core.role import AccessLevel
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import checked_choice, checked_type
from threadline.database.port import write_keyed
from threadline.store.commands import dispatch
from threadline.store.commands.context import CommandReply, DeferredCommandResult, Errand
from threadline.store.commands.execute import end_errand, execute, execute_waiting
from threadline.store.deliveries import targets
from threadline.store.deliveries import targets as deliveries_targets
from threadline.store.facade.connection import StoreConnection


class CommandMethods(StoreConnection):
    """Commands from platforms, and the homes that they set."""

    async def command(self, inbound: Inbound, call: Call, rank: AccessLevel) -> CommandReply | None:
        """Carry out a command that somebody of a rank gave, and owe the answer to their chat.

        One that has to wait until what was asked before is answered is kept. Why one fails is its
        answer; the same message may try again. Raise `QueueFull` if too much waits already. A
        secret answer is not kept, and has to be said by the caller; an errand is the caller's to
        run, and to end. A message that was carried out before does nothing: return None.
        """
        checked_type(inbound, "inbound", Inbound)
        checked_type(call, "command", Call)
        checked_choice(rank, "rank", AccessLevel)
        return await execute(self._db, inbound, call, rank)

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

    async def refuse(self, inbound: Inbound, why: str) -> CommandReply | None:
        """Owe the sender of a message the reason why it was not stored, once for each message.

        It does not count as received, so the same message can be sent again. Return None if it
        has been received meanwhile.
        """
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(self._db, inbound.message_id, dispatch.refuse, inbound, why)

    async def owe_answer(
        self,
        inbound: Inbound,
        text: str,
        attachments: Sequence[Attachment] = (),
        *,
        about: SessionId,
    ) -> DeliveryId:
        """Owe what a command said later; it is forgotten with its asker, and with the session."""
        return await self._db.write(
            dispatch.owe_answer,
            checked_type(inbound, "inbound", Inbound),
            text,
            attachments=attachments,
            about=about,
        )

    async def run_waiting_commands(self) -> list[DeferredCommandResult]:
        """Carry out the commands whose time has come; answers what came of each.

        To be called whenever a turn has ended, and after a restart. An errand that one of them
        leaves is the caller's to run, and to end.
        """
        return await execute_waiting(self._db)

    async def end_errand(self, errand: Errand) -> None:
        """Let go on what stands behind an errand: it is done, whatever came of it."""
        await end_errand(self._db, errand)

    async def set_home(self, address: Address, *, profile: str = MAIN_PROFILE) -> None:
        """Let the unasked messages of a platform go to this chat."""
        await self._db.write(
            deliveries_targets.set_home,
            checked_type(address, "address", Address),
            profile=canonical_profile(profile),
        )

    async def homes(self, profile: str = MAIN_PROFILE) -> Mapping[str, Address]:
        """List the chats to which the unasked messages of platforms go, by platform."""
        return await self._db.read(targets.known_homes, canonical_profile(profile))
