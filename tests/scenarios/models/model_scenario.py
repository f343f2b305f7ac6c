"""A gateway's house in which real models answer: their providers are the double, on the wire."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing

from tests.agents.model.provider_agent import Pauses, opened
from tests.doubles.providers import ProviderDouble
from threadline.agents.model import ModelSummarizer
from threadline.agents.model.agent import ModelAgent
from threadline.agents.model.mcp_tools import open_servers
from threadline.agents.model.tools import Toolset
from threadline.agents.settings import ModelSettings
from threadline.core.agent import Output, Request
from threadline.core.settings import Settings
from threadline.core.turn import TurnId
from threadline.gateway.settings import GatewaySettings
from threadline.testing.gateway_scenario import GatewayScenario, hospitable, unhurried
from threadline.testing.scenario import OpenStore
from threadline.testing.scripted_agent import ScriptedAgent

PLATFORMS = ("telegram", "discord")


class Mind(ScriptedAgent):
    """Lets a model answer; it hangs while the double does."""

    def __init__(self, double: ProviderDouble) -> None:
        """Begin without a model."""
        super().__init__()
        self.model: ModelAgent | None = None
        self._double = double
        self._answering: set[TurnId] = set()

    @property
    def parked(self) -> frozenset[TurnId]:
        """The turns that wait for a provider which says nothing."""
        hangs = self._double.hanging and self._double.hanging >= len(self._answering)
        return frozenset(self._answering) if hangs else frozenset()

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer as the model does."""
        assert self.model is not None
        self._answering.add(request.turn.id)
        try:
            async with aclosing(self.model.answer(request)) as outputs:  # type: ignore[type-var]
                async for output in outputs:
                    yield output
        finally:
            self._answering.discard(request.turn.id)


class ModelHouse(GatewayScenario):
    """A house whose agent and scribe are models; each gateway has new ones."""

    def __init__(
        self,
        open_store: OpenStore,
        double: ProviderDouble,
        models: ModelSettings,
        *tools: Toolset,
        rules: Settings | None = None,
        titles: bool = False,
    ) -> None:
        """Build a house; nobody names its conversations, unless a story is about that."""
        access = hospitable(*PLATFORMS)
        settings = GatewaySettings(access=access, pace=unhurried(), titles=titles)
        super().__init__(open_store, names=PLATFORMS, rules=rules, settings=settings)
        self.models = models
        self.double = double
        self.pauses = Pauses()
        self.agent: Mind = Mind(double)
        self._tools: Sequence[Toolset] = tools
        self._mind = AsyncExitStack()

    async def comes_back(self, settings: GatewaySettings | None = None) -> None:
        """Begin to serve, with a mind that knows nothing of the one before."""
        servers = await self._mind.enter_async_context(open_servers(self.models.servers))
        self.agent.model = await self._mind.enter_async_context(
            opened(self.models, *servers, *self._tools, sleep=self.pauses)
        )
        self.scribe = ModelSummarizer(self.models, sleep=self.pauses)
        await super().comes_back(settings)

    async def _leave(self) -> None:
        self.agent.model = None
        await self._mind.aclose()
        await super()._leave()

    async def hangs(self) -> None:
        """Wait until a provider says nothing more."""
        await self.double.hangs()
        await self.rests()

    async def goes_on(self) -> None:
        """Let the provider speak again, until everything rests."""
        self.double.goes_on()
        await self.double.is_free()
        await self.rests()
