"""Inbound: messages, and what people decide about their conversations."""

from typing import ParamSpec, TypeVar

from threadline.core.inbound import Inbound
from threadline.core.session import (
    EndReason,
    SessionId,
    checked_session_id,
)
from threadline.core.session_patch import SessionPatch
from threadline.core.validation import checked_choice, checked_type
from threadline.database.port import write_keyed
from threadline.store.facade.connection import StoreConnection
from threadline.store.inbound import session_update
from threadline.store.inbound.deduplication import Arrival
from threadline.store.sessions import session_end, session_settings
from threadline.store.sessions.pins import Step
from threadline.store.sessions.route_explanation import (
    ResetOutlook,
    read_outlook,
)

P = ParamSpec("P")
T = TypeVar("T")


class InboundMethods(StoreConnection):
    """What comes in, and which session a conversation goes on with."""

    async def begin(self, inbound: Inbound, wanted: SessionPatch) -> Arrival:
        """Take in the first words of a conversation, with what is wanted of its session."""
        checked_type(inbound, "inbound", Inbound)
        return await write_keyed(
            self._db,
            inbound.message_id,
            session_update.create_session,
            inbound,
            checked_type(wanted, "wish", SessionPatch),
        )

    async def outlook(self, id: SessionId) -> ResetOutlook:
        """Tell by which rules a session goes on: its policy, its manners when busy, its routes."""
        return await self._db.read(read_outlook, checked_session_id(id))

    async def end(self, id: SessionId, reason: EndReason = EndReason.CLOSED) -> bool:
        """End a session; what it still had to do is stopped. False if it had ended before."""
        return await self._db.write(
            session_end.end_session,
            checked_session_id(id),
            reason=checked_choice(reason, "reason", EndReason),
        )

    async def _choose(self, id: SessionId, step: Step) -> None:
        await self._db.write(session_settings.set_choice, checked_session_id(id), step)
