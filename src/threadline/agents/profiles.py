"""Agents by profile: each profile is answered by its own, the others by one for all."""

from collections.abc import AsyncIterator, Mapping, Sequence

from threadline.core.agent import Agent, Output, Request
from threadline.core.message import Message
from threadline.core.scribe import Scribe, Written
from threadline.core.session import Session


class ByProfile:
    """Gives each request to the agent of its profile."""

    def __init__(self, agents: Mapping[str, Agent], default: Agent) -> None:
        """Take the agents by profile, and who answers for all others."""
        self._agents = dict(agents)
        self._default = default

    def answer(self, request: Request) -> AsyncIterator[Output]:
        """Let the agent of the profile answer."""
        return self._agents.get(request.session.profile, self._default).answer(request)


class ScribeByProfile:
    """Lets the scribe of its profile write about each session."""

    def __init__(self, scribes: Mapping[str, Scribe], default: Scribe) -> None:
        """Take the scribes by profile, and who writes for all others."""
        self._scribes = dict(scribes)
        self._default = default

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read at once."""
        return self._scribe(session).window(session)

    async def write_title(self, session: Session, lines: Sequence[Message]) -> Written:
        """Name a conversation."""
        return await self._scribe(session).write_title(session, lines)

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> Written:
        """Write what the agent has to know in the place of these lines."""
        return await self._scribe(session).write_summary(session, lines, focus)

    def _scribe(self, session: Session) -> Scribe:
        return self._scribes.get(session.profile, self._default)
