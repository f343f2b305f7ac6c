"""Turns: claiming turns, writing them, and picking up what was cut off."""

from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import TurnId
from threadline.store.facade.connection import StoreConnection
from threadline.store.turns import stop_and_wait


class TurnMethods(StoreConnection):
    """The life of a turn."""

    async def stop(self, turn_id: TurnId) -> bool:
        """Stop a turn for good and keep what it had said. False if it had ended."""
        return await self._db.write(stop_and_wait.stop, turn_id)

    async def stop_session(self, id: SessionId) -> TurnId | None:
        """Stop the turn that a session has under way; None if there is none."""
        return await self._db.write(stop_and_wait.stop_session, checked_session_id(id))
