"""A running turn: what an agent has said so far, and how much of it is stored."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

from threadline.core.agent import Memory, Output, Piece, Question, Thought
from threadline.core.approval import Approval, write_answer
from threadline.core.errors import AgentError, Conflict, LeaseLost, ThreadlineError
from threadline.core.message import Message, NewMessage, Role, say
from threadline.core.text import TEXT_LIMIT, checked_text, checked_type
from threadline.core.turn import TurnState
from threadline.core.usage import Usage
from threadline.gateway.live import Begun, Closed, Delta, Happening, Line, Live, Thinking
from threadline.sessions.store import Store
from threadline.sessions.turns.claim import Claim

USAGE_LIMIT = 1000
"""How often an agent may report usage in one turn."""
THOUGHTS_LIMIT = 10_000_000
"""Characters that an agent may think in one turn; none of them is kept."""
_BREATH = 64
"""After so many outputs everybody else has a turn, though the agent itself waits for nothing."""


class RunningTurn:
    """Takes an agent's output and brings it into the store, one writer at a time.

    A message is held back until something comes after it, or until the next beat: the last one is
    then stored together with the end of the turn, in one commit.
    """

    def __init__(self, store: Store, claim: Claim, live: Live) -> None:
        """Begin with nothing said."""
        self.turn = claim.turn
        self.lease = claim.lease
        self.profile = claim.profile
        self.platform = claim.platform
        self.state = TurnState.RUNNING
        self.delivers = True
        """What it says is owed to a platform."""
        self.is_lost = False
        self.is_ending = False
        self.has_spoken = False
        """Its agent has said something that is kept, or that somebody may have seen."""
        self.begun_at = self.heard_at = asyncio.get_running_loop().time()
        """When its agent was begun, and when it last said something, by the clock of the loop."""
        self.warned_at: float | None = None
        """When it was said that the agent says nothing."""
        self.writing = asyncio.Lock()
        """Whoever stores something of this turn has it: no checkpoint may overtake a message."""
        self._store = store
        self._live = live
        self._on_closed: list[Callable[[], None]] = []
        self._held: list[NewMessage] = []
        self._said: list[str] = []
        self._saved = 0
        self._length = 0
        self._usage: list[Usage] = []
        self._outputs = self._thought = 0
        self._asking = asyncio.Lock()
        """Whoever asks a person has it: one question at a time."""
        self._answer: asyncio.Future[str] | None = None
        """What a person is asked for, while the agent waits; cancelled: it waits no longer."""
        self._publish(Begun(turn_id=self.turn.id, lease=self.lease))

    async def follow(self, outputs: AsyncIterator[Output]) -> None:
        """Take all that an agent yields, then end the turn, or let it wait for an answer."""
        question = None
        try:
            async for output in outputs:
                self._hear()
                await self._breathe()
                await self._until_answered()
                self._check()
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
        """End the turn visibly, and keep what was said; its agent can say nothing more."""
        self._check()
        self.is_ending = True
        await self._take_back()
        async with self.writing:
            try:
                await self.store_held()
            except LeaseLost:
                raise
            except ThreadlineError:
                # It may be this very message that could not be stored; `why` says so.
                self._held.clear()
            await self._store.checkpoint([(self.lease, self.unsaved())])
            await self._store.fail(self.lease, why, usage=self._usage, deliver=self.delivers)
        self.is_lost = True
        self.close(TurnState.FAILED, error=why)

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
                answer.cancel()
                raise

    @property
    def is_asking(self) -> bool:
        """Whether a person is asked, and the agent waits for the answer."""
        return self._answer is not None

    async def look_for_answer(self) -> None:
        """Let the agent go on if the store knows the answer that it waits for."""
        async with self.writing:
            if self._answer is None or self._answer.done():
                return
            now = await self._store.turn(self.turn.id)
            is_ours = now.state is TurnState.RUNNING and now.attempts == self.turn.attempts
            if is_ours and now.answer is not None:
                self._go_on(now.answer)

    async def take_steering(self) -> Sequence[Message]:
        """Take what was said to this running turn since it was last asked."""
        await self._until_answered()
        async with self.writing:
            self._check()
            await self.store_held()
            before, last = await self._store.take_steering(self.lease)
        if last == before:
            return []
        return await self._store.transcript(self.lease.session_id, after=before, most=last - before)

    async def store_held(self) -> None:
        """Store the messages that are held back. The caller has `writing`."""
        if self._held:
            await self._store.append(self.lease, self._held)
            self._held.clear()

    async def store_usage(self) -> None:
        """Store what was spent on a turn that is no longer ours: it has to be paid all the same."""
        if self._usage:
            await self._store.spend(self.lease, self._usage)
            self._usage = []

    def unsaved(self) -> str:
        """Answer the text that no checkpoint has seen yet."""
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
        """Tell whoever listens that the turn runs no longer."""
        self.state = state
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(LeaseLost(id=str(self.turn.id)))
        for callback in self._on_closed:
            callback()
        self._publish(Closed(turn_id=self.turn.id, state=state, question=question, error=error))

    async def _take(self, output: Output) -> None:
        match output:
            case Piece():
                self.has_spoken = True
                self._say(checked_text(output.text, "streamed output"))
            case NewMessage():
                self.has_spoken = True
                async with self.writing:
                    self._check()
                    await self.store_held()
                    self._held.append(output)
                    self._said.clear()
                    self._saved = self._length = 0
                self._publish(Line(turn_id=self.turn.id, message=output))
            case Thought():
                self._think(checked_text(output.text, "thought"))
            case Memory():
                async with self.writing:
                    self._check()
                    # It may speak of what was said before it, which is therefore stored first.
                    await self.store_held()
                    await self._store.remember(self.lease, output.text)
            case Usage():
                if len(self._usage) == USAGE_LIMIT:
                    raise AgentError(f"The agent reported usage more than {USAGE_LIMIT:,} times")
                self._usage.append(output)
            case _:
                raise AgentError(f"The agent yielded {type(output).__name__}, which is no output")

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
        self.is_ending = True
        async with self.writing:
            messages = [*self._held, *self._spoken()]
            await self._store.finish(self.lease, messages, usage=self._usage, deliver=self.delivers)
        self.close(TurnState.DONE)

    async def _wait(self, question: Question) -> None:
        checked_text(question.text, "question")
        self.is_ending = True
        async with self.writing:
            self._held += self._spoken()
            self._said.clear()
            await self.store_held()
            await self._store.wait(self.lease, question, usage=self._usage, deliver=self.delivers)
        self.close(TurnState.WAITING, question=question.text)

    async def _pose(self, question: Question, answer: "asyncio.Future[str]") -> None:
        """Let the turn wait in the store, under our lease."""
        async with self.writing:
            self._check()
            spoken = self._spoken()
            self._held += spoken
            self._said.clear()
            self._saved = self._length = 0
            await self.store_held()
            usage, self._answer = self._usage, answer
            try:
                await self._store.wait(
                    self.lease, question, usage=usage, deliver=self.delivers, keep_lease=True
                )
            except ThreadlineError:
                self._answer = None
                raise
            self._usage = []
        for message in spoken:
            self._publish(Line(turn_id=self.turn.id, message=message))
        waiting = TurnState.WAITING
        self._publish(Closed(turn_id=self.turn.id, state=waiting, question=question.text))

    def _go_on(self, answer: str | None = None) -> None:
        """Run again after a question, with its answer if somebody still waits for that."""
        asked, self._answer = self._answer, None
        if asked is not None and not asked.done():
            asked.cancel() if answer is None else asked.set_result(answer)
        self._hear()
        self._publish(Begun(turn_id=self.turn.id, lease=self.lease))

    async def _until_answered(self) -> None:
        """Wait while a person is asked: until then nothing of this turn can be stored."""
        while self._answer is not None:
            if self._answer.cancelled():
                await self._take_back()
            else:
                await asyncio.wait({self._answer})

    async def _take_back(self) -> None:
        """Deny a question to whose answer nobody listens any more, so that the turn runs again."""
        if self._answer is None or self.is_lost:
            return
        with suppress(Conflict):  # It was answered just now.
            await self._store.answer(self.turn.id, write_answer(Approval.DENIED))
        self._go_on()

    def _publish(self, happening: Happening) -> None:
        self._live.publish(self.lease.session_id, happening)

    def _spoken(self) -> list[NewMessage]:
        text = "".join(self._said)
        return [say(Role.ASSISTANT, text)] if text else []

    def _check(self) -> None:
        # An agent that does not end when it is cancelled shall at least say nothing more.
        if self.is_lost:
            raise LeaseLost(id=str(self.turn.id))


async def end_iterator(outputs: AsyncIterator[object]) -> None:
    """End an iterator that may not have come to its end."""
    close = getattr(outputs, "aclose", None)
    if close is not None:
        await close()
