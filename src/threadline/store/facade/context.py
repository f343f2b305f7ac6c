"""The store's knowledge for agents and screens: scenes, hidden ids, and answers as they grow."""

from threadline.core.session import SessionId, checked_session_id
from threadline.store.facade.connection import StoreConnection
from threadline.store.turns import turn_context
from threadline.store.turns.turn_context import StreamedText


class ContextMethods(StoreConnection):
    """What is told of a turn's place, and what of it is hidden."""

    async def streaming(self, id: SessionId) -> StreamedText:
        """Read what the turn under way has said so far, whoever runs it: at most a second late."""
        return await self._db.read(turn_context.read_streaming, checked_session_id(id))
