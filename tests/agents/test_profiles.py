from datetime import UTC, datetime

from threadline.agents.profiles import ByProfile
from threadline.core.gateway_status import ServerHealth, ServerState
from threadline.testing.scripted_agent import ScriptedAgent

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class WithTools(ScriptedAgent):
    """An agent with one MCP server."""

    def __init__(self, state: ServerState) -> None:
        super().__init__()
        self._state = state

    def servers(self) -> dict[str, ServerHealth]:
        return {"notes": ServerHealth(state=self._state, since=NOON)}


def test_of_several_connections_to_a_server_the_one_that_is_down_is_shown() -> None:
    """Each profile has its own connection: a broken one is not hidden by one that works."""
    states = [ServerState.IDLE, ServerState.UP, ServerState.DOWN]
    shown = {
        (first, second): ByProfile({"a": WithTools(first)}, WithTools(second)).servers()["notes"]
        for first in states
        for second in states
    }

    for pair, health in shown.items():
        assert health.state is max(pair, key=states.index)


def test_agents_without_servers_show_none() -> None:
    """An agent that uses no MCP servers has no say in it."""
    assert ByProfile({"a": ScriptedAgent()}, ScriptedAgent()).servers() == {}
