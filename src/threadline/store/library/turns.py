"""Turns: what a worker does with the messages that wait, and what it can ask of a turn."""

from collections.abc import Callable, Collection, Sequence

from threadline.core.account import Account
from threadline.core.agent import Question
from threadline.core.message import NewMessage
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import Lease, OwnerId, Turn, TurnId, TurnState
from threadline.core.usage import Usage
from threadline.core.validation import checked_type
from threadline.store import queries
from threadline.store.library.group import Group
from threadline.store.people.visibility import read_visible
from threadline.store.turn_queue import claim, queue
from threadline.store.turn_queue.claim import TurnClaim
from threadline.store.turn_queue.crash_recovery import Recovery
from threadline.store.turns import finish, output, stop_and_wait, turn_context
from threadline.store.turns.turn_context import TurnContext


class TurnGroup(Group):
    """What a worker does with the messages that wait, and what it can ask of a turn."""

    async def claim(
        self,
        session_id: SessionId | None = None,
        *,
        full: Collection[str] = (),
        crowding: Collection[str] = (),
    ) -> TurnClaim | None:
        """Take the turn that has waited longest, of one session or of all; None if there is none.

        Turns of the profiles in `full`, and of the senders in `crowding`, are passed over where no
        session is named. Turns that are too old are closed on the way. If the caller is cancelled
        meanwhile, the turn is returned to the queue.

        >>> claim = await store.turns.claim()
        >>> claim.turn.id == arrival.turn_id
        True
        """
        only = None if session_id is None else checked_session_id(session_id)
        return await queue.claim(self._db, only, full=full, crowding=crowding)

    async def get(self, id: TurnId) -> Turn:
        """Return a turn.

        >>> (await store.turns.get(claim.turn.id)).state.value
        'running'
        """
        return await self._db.read(queries.read_turn, id)

    async def list(
        self,
        id: SessionId,
        most: int = queries.PAGE,
        *,
        before: TurnId | None = None,
        viewer: Account | None = None,
    ) -> Sequence[Turn]:
        """Return the turns of a session, the newest first, or those before one of them.

        >>> [turn.state.value for turn in await store.turns.list(arrival.session_id)]
        ['running']
        """
        id = checked_session_id(id)
        return await self._db.read(read_visible, viewer, queries.turns, id, most, before)

    async def context(self, turn: Turn) -> TurnContext:
        """Return all that the request for a turn is made of: the session, its history, the address.

        >>> (await store.turns.context(claim.turn)).history[-1].text
        'When do we plant?'
        """
        return await self._db.read(turn_context.read_turn_context, checked_type(turn, "turn", Turn))

    async def renew(self, leases: Sequence[Lease]) -> frozenset[TurnId]:
        """Renew leases; return the turns whose lease is lost, whose work must end at once.

        >>> await store.turns.renew([claim.lease])
        frozenset()
        """
        return await queue.renew(self._db, [_checked(lease) for lease in leases])

    async def append(self, lease: Lease, messages: Sequence[NewMessage]) -> int:
        """Store messages of a running turn; return the last sequence number.

        >>> await store.turns.append(claim.lease, [say(Role.ASSISTANT, "Let me look that up.")])
        3
        """
        return await queue.append(self._db, _checked(lease), messages)

    async def checkpoint(self, pieces: Sequence[tuple[Lease, str]]) -> frozenset[TurnId]:
        """Store streamed output of several turns; return those whose lease is lost.

        >>> await store.turns.checkpoint([(claim.lease, "In May, ")])
        frozenset()
        """
        checked = [(_checked(lease), text) for lease, text in pieces]
        return await queue.checkpoint(self._db, checked)

    async def take_steering(self, lease: Lease) -> tuple[int, int]:
        """Make messages that are meant for this running turn part of it.

        Return the sequence number before them and the last one of them: equal if there are none.

        >>> before, last = await store.turns.take_steering(claim.lease)
        >>> last - before
        0
        """
        return await self._db.write(output.take_steering, _checked(lease))

    async def save_memory(self, lease: Lease, memory: str) -> None:
        """Store what the agent gets back in the session's next turn; an empty text deletes it.

        >>> await store.turns.save_memory(claim.lease, "thread-7")
        """
        await self._db.write(output.save_agent_memory, _checked(lease), memory)

    async def give_back(self, lease: Lease) -> None:
        """Return a claimed turn to the queue, as if it had never been claimed.

        >>> await store.turns.give_back(claim.lease)
        >>> claim = await store.turns.claim(arrival.session_id)
        """
        await self._db.write(claim.return_turn, _checked(lease))

    async def wait(
        self,
        lease: Lease,
        question: Question,
        *,
        usage: Sequence[Usage] = (),
        deliver: bool = True,
        keep_lease: bool = False,
    ) -> None:
        """Let a turn wait for an answer; without its lease it is claimed again when answered.

        If it asks permission for tools, that can be given for longer than this once.

        >>> await store.turns.wait(claim.lease, Question(text="Beans or peas?"))
        """
        await self._db.write(
            stop_and_wait.wait,
            _checked(lease),
            question,
            usage=usage,
            deliver=deliver,
            keep_owner=self._db.owner if keep_lease else None,
        )

    async def answer(self, turn_id: TurnId, words: str) -> TurnState:
        """Answer a waiting turn; return the state that it has now.

        >>> (await store.turns.answer(claim.turn.id, "Beans.")).value
        'queued'
        >>> claim = await store.turns.claim()
        """
        return await self._db.write(stop_and_wait.answer, turn_id, words)

    async def finish(
        self,
        lease: Lease,
        messages: Sequence[NewMessage] = (),
        *,
        usage: Sequence[Usage] = (),
        deliver: bool = True,
    ) -> None:
        """End a turn well: its last messages, its usage and the reply owed, in one transaction.

        >>> await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "In May.")])
        """
        await self._db.write(finish.finish, _checked(lease), messages, usage=usage, deliver=deliver)

    async def fail(
        self, lease: Lease, why: str, *, usage: Sequence[Usage] = (), deliver: bool = True
    ) -> None:
        """End a turn that went wrong: what was said is kept, and the reason is shown.

        >>> await store.receive(heard("And the tomatoes?"))
        Arrival(...)
        >>> await store.turns.fail((await store.turns.claim()).lease, "The model did not reply.")
        """
        await self._db.write(finish.fail, _checked(lease), why, usage=usage, deliver=deliver)

    async def stop(self, turn_id: TurnId) -> bool:
        """Stop a turn permanently and keep what it had said. False if it had ended.

        >>> arrival = await store.receive(heard("Count to a million."))
        >>> await store.turns.stop(arrival.turn_id)
        True
        """
        return await self._db.write(stop_and_wait.stop, turn_id)

    async def interrupt_dead(
        self,
        running: Callable[[], frozenset[TurnId]] = frozenset,
        dead: frozenset[OwnerId] | None = None,
    ) -> Sequence[TurnId]:
        """Take the turns of workers that are gone, and keep what they had said.

        `running` returns the turns that the caller runs: they are not taken, whatever the clock
        says. `dead` are the processes that are gone; None: they are looked up.

        >>> await store.turns.interrupt_dead()
        []
        """
        return await queue.interrupt_dead(self._db, running, dead)

    async def interrupt_own(self) -> Sequence[TurnId]:
        """Interrupt the turns that this process still runs, because it is about to end.

        >>> await store.turns.interrupt_own()
        []
        """
        return await queue.interrupt_own(self._db)

    async def recover(
        self, refused: frozenset[TurnId] = frozenset(), among: frozenset[TurnId] | None = None
    ) -> Recovery:
        """Queue interrupted turns again, or fail them visibly, one slice at a time.

        Call it until nothing is left. Turns in `refused` are those whose sender may not speak any
        more. With `among`, other turns are left alone.

        >>> (await store.turns.recover()).resumed
        ()
        """
        return await queue.recover(self._db, refused, among)

    __call__ = list  # noqa: A003 - what it is called by until its callers read from the database


def _checked(lease: Lease) -> Lease:
    return checked_type(lease, "lease", Lease)
