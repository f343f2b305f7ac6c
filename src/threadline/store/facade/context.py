"""The store's knowledge for agents and screens: scenes, hidden ids, and answers as they grow."""

from collections.abc import Collection

from threadline.core.pseudonyms import Pseudonymizer
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import Turn
from threadline.core.validation import checked_type
from threadline.store.facade.connection import StoreConnection
from threadline.store.turns import turn_context
from threadline.store.turns.pseudonyms import make_pseudonymizer, reveal_targets
from threadline.store.turns.turn_context import StreamedText, TurnContext


class ContextMethods(StoreConnection):
    """What is told of a turn's place, and what of it is hidden."""

    async def scene(self, turn: Turn) -> TurnContext:
        """Read all that the request for a turn is made of."""
        return await self._db.read(turn_context.read_turn_context, checked_type(turn, "turn", Turn))

    async def streaming(self, id: SessionId) -> StreamedText:
        """Read what the turn under way has said so far, whoever runs it: at most a second late."""
        return await self._db.read(turn_context.read_streaming, checked_session_id(id))

    async def veil(self, spares: Collection[str] = ()) -> Pseudonymizer:
        """Make the veil that hides ids from agents, except those of some platforms."""
        return await make_pseudonymizer(self._db, spares)

    async def unveil(self, targets: str) -> str:
        """Write the targets of a delivery with real ids, where hashes stand for them.

        What names a chat in any other way stays as it is; a hash that stands for nothing we know
        is an error. Looking for one reads the places of its platform, a page at a time.
        """
        return await reveal_targets(self._db, targets)
