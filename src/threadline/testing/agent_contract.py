"""The agent contract: what every agent must do, as tests for anybody's own suite.

    class TestMyAgent(AgentContract):
        def make_agent(self) -> Agent:
            return MyAgent()

The tests are coroutines; run them with anyio or any other plugin for asyncio.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from typing import TypeAlias, get_args

from threadline.core.address import Kind
from threadline.core.agent import Agent, Output, Question, Request, TextDelta
from threadline.core.approval import Approval, write_answer
from threadline.core.context import ChatInfo, Context, Trigger, render
from threadline.core.message import BlobHash, Message, MessageKey, NewMessage, Role, Text
from threadline.core.session import Cause, Session, SessionId
from threadline.core.turn import Turn, TurnId, TurnState
from threadline.testing.clock import A_MONDAY
from threadline.testing.deadline import HANG_SECONDS

_FILE = b"a small file"


Ask: TypeAlias = Callable[[Question], Awaitable[str]]
"""Answers what an agent asks while it goes on."""


async def deny(_: Question) -> str:
    """Say no to whatever is asked."""
    return write_answer(Approval.DENIED)


def request_for(
    *texts: str,
    attempts: int = 1,
    answer: str | None = None,
    ask: Ask = deny,
    memory: str | None = None,
    allowed: Collection[str] = (),
) -> Request:
    """Make a request that asks these things, the last one now; `ask` answers a live question."""
    session_id = SessionId("20260302_090000_00000001")
    history = [
        Message(
            key=MessageKey(seq),
            session_id=session_id,
            seq=seq,
            role=Role.USER,
            parts=(Text(text=text),),
            at=A_MONDAY,
            turn_id=TurnId(seq),
            sender_id="alice",
            sender_name="Alice",
        )
        for seq, text in enumerate(texts, start=1)
    ]
    context = Context(here=ChatInfo(platform="local", kind=Kind.DM), who="Alice")
    return Request(
        session=_session(session_id, len(history)),
        turn=_turn(session_id, TurnId(len(history)), attempts, answer),
        history=tuple(history),
        steering=_no_steering,
        read_blob=_read_file,
        context=context,
        instructions=render(context),
        trigger=Trigger(at=A_MONDAY),
        ask=ask,
        memory=memory,
        allowed=frozenset(allowed),
    )


async def outputs_of(agent: Agent, request: Request) -> list[Output]:
    """Collect everything that an agent yields for a request, up to a question."""
    outputs: list[Output] = []
    iterator = agent.answer(request)
    async for output in iterator:
        outputs.append(output)
        if isinstance(output, Question):
            break
    if (close := getattr(iterator, "aclose", None)) is not None:
        await close()
    return outputs


def words_of(outputs: Sequence[Output]) -> str:
    """Join what a person would read of an answer."""
    said: list[str] = []
    streamed = ""
    for output in outputs:
        match output:
            case TextDelta():
                streamed += output.text
            case NewMessage():
                streamed = ""
                said += [part.text for part in output.parts if isinstance(part, Text)]
            case _:
                pass
    return "\n".join([*said, streamed]).strip()


class AgentContract(ABC):
    """What the worker relies on. Subclass it, and say how your agent is made."""

    prompt = "hello"
    """Something that the agent answers without a question."""

    @abstractmethod
    def make_agent(self) -> Agent:
        """Make the agent under test."""

    async def test_it_answers(self) -> None:
        """An agent that is asked says something."""
        outputs = await outputs_of(self.make_agent(), request_for(self.prompt))

        assert words_of(outputs)

    async def test_it_yields_only_outputs(self) -> None:
        """Everything it yields is one of the outputs that a worker knows what to do with."""
        outputs = await outputs_of(self.make_agent(), request_for(self.prompt))

        for output in outputs:
            assert isinstance(output, get_args(Output)), f"{output!r} is no output"

    async def test_its_messages_are_its_own(self) -> None:
        """It never speaks for the person."""
        outputs = await outputs_of(self.make_agent(), request_for(self.prompt))

        messages = [output for output in outputs if isinstance(output, NewMessage)]
        assert all(message.role in {Role.ASSISTANT, Role.TOOL} for message in messages)

    async def test_it_remembers_nothing(self) -> None:
        """One agent object serves all sessions: a request is answered from its history alone."""
        agent = self.make_agent()
        await outputs_of(agent, request_for("the secret is swordfish"))

        outputs = await outputs_of(agent, request_for(self.prompt))

        assert "swordfish" not in words_of(outputs)

    async def test_it_answers_many_at_once(self) -> None:
        """Turns of different sessions run at the same time on one agent object."""
        agent = self.make_agent()

        answers = await asyncio.gather(
            *(outputs_of(agent, request_for(self.prompt)) for _ in range(8))
        )

        assert all(words_of(outputs) for outputs in answers)

    async def test_it_goes_on_after_being_cut_off(self) -> None:
        """A turn that was begun before is answered as well as a new one."""
        outputs = await outputs_of(self.make_agent(), request_for(self.prompt, attempts=2))

        assert words_of(outputs)

    async def test_a_cancelled_answer_ends_at_once(self) -> None:
        """Cancelling ends it, and is not swallowed."""
        task = asyncio.create_task(outputs_of(self.make_agent(), request_for(self.prompt)))
        await asyncio.sleep(0)
        was_quicker = not task.cancel()

        done, _ = await asyncio.wait({task}, timeout=HANG_SECONDS)

        assert task in done, "it goes on after it was cancelled"
        assert was_quicker or task.cancelled(), "it swallowed the cancellation"

    async def test_an_answer_can_be_left(self) -> None:
        """Whoever stops listening can close it, and nothing goes on behind their back."""
        before = asyncio.all_tasks()
        iterator = self.make_agent().answer(request_for(self.prompt))
        async for _ in iterator:
            break
        if (close := getattr(iterator, "aclose", None)) is not None:
            await close()
        await asyncio.sleep(0)

        assert asyncio.all_tasks() <= before


def _session(id: SessionId, last_seq: int) -> Session:
    return Session(
        id=id,
        profile="main",
        platform="local",
        kind=Kind.DM,
        parent_id=None,
        root_id=id,
        cause=Cause.FIRST,
        opened_at=A_MONDAY,
        last_activity_at=A_MONDAY,
        ended_at=None,
        end_reason=None,
        suspended_at=None,
        title="hello",
        titled_by=None,
        choice=None,
        last_seq=last_seq,
        revision=last_seq,
    )


def _turn(session_id: SessionId, id: TurnId, attempts: int, answer: str | None) -> Turn:
    return Turn(
        id=id,
        session_id=session_id,
        state=TurnState.RUNNING,
        attempts=attempts,
        queued_at=A_MONDAY,
        started_at=A_MONDAY,
        ended_at=None,
        first_seq=id,
        owner=None,
        lease_until=None,
        question=None if answer is None else "Shall I go on?",
        answer=answer,
        error=None,
        answered_by=None,
    )


async def _no_steering() -> Sequence[Message]:
    return ()


async def _read_file(_: BlobHash) -> AsyncIterator[bytes]:
    yield _FILE
