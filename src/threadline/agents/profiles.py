"""Profiles: each profile is answered by its own, the others by one for all."""

from collections.abc import AsyncIterator, Mapping, Sequence

from threadline.core.agent import Agent, Output, Request
from threadline.core.gateway_status import ServerHealth, ServerState, agent_servers
from threadline.core.message import Message
from threadline.core.session import Session
from threadline.core.summarizer import Summarizer, SummarizerOutput


class ByProfile:
    """Gives each request to the agent of its profile."""

    def __init__(self, agents: Mapping[str, Agent], default: Agent) -> None:
        """Take the agents by profile, and who answers for all others."""
        self._agents = dict(agents)
        self._default = default

    def answer(self, request: Request) -> AsyncIterator[Output]:
        """Let the agent of the profile answer."""
        return self._agents.get(request.session.profile, self._default).answer(request)

    def servers(self) -> dict[str, ServerHealth]:
        """Return the state of each MCP server by its name.

        Each agent has its own connections. Of several to one server, one that is down is shown.
        """
        found: dict[str, ServerHealth] = {}
        for agent in (self._default, *self._agents.values()):
            for name, health in agent_servers(agent).items():
                is_first = name not in found or found[name].state is ServerState.IDLE
                if is_first or health.state is ServerState.DOWN:
                    found[name] = health
        return found


class SummarizerByProfile:
    """Lets the scribe of its profile write about each session."""

    def __init__(self, scribes: Mapping[str, Summarizer], default: Summarizer) -> None:
        """Take the scribes by profile, and who writes for all others."""
        self._scribes = dict(scribes)
        self._default = default

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read at once."""
        return self._scribe(session).window(session)

    async def write_title(self, session: Session, lines: Sequence[Message]) -> SummarizerOutput:
        """Name a conversation."""
        return await self._scribe(session).write_title(session, lines)

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> SummarizerOutput:
        """Write what the agent has to know in the place of these lines."""
        return await self._scribe(session).write_summary(session, lines, focus)

    def _scribe(self, session: Session) -> Summarizer:
        return self._scribes.get(session.profile, self._default)
