"""Turns: claiming turns, writing them, and picking up what was cut off."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from threadline.core.agent import Question
from threadline.core.message import NewMessage
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import Lease, OwnerId, TurnId, TurnState
from threadline.core.usage import Usage
from threadline.core.validation import checked_type
from threadline.database.port import Watch
from threadline.store.facade.connection import StoreConnection
from threadline.store.turn_queue import claim, crash_recovery, queue
from threadline.store.turn_queue.claim import TurnClaim
from threadline.store.turn_queue.crash_recovery import Recovery
from threadline.store.turns import finish, output, stop_and_wait


class TurnMethods(StoreConnection):
    """The life of a turn."""

    async def serve(self) -> datetime:
        """Record that this process works on the queue, unless it did so just now.

        Messages grow old only while no process does. Claiming turns and writing to them implies it.
        Return the time; use it to judge the age of messages, as the clock may be set meanwhile.
        """
        return await queue.serve(self._db)

    async def claim(
        self,
        session_id: SessionId | None = None,
        *,
        full: Collection[str] = (),
        crowding: Collection[str] = (),
    ) -> TurnClaim | None:
        """Take the turn that has waited longest, of one session or of all; None if there is none.

        Turns of the profiles in `full`, and of the askers in `crowding`, are passed over where no
        session is named. Turns that are too old are closed on the way. If the caller is cancelled
        meanwhile, the turn is given back.
        """
        only = None if session_id is None else checked_session_id(session_id)
        return await queue.claim(self._db, only, full=full, crowding=crowding)

    async def give_back(self, lease: Lease) -> None:
        """Put a claimed turn back into the line, as if it had never been claimed."""
        await self._db.write(claim.return_turn, _checked(lease))

    async def renew(self, leases: Sequence[Lease]) -> frozenset[TurnId]:
        """Renew leases; return the turns whose lease is lost, which must be let go at once."""
        return await queue.renew(self._db, [_checked(lease) for lease in leases])

    async def append(self, lease: Lease, messages: Sequence[NewMessage]) -> int:
        """Store messages of a running turn; return the last sequence number."""
        return await queue.append(self._db, _checked(lease), messages)

    async def record(self, id: SessionId, messages: Sequence[NewMessage]) -> int:
        """Store messages that belong to no turn; answers the last sequence number."""
        return await self._db.write(output.add_messages, checked_session_id(id), messages)

    async def checkpoint(self, pieces: Sequence[tuple[Lease, str]]) -> frozenset[TurnId]:
        """Store streamed output of several turns; return those whose lease is lost."""
        checked = [(_checked(lease), text) for lease, text in pieces]
        return await queue.checkpoint(self._db, checked)

    async def remember(self, lease: Lease, memory: str) -> None:
        """Keep what the agent wants to be given back in this session; nothing (`""`) forgets it."""
        await self._db.write(output.save_agent_memory, _checked(lease), memory)

    async def take_steering(self, lease: Lease) -> tuple[int, int]:
        """Make messages meant for this running turn part of it.

        Answers the sequence number before them and the last one of them: equal if there are none.
        """
        return await self._db.write(output.take_steering, _checked(lease))

    async def finish(
        self,
        lease: Lease,
        messages: Sequence[NewMessage] = (),
        *,
        usage: Sequence[Usage] = (),
        deliver: bool = True,
    ) -> None:
        """End a turn well: its last messages, its usage and the reply owed, all at once."""
        await self._db.write(finish.finish, _checked(lease), messages, usage=usage, deliver=deliver)

    async def fail(
        self, lease: Lease, why: str, *, usage: Sequence[Usage] = (), deliver: bool = True
    ) -> None:
        """End a turn that went wrong: what was said is kept, and why is shown."""
        await self._db.write(finish.fail, _checked(lease), why, usage=usage, deliver=deliver)

    async def stop(self, turn_id: TurnId) -> bool:
        """Stop a turn for good and keep what it had said. False if it had ended."""
        return await self._db.write(stop_and_wait.stop, turn_id)

    async def stop_session(self, id: SessionId) -> TurnId | None:
        """Stop the turn that a session has under way; None if there is none."""
        return await self._db.write(stop_and_wait.stop_session, checked_session_id(id))

    async def wait(
        self,
        lease: Lease,
        question: Question,
        *,
        usage: Sequence[Usage] = (),
        deliver: bool = True,
        keep_lease: bool = False,
    ) -> None:
        """Let a turn wait for an answer; without its lease it is claimed anew when answered.

        If it asks leave for tools, that can be given for longer than this once.
        """
        await self._db.write(
            stop_and_wait.wait,
            _checked(lease),
            question,
            usage=usage,
            deliver=deliver,
            keep_owner=self.owner if keep_lease else None,
        )

    async def answer(self, turn_id: TurnId, words: str) -> TurnState:
        """Answer a waiting turn; answers the state that this brought it to."""
        return await self._db.write(stop_and_wait.answer, turn_id, words)

    async def dead_owners(self) -> frozenset[OwnerId]:
        """Return the processes that hold something under a lease and are certainly gone."""
        return await queue.list_dead_owners(self._db)

    async def interrupt_dead(
        self,
        running: Callable[[], frozenset[TurnId]] = frozenset,
        dead: frozenset[OwnerId] | None = None,
    ) -> list[TurnId]:
        """Take the turns of workers that are gone, and keep what they had said.

        `running` returns the turns that the caller runs: they are not taken, whatever the clock
        says. `dead` are the processes that are gone; None: they are found out.
        """
        return await queue.interrupt_dead(self._db, running, dead)

    def deaths(self) -> AbstractContextManager[Watch]:
        """Begin to notice that other processes which had the store open are gone."""
        return self._db.deaths()

    async def next_lease_end(self) -> datetime | None:
        """Return when the next lease of another process ends, unless it is renewed."""
        return await self._db.read(crash_recovery.find_lease_end, self.owner)

    async def let_go(self) -> list[TurnId]:
        """Interrupt the turns that this process still runs, because it is about to end."""
        return await queue.interrupt_own(self._db)

    async def interrupted_turns(self) -> frozenset[TurnId]:
        """List a slice of the turns that were cut off, of which nothing is decided yet."""
        return await self._db.read(crash_recovery.list_interrupted)

    async def recover(
        self, refused: frozenset[TurnId] = frozenset(), among: frozenset[TurnId] | None = None
    ) -> Recovery:
        """Decide what becomes of interrupted turns: they are queued again, or fail visibly.

        Turns in `refused` are those whose sender may not speak any more. Call it until nothing is
        left; it takes a slice each time. With `among`, nothing is decided of any other turn.
        """
        return await queue.recover(self._db, refused, among)


def _checked(lease: Lease) -> Lease:
    return checked_type(lease, "lease", Lease)
