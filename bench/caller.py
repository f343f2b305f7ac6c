"""The caller: what a program does with the store, one operation at a time."""

from bench.script import ANSWERS, LONG, USAGE, chat_of, new_name, sender_of, spoken
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.turn_queue.claim import TurnClaim

_PATIENCE = 10_000


class Caller:
    """Uses a filled store as a gateway would."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.long_id: SessionId | None = None
        self.misses = 0
        """Claims that found every waiting turn taken by somebody else just then."""

    async def arrive(self, number: int) -> None:
        """Let a message arrive in a filled conversation."""
        await self._store.receive(spoken(chat_of(number), sender_of(number), new_name()))

    async def turn(self, number: int) -> None:
        """Carry out a whole turn in a filled conversation."""
        await self.arrive(number)
        claim = await self._claimed()
        await self._store.turns.append(claim.lease, ANSWERS)
        await self._store.turns.finish(claim.lease, usage=[USAGE])

    async def _claimed(self) -> TurnClaim:
        # As a worker does it: the turn that has waited longest. Among many callers that may be
        # another's, whose own is then left for somebody else.
        for _ in range(_PATIENCE):
            claim = await self._store.turns.claim()
            if claim is not None:
                return claim
            self.misses += 1
        raise RuntimeError("There was never a turn to claim")

    async def begin(self) -> None:
        """Let a new person say something."""
        name = new_name()
        await self._store.receive(spoken(name, name, name))

    async def find_long(self, number: int) -> None:
        """Find the session with the very long transcript."""
        arrival = await self._store.receive(spoken(chat_of(number), sender_of(number), LONG))
        if arrival.session_id is None or arrival.turn_id is None:
            raise ValueError("The long conversation is not there")
        self.long_id = arrival.session_id
        if not arrival.is_repeated:
            await self._store.turns.stop(arrival.turn_id)

    async def transcript(self) -> None:
        """Read the last 50 messages of the very long transcript."""
        if self.long_id is None or len(await self._store.transcripts.read(self.long_id)) != 50:
            raise ValueError("The long transcript is not there")

    async def sessions(self) -> None:
        """Read the first page of the list."""
        await self._store.sessions()
