"""A talk with an agent, kept as the store keeps it: whatever was said was packed and unpacked."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from msgspec.structs import replace

from threadline.core.agent import Agent, Output, Question, Request, TextDelta
from threadline.core.message import (
    Attachment,
    BlobHash,
    Message,
    MessageKey,
    NewMessage,
    Part,
    Role,
    Text,
    pack,
    say,
    unpack,
)
from threadline.core.session import Session
from threadline.core.turn import TurnId
from threadline.testing.agent_contract import request_for
from threadline.testing.clock import A_MONDAY


class Talk:
    """One conversation, whichever agent answers next."""

    def __init__(self, **session: object) -> None:
        """Begin with nothing said."""
        self.lines: list[Message] = []
        self.outputs: list[Output] = []
        """What the agent yielded last."""
        self.allowed: frozenset[str] = frozenset()
        self.blobs: dict[BlobHash, bytes] = {}
        self.steers: list[str] = []
        """What is said to the agent at its next step."""
        self._session: dict[str, object] = dict(session)
        self._asked: str | None = None
        self._turn = 0

    @property
    def session(self) -> Session:
        """The session as the agent sees it."""
        return replace(request_for("x").session, **self._session)

    async def says(self, agent: Agent, text: str, *attached: Attachment) -> str:
        """Say something, and answer what the agent said."""
        self._turn += 1
        self.keep(NewMessage(role=Role.USER, parts=(Text(text=text), *attached)))
        return await self.goes_on(agent)

    async def goes_on(self, agent: Agent, answer: str | None = None) -> str:
        """Let the turn run on, perhaps with an answer to its question."""
        asked = [one.text for one in self.outputs if isinstance(one, Question)]
        self._asked = asked[-1] if asked else self._asked
        self.outputs = []
        outputs = agent.answer(self.request(answer))
        try:
            async for output in outputs:
                self.outputs.append(output)
                if isinstance(output, NewMessage):
                    self.keep(output)
                if isinstance(output, Question):
                    break
        finally:
            await outputs.aclose()  # type: ignore[attr-defined]
        return self.lines[-1].text

    def request(self, answer: str | None = None) -> Request:
        """Make the request of the turn that runs."""
        plain = request_for("x")
        return replace(
            plain,
            session=self.session,
            turn=replace(plain.turn, id=TurnId(self._turn), question=self._asked, answer=answer),
            history=tuple(self.lines),
            steering=self._steering,
            read_blob=self._read_blob,
            allowed=self.allowed,
        )

    def keep(self, message: NewMessage) -> Message:
        """Keep a line, through the same needle's eye as a database."""
        seq = len(self.lines) + 1
        line = Message(
            key=MessageKey(seq),
            session_id=self.session.id,
            seq=seq,
            role=message.role,
            parts=unpack(*pack(message.parts)),
            at=A_MONDAY + timedelta(minutes=seq),
            turn_id=TurnId(self._turn),
            platform_id=f"m{seq}" if message.role is Role.USER else None,
        )
        self.lines.append(line)
        return line

    def parts(self, role: Role) -> list[Part]:
        """Answer all parts of the lines of a role."""
        return [part for line in self.lines if line.role is role for part in line.parts]

    @property
    def question(self) -> Question:
        """What the agent asked last."""
        asked = self.outputs[-1]
        assert isinstance(asked, Question), f"{asked!r} is no question"
        return asked

    @property
    def streamed(self) -> str:
        """What was said piece by piece."""
        return "".join(output.text for output in self.outputs if isinstance(output, TextDelta))

    async def _steering(self) -> Sequence[Message]:
        said = [self.keep(say(Role.USER, text)) for text in self.steers]
        self.steers = []
        return said

    async def _read_blob(self, blob: BlobHash) -> AsyncIterator[bytes]:
        yield self.blobs[blob]
