"""A running turn: what an agent has said so far, and how much of it is stored."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from threadline.core.agent import Memory, Output, Question, ReasoningDelta, TextDelta
from threadline.core.approval import Approval, write_answer
from threadline.core.errors import (
    AgentError,
    Conflict,
    LeaseLost,
    StorageError,
    ThreadlineError,
)
from threadline.core.message import Message, NewMessage, Role, plain_text, say
from threadline.core.turn import Turn, TurnId, TurnState
from threadline.core.usage import Usage
from threadline.core.validation import TEXT_LIMIT, checked_text, checked_type
from threadline.database.port import Database
from threadline.gateway.intervals import NO_STORAGE
from threadline.gateway.lease import LeaseProof
from threadline.gateway.turn_phase import ANSWERING, OVER, TurnPhase, next_phase
from threadline.gateway.turn_pubsub import (
    Delta,
    Happening,
    MessageAdded,
    Thinking,
    TurnBegun,
    TurnClosed,
    TurnPubSub,
)
from threadline.store import queries
from threadline.store.queries import read_turn
from threadline.store.turn_queue.claim import TurnClaim
from threadline.store.turn_queue.queue import append, checkpoint, renew
from threadline.store.turns import finish as store_finish
from threadline.store.turns import output as store_output
from threadline.store.turns import stop_and_wait
from threadline.store.turns.finish import finish, spend
from threadline.store.turns.output import save_agent_memory
from threadline.store.turns.stop_and_wait import wait

log = logging.getLogger("threadline.gateway")

USAGE_LIMIT = 1000
"""How often an agent may report usage in one turn."""
THOUGHTS_LIMIT = 10_000_000
"""Characters that an agent may think in one turn; none of them is kept."""
HELD_MESSAGES, HELD_CHARACTERS = 256, TEXT_LIMIT
"""How much an agent may say while storage fails; after that it waits until storage is back."""
_BREATH = 64
"""After so many outputs everybody else has a turn, though the agent itself waits for nothing."""
_OUTPUT = frozenset({Role.ASSISTANT, Role.TOOL})
T = TypeVar("T")


class RunningTurn:
    """Takes an agent's output and brings it into the store, one writer at a time.

    A message is held back until something comes after it, or until the next beat: the last one is
    then stored together with the end of the turn, in one commit.

    While storage fails, the agent goes on and its output is kept in memory. It is stored when
    storage is back, unless another process has taken the turn by then: the fence decides.
    """

    def __init__(
        self,
        database: Database,
        claim: TurnClaim,
        live: TurnPubSub,
        proof: LeaseProof | None = None,
    ) -> None:
        """Begin with nothing said; `proof` tells how old the lease is, by default new."""
        self.turn = claim.turn
        self.lease = claim.lease
        self.profile = claim.profile
        self.asker = claim.asker
        self.platform = claim.platform
        self.state = TurnState.RUNNING
        self.delivers = True
        """What it says is owed to a platform."""
        self.phase = TurnPhase.SILENT
        self.begun_at = self.heard_at = asyncio.get_running_loop().time()
        """When its agent was begun, and when it last said something, by the clock of the loop."""
        self.warned_at: float | None = None
        """When it was said that the agent says nothing."""
        self.writing = asyncio.Lock()
        """Whoever stores something of this turn has it: no checkpoint may overtake a message."""
        self.proof = proof or LeaseProof(database.environment.settings.lease)
        self._db = database
        self._live = live
        self._on_closed: list[Callable[[], None]] = []
        self._held: list[NewMessage] = []
        self._unsure = 0
        """How many of the held messages may be stored already: their last append failed."""
        self.last_seq = 0
        """The last sequence number before the held messages, known once the agent was asked."""
        self._said: list[str] = []
        self._saved = 0
        self._length = 0
        self._usage: list[Usage] = []
        self._outputs = self._thought = 0
        self._asking = asyncio.Lock()
        """Whoever asks a person has it: one question at a time."""
        self._answer: asyncio.Future[str] | None = None
        """What a person is asked for, while the agent waits; cancelled: it waits no longer."""
        self._asked_at = claim.turn.asked_at
        """When the last question was asked that has been answered."""
        self._publish(TurnBegun(turn_id=self.turn.id, lease=self.lease))

    async def follow(self, outputs: AsyncIterator[Output]) -> None:
        """Take all that an agent yields, then end the turn, or let it wait for an answer."""
        question = None
        try:
            async for output in outputs:
                self._hear()
                await self._breathe()
                await self._until_answered()
                await self._require_lease()
                if isinstance(output, Question):
                    question = output
                    break
                await self._take(output)
        finally:
            await end_iterator(outputs)
        self._check()
        await self._take_back()
        if question is None:
            await self._finish()
        else:
            await self._wait(question)

    async def fail(self, why: str) -> None:
        """End the turn visibly, and keep what was said; its agent can say nothing more.

        If that cannot be stored the agent goes on, and the error is raised.
        """
        self._begin_end()
        try:
            await self._bring_to_failure(why)
        except BaseException:
            if self.phase is TurnPhase.ENDING:
                self._enter(TurnPhase.SPEAKING)
            raise
        self.close(TurnState.FAILED, error=why)

    async def _bring_to_failure(self, why: str) -> None:
        await self._take_back()
        try:
            await self.outlast(self.store_held)
        except LeaseLost:
            raise
        except ThreadlineError:
            # It may be this very message that could not be stored; `why` says so.
            self._held.clear()
            self._unsure = 0
        await self._bring_to(TurnState.FAILED, lambda: self._store_failure(why))

    async def ask(self, question: Question) -> str:
        """Ask a person, and wait for the answer while agent and lease stay as they are.

        What was streamed before becomes a message of its own, so that it is read first.
        """
        checked_type(question, "question", Question)
        async with self._asking:
            await self._take_back()
            answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            try:
                await self._pose(question, answer)
                return await answer
            except BaseException:
                # Nothing is written here, as it may be the turn itself that is being cancelled.
                if not answer.cancel() and not answer.cancelled():
                    answer.exception()  # The same error is raised here.
                raise

    @property
    def is_answering(self) -> bool:
        """Whether its agent may still say something, and its end is not being stored."""
        return self.phase in ANSWERING

    @property
    def is_over(self) -> bool:
        """Whether it is lost or closed: nothing that its agent says is taken any more."""
        return self.phase in OVER

    def lose(self) -> bool:
        """Take nothing more from its agent; return False if it was over before."""
        if self.is_over:
            return False
        self._enter(TurnPhase.LOST)
        return True

    def _enter(self, phase: TurnPhase) -> None:
        self.phase = next_phase(self.phase, phase)

    def _begin_end(self) -> None:
        self._check()
        self._enter(TurnPhase.ENDING)

    def _note_speech(self) -> None:
        # While its failure is being stored its agent may wake up and speak: it ends all the same.
        if self.phase is TurnPhase.SILENT:
            self._enter(TurnPhase.SPEAKING)

    @property
    def is_asking(self) -> bool:
        """Whether the turn waits in the store for an answer, or may do so."""
        return self._answer is not None

    async def look_for_answer(self) -> None:
        """Let the agent go on if the store knows the answer that it waits for."""
        async with self.writing:
            if self._answer is None or self._answer.done():
                return
            now = await self._db.read(read_turn, self.turn.id)
            is_ours = now.state is TurnState.RUNNING and now.attempts == self.turn.attempts
            # The answer to an earlier question stays until the next one is stored.
            if is_ours and now.answer is not None and now.asked_at != self._asked_at:
                self._note_asked(now)
                self._go_on(now.answer)

    async def take_steering(self) -> Sequence[Message]:
        """Take what was said to this running turn since it was last asked."""
        await self._until_answered()
        return await self.outlast(self._take_steering)

    async def _take_steering(self) -> Sequence[Message]:
        await self.store_held()
        before, last = await self._db.write(store_output.take_steering, self.lease)
        if last == before:
            return []
        return await self._db.read(
            queries.transcript,
            self.lease.session_id,
            after=before,
            most=last - before,
        )

    async def outlast(self, write: Callable[[], Awaitable[T]]) -> T:
        """Run a write under `writing`, and again while storage fails; return its result.

        Raise the error of storage if storage renews the lease for as long as a lease lasts and
        still does not take the write. Raise `LeaseLost` if another process has taken the turn.
        """
        clock, lease = (
            asyncio.get_running_loop().time,
            self._db.environment.settings.lease.total_seconds(),
        )
        failed: StorageError | None = None
        refused_since: float | None = None
        while True:
            async with self.writing:
                self._check()
                try:
                    done = await write()
                except StorageError as error:
                    if failed is None:
                        log.warning("Storage fails; turn %s keeps its output: %s", self.id, error)
                    failed = error
                else:
                    if failed is not None:
                        log.info("Storage is back; the output of turn %s is stored", self.id)
                    return done
            self._hear()  # It is not the agent that is silent.
            refused_since = (refused_since or clock()) if await self._is_renewed() else None
            if refused_since is not None and clock() - refused_since > lease:
                raise failed
            await asyncio.sleep(NO_STORAGE.total_seconds())

    async def _bring_to(self, state: TurnState, write: Callable[[], Awaitable[None]]) -> None:
        """Run a write that changes the state of the turn, and again while storage fails.

        A commit that failed may have taken place. Then the next attempt finds the turn in the new
        state, or with a question that was answered meanwhile, and nothing is left to do.
        """
        has_failed = False

        async def once() -> None:
            nonlocal has_failed
            try:
                await write()
            except StorageError:
                has_failed = True
                raise
            except LeaseLost:
                if not has_failed:
                    raise
                now = await self._db.read(read_turn, self.id)
                is_there = now.state is state and now.attempts == self.turn.attempts
                was_asked = state is TurnState.WAITING and now.asked_at != self._asked_at
                if not is_there and not was_asked:
                    raise

        await self.outlast(once)

    async def _is_renewed(self) -> bool:
        """Renew the lease; return whether storage does at least that."""
        try:
            await renew(self._db, [self.lease])
        except StorageError:
            return False
        return True

    @property
    def id(self) -> TurnId:
        """The id of the turn."""
        return self.turn.id

    async def store_held(self) -> None:
        """Store the messages that are held back. The caller has `writing`.

        If that failed before, look first whether the messages were stored all the same.
        """
        await self._drop_stored()
        if self._held:
            self._unsure = len(self._held)
            self.last_seq = await append(self._db, self.lease, self._held)
            self._held.clear()
            self._unsure = 0

    async def _drop_stored(self) -> None:
        """Drop the held messages that are in the store though their append failed."""
        doubtful = sum(message.role in _OUTPUT for message in self._held[: self._unsure])
        if doubtful:
            lines = await self._db.read(
                queries.transcript,
                self.lease.session_id,
                after=self.last_seq,
                most=2 * HELD_MESSAGES,
            )
            # Nothing but an append of this turn, under this lease, can have written them.
            stored = sum(line.turn_id == self.id and line.role in _OUTPUT for line in lines)
            if stored >= doubtful:
                del self._held[: self._unsure]
        self._unsure = 0

    async def store_usage(self) -> None:
        """Store what was spent on a turn that is no longer ours: it has to be paid all the same."""
        if self._usage:
            await self._db.write(spend, self.lease, self._usage)
            self._usage = []

    def last_words(self) -> tuple[list[NewMessage], str] | None:
        """Return what is not stored yet; None if a write is under way, or nothing can be stored."""
        if self.writing.locked() or self._unsure or self.is_asking:
            return None
        return list(self._held), self.unsaved()

    def unsaved(self) -> str:
        """Return the text that is in no checkpoint yet."""
        return "".join(self._said[self._saved :])

    def mark_saved(self, count: int) -> None:
        """Remember that so many pieces are safe."""
        self._saved = count

    @property
    def pieces(self) -> int:
        """How many pieces were said since the last message."""
        return len(self._said)

    @property
    def seconds(self) -> float:
        """How long ago its agent was begun."""
        return asyncio.get_running_loop().time() - self.begun_at

    def when_closed(self, callback: Callable[[], None]) -> None:
        """Call something as soon as the turn runs no longer."""
        self._on_closed.append(callback)

    def close(
        self, state: TurnState, *, question: str | None = None, error: str | None = None
    ) -> None:
        """Tell whoever listens that the turn runs no longer; only the first call does so."""
        if self.phase is TurnPhase.CLOSED:
            return
        self._enter(TurnPhase.CLOSED)
        self.state = state
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(LeaseLost(id=str(self.turn.id)))
        for callback in self._on_closed:
            callback()
        self._publish(TurnClosed(turn_id=self.turn.id, state=state, question=question, error=error))

    async def _take(self, output: Output) -> None:
        match output:
            case TextDelta():
                self._note_speech()
                self._say(checked_text(output.text, "streamed output"))
            case NewMessage():
                self._note_speech()
                await self._hold(output)
                self._publish(MessageAdded(turn_id=self.turn.id, message=output))
            case ReasoningDelta():
                self._think(checked_text(output.text, "thought"))
            case Memory():
                await self.outlast(lambda: self._store_memory(output))
            case Usage():
                if len(self._usage) == USAGE_LIMIT:
                    raise AgentError(f"The agent reported usage more than {USAGE_LIMIT:,} times")
                self._usage.append(output)
            case _:
                raise AgentError(f"The agent yielded {type(output).__name__}, which is no output")

    async def _hold(self, message: NewMessage) -> None:
        """Store what was held before, and hold this message; while storage fails, hold both."""
        async with self.writing:
            self._check()
            if not self._unsure:  # Else storage failed: the next beat tries again.
                with suppress(StorageError):
                    await self.store_held()
            self._held.append(message)
            self._said.clear()
            self._saved = self._length = 0
        characters = sum(len(plain_text(held.parts)) for held in self._held[:-1])
        if len(self._held) > HELD_MESSAGES or characters > HELD_CHARACTERS:
            await self.outlast(self.store_held)

    async def _store_memory(self, memory: Memory) -> None:
        # It may speak of what was said before it, which is therefore stored first.
        await self.store_held()
        await self._db.write(save_agent_memory, self.lease, memory.text)

    async def _store_end(self) -> None:
        await self._drop_stored()
        messages = [*self._held, *self._spoken()]
        await self._db.write(finish, self.lease, messages, usage=self._usage, deliver=self.delivers)

    async def _store_failure(self, why: str) -> None:
        if text := self.unsaved():
            await checkpoint(self._db, [(self.lease, text)])
            self.mark_saved(self.pieces)
        await self._db.write(
            store_finish.fail, self.lease, why, usage=self._usage, deliver=self.delivers
        )

    def _hear(self) -> None:
        self.heard_at = asyncio.get_running_loop().time()
        self.warned_at = None

    async def _breathe(self) -> None:
        self._outputs += 1
        if self._outputs % _BREATH == 0:
            await asyncio.sleep(0)

    def _say(self, text: str) -> None:
        if not text:
            return
        self._length += len(text)
        if self._length > TEXT_LIMIT:
            raise AgentError(f"The answer is longer than {TEXT_LIMIT} characters")
        self._said.append(text)
        self._publish(Delta(turn_id=self.turn.id, text=text))

    def _think(self, text: str) -> None:
        self._thought += len(text)
        if self._thought > THOUGHTS_LIMIT:
            raise AgentError(f"The agent thought more than {THOUGHTS_LIMIT:,} characters")
        if text:
            self._publish(Thinking(turn_id=self.turn.id, text=text))

    async def _finish(self) -> None:
        self._begin_end()
        await self._bring_to(TurnState.DONE, self._store_end)
        self.close(TurnState.DONE)

    async def _wait(self, question: Question) -> None:
        checked_text(question.text, "question")
        self._begin_end()
        async with self.writing:
            self._hold_spoken()
        await self._bring_to(
            TurnState.WAITING, lambda: self._store_question(question, keep_lease=False)
        )
        self.close(TurnState.WAITING, question=question.text)

    async def _pose(self, question: Question, answer: "asyncio.Future[str]") -> None:
        """Let the turn wait in the store, under our lease."""
        async with self.writing:
            self._check()
            spoken = self._hold_spoken()

        has_failed = False

        async def pose() -> None:
            nonlocal has_failed
            if answer.done():  # It came before we knew that we had asked.
                return
            self._answer = answer
            try:
                if not has_failed or not await self._was_asked():
                    await self._store_question(question, keep_lease=True)
            except StorageError:
                has_failed = True  # The turn may wait in the store: `_answer` stays.
                raise
            except ThreadlineError:
                self._answer = None
                raise

        await self.outlast(pose)
        for message in spoken:
            self._publish(MessageAdded(turn_id=self.turn.id, message=message))
        if answer.done():
            return
        self._usage = []
        waiting = TurnState.WAITING
        self._publish(TurnClosed(turn_id=self.turn.id, state=waiting, question=question.text))
        if has_failed:
            await self.look_for_answer()

    async def _was_asked(self) -> bool:
        """Return whether a question is stored though its commit seemed to fail."""
        now = await self._db.read(read_turn, self.id)
        return now.attempts == self.turn.attempts and now.asked_at != self._asked_at

    def _note_asked(self, now: Turn) -> None:
        """Note which question was asked last. What was spent before it was stored with it."""
        if now.asked_at != self._asked_at:
            self._asked_at, self._usage = now.asked_at, []

    async def _store_question(self, question: Question, *, keep_lease: bool) -> None:
        await self.store_held()
        await self._db.write(
            wait,
            self.lease,
            question,
            usage=self._usage,
            deliver=self.delivers,
            keep_owner=self._db.owner if keep_lease else None,
        )

    def _hold_spoken(self) -> list[NewMessage]:
        """Make a message of what was streamed, hold it with the others, and return it."""
        spoken = self._spoken()
        self._held += spoken
        self._said.clear()
        self._saved = self._length = 0
        return spoken

    def _go_on(self, answer: str | None = None) -> None:
        """Run again after a question, with its answer if somebody still waits for that."""
        asked, self._answer = self._answer, None
        if asked is not None and not asked.done():
            asked.cancel() if answer is None else asked.set_result(answer)
        self._hear()
        self._publish(TurnBegun(turn_id=self.turn.id, lease=self.lease))

    async def _until_answered(self) -> None:
        """Wait while a person is asked: until then nothing of this turn can be stored."""
        while self._answer is not None:
            if self._answer.cancelled():
                await self._take_back()
            else:
                await asyncio.wait({self._answer})

    async def _take_back(self) -> None:
        """Deny a question to whose answer nobody listens any more, so that the turn runs again."""
        if self._answer is None or self.is_over:
            return
        with suppress(LeaseLost, StorageError):
            await self.outlast(self._deny)
        self._go_on()

    async def _deny(self) -> None:
        with suppress(Conflict):  # It was answered just now, or never stored.
            await self._db.write(stop_and_wait.answer, self.turn.id, write_answer(Approval.DENIED))
        self._note_asked(await self._db.read(read_turn, self.id))

    def _publish(self, happening: Happening) -> None:
        self._live.publish(self.lease.session_id, happening)

    def _spoken(self) -> list[NewMessage]:
        text = "".join(self._said)
        return [say(Role.ASSISTANT, text)] if text else []

    async def _require_lease(self) -> None:
        """Raise `LeaseLost` if the turn is lost; ask the store where the lease may have expired."""
        self._check()
        if self.proof.has_lapsed:
            asked_at = self.proof.clock()
            # While storage fails the agent may go on: nothing of it is stored without the lease.
            with suppress(StorageError):
                if await renew(self._db, [self.lease]):
                    raise LeaseLost(id=str(self.turn.id))
            self.proof.confirm(asked_at)

    def _check(self) -> None:
        # An agent that does not end when it is cancelled shall at least say nothing more.
        if self.is_over:
            raise LeaseLost(id=str(self.turn.id))


async def end_iterator(outputs: AsyncIterator[object]) -> None:
    """End an iterator that may not have come to its end."""
    close = getattr(outputs, "aclose", None)
    if close is not None:
        await close()
