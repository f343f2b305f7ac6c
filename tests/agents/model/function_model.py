"""A model that is a function, and an agent with it: no provider, no wire."""

from collections.abc import AsyncIterator, Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from threadline.agents.model.agent import ModelAgent
from threadline.agents.model.tools import Toolset
from threadline.agents.settings import ModelSettings
from threadline.core.approval import ToolRules

Call = tuple[str, str]
"""The name of a tool, and its arguments."""


class Actor:
    """Says and calls, step by step, what a test wants; and remembers what it was sent."""

    def __init__(self, *steps: str | Sequence[Call]) -> None:
        """Take the steps: words, or calls that are made at once."""
        self.sent: list[list[ModelMessage]] = []
        self.infos: list[AgentInfo] = []
        self._steps = list(steps)
        self._calls = 0

    async def speak(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        """Do the next step."""
        self.sent.append(list(messages))
        self.infos.append(info)
        step = self._steps.pop(0) if self._steps else "ok"
        if isinstance(step, str):
            yield step
            return
        for at, (name, arguments) in enumerate(step):
            self._calls += 1
            yield {at: DeltaToolCall(name, arguments, tool_call_id=f"call_{self._calls}")}

    def model(self) -> FunctionModel:
        """Make the model that this actor plays."""
        return FunctionModel(stream_function=self.speak)

    @property
    def texts(self) -> list[str]:
        """Everything that it was last told, as text."""
        return [
            part.content if isinstance(part.content, str) else str(part.content)
            for message in self.sent[-1]
            if isinstance(message, ModelRequest)
            for part in message.parts
            if hasattr(part, "content")
        ]

    @property
    def offered(self) -> list[str]:
        """The tools that it was last offered."""
        return [tool.name for tool in self.infos[-1].function_tools]


def agent_of(
    actor: Actor,
    *toolsets: Toolset,
    tools: ToolRules = ToolRules(ask=()),
    **settings: object,
) -> ModelAgent:
    """Make an agent whose every model is played by this actor."""
    configured = ModelSettings(model="stage:actor", tools=tools, **settings)  # type: ignore[arg-type]
    return ModelAgent(configured, lambda _name, _url: actor.model(), toolsets=toolsets)


def files(done: list[str]) -> FunctionToolset[None]:
    """Make tools that leave a trace of what was done with them."""
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    def files_read(path: str) -> str:
        """Read a file."""
        done.append(f"read {path}")
        return f"content of {path}"

    @tools.tool_plain
    def files_write(path: str) -> str:
        """Write a file."""
        done.append(f"wrote {path}")
        return "written"

    return tools
