"""The whole agent, as the gateway opens it: a real server of tools, and a provider on the wire."""

import subprocess
import sys
from pathlib import Path

from msgspec.structs import replace

from tests.agents.model.provider_agent import FREE, NAMES, settings_of
from tests.agents.model.stored_conversation import Talk
from tests.doubles.providers import Calls, ProviderDouble, Says, Thinks
from threadline.agents.model import open_model_agent
from threadline.agents.settings import McpServer, ModelSettings
from threadline.core.message import Role, ToolResult

PROGRAM = Path(__file__).with_name("mcp_server.py")


def with_servers(double: ProviderDouble) -> ModelSettings:
    crooked = McpServer(name="crooked", command=(sys.executable, str(PROGRAM)))
    gone = McpServer(name="gone", command=("/no/such/program",))
    return replace(settings_of(double, NAMES[0], tools=FREE), servers=(gone, crooked))


async def test_a_server_that_crashes_comes_back_in_the_same_turn() -> None:
    """A model is told that a tool broke down, calls the next one, and comes to its answer."""
    talk = Talk()
    async with ProviderDouble() as double, open_model_agent(with_servers(double)) as agent:
        double.will(Thinks("Let us see."), Calls(("crooked_add", {"a": 1, "b": 2})))
        double.will(Thinks("Hm."), Calls(("crooked_crash", {})))
        double.will(Thinks("Oh."), Calls(("crooked_add", {"a": 3, "b": 4})))
        double.will(Says("It came back."))
        said = await talk.says(agent, "Try everything")
        offered = {tool["name"] for tool in double.requests[0].json["tools"]}

    assert said == "It came back."
    first, crashed, again = (part for part in talk.parts(Role.TOOL) if isinstance(part, ToolResult))
    assert (first.text, first.is_error) == ("3", False)
    assert crashed.is_error
    assert (again.text, again.is_error) == ("7", False)
    assert {"crooked_add", "crooked_crash"} <= offered
    assert not [name for name in offered if name.startswith("gone_")]


def test_the_room_is_cheap_to_look_into() -> None:
    """Whoever only names the model agent does not wait for the packages of all providers."""
    code = (
        "import sys, threadline.agents.model, threadline.agents.profiles;"
        "sys.exit(bool({'pydantic_ai', 'openai', 'anthropic', 'mcp'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
