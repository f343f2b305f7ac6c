"""The store's knowledge for agents and screens: scenes, hidden ids, and answers as they grow."""

from collections.abc import Collection

from msgspec.structs import replace

from threadline.core.address import Address
from threadline.core.deletion import Seal
from threadline.core.errors import NotFound
from threadline.core.pseudonyms import Pseudonymizer, PseudonymousAddress, find_hidden
from threadline.core.session import SessionId, checked_session_id
from threadline.core.target import Target, parse_targets, target_of
from threadline.core.turn import Turn
from threadline.core.validation import checked_type
from threadline.store.facade.connection import StoreConnection
from threadline.store.turns import turn_context
from threadline.store.turns.turn_context import StreamedText, TurnContext


class ContextMethods(StoreConnection):
    """What is told of a turn's place, and what of it is hidden."""

    _seal: Seal | None = None

    async def scene(self, turn: Turn) -> TurnContext:
        """Read all that the request for a turn is made of."""
        return await self._db.read(turn_context.read_turn_context, checked_type(turn, "turn", Turn))

    async def streaming(self, id: SessionId) -> StreamedText:
        """Read what the turn under way has said so far, whoever runs it: at most a second late."""
        return await self._db.read(turn_context.read_streaming, checked_session_id(id))

    async def veil(self, spares: Collection[str] = ()) -> Pseudonymizer:
        """Make the veil that hides ids from agents, except those of some platforms."""
        if self._seal is None:
            self._seal = Seal(key=await self._db.secret())
        return Pseudonymizer(seal=self._seal, spares=frozenset(spares))

    async def unveil(self, targets: str) -> str:
        """Write the targets of a delivery with real ids, where hashes stand for them.

        What names a chat in any other way stays as it is; a hash that stands for nothing we know
        is an error. Looking for one reads the places of its platform, a page at a time.
        """
        parsed = parse_targets(targets)
        if not any(map(find_hidden, parsed)):
            return targets
        written = []
        for target in parsed:
            hidden = find_hidden(target)
            found = target if hidden is None else _target(await self._find(hidden), hidden)
            written.append(str(found))
        return ",".join(written)

    async def _find(self, hidden: PseudonymousAddress) -> Address:
        veil, after = await self.veil(), 0
        while True:
            found, further = await self._db.read(
                turn_context.look_through, hidden, after, veil=veil
            )
            if found is not None:
                return found
            if further is None:
                break
            after = further
        raise NotFound(
            "No chat is known by this hash",
            id=f"{hidden.platform}:{hidden.chat}",
            hint="Use one that you were told of",
        )


def _target(address: Address, hidden: PseudonymousAddress) -> Target:
    """Name a place by its real ids; its thread only if that was named."""
    return target_of(address if hidden.thread is not None else replace(address, thread=None))
