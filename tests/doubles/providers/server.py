"""The server of the double: whatever is asked over HTTP is answered by the script."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.doubles.providers.anthropic_messages import AnthropicMessages
from tests.doubles.providers.google_generate import GoogleGenerate
from tests.doubles.providers.openai_chat import OpenAIChat
from tests.doubles.providers.openai_responses import OpenAIResponses
from tests.doubles.providers.responder import Desk
from tests.doubles.providers.script import Reply, Says, Step
from tests.doubles.providers.wire import Asked, Received
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.loopback import listen

OK = "ok"
"""What is said when nothing was asked and nobody wrote a script."""
MODELS = ("gpt-5", "gpt-4o", "o4-mini")
"""What is listed when every name of a model is known."""


class ProviderDouble:
    """Serves every provider on a port of its own, for as long as `async with` lasts.

    OpenAI is found under `/openai/v1`, Anthropic under `/anthropic`, Google under `/google`,
    OpenRouter under `/openrouter/api/v1`, and under `/local/v1` a compatible server that wants no
    key.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        models: Collection[str] | None = None,
        window: int | None = None,
    ) -> None:
        """Know one key or any, some models or any, and read at most so many tokens."""
        self.requests: list[Received] = []
        """Every request, in order, whether it was taken or not."""
        self.url = ""
        self.key = key
        self.models = models
        self.window = window
        self.pace = 0.0
        """Seconds between the events of a stream."""
        self.hanging = 0
        """How many answers hang just now."""
        self._replies: deque[Reply] = deque()
        self._decide: Callable[[Asked], Reply] | None = None
        self._going_on = asyncio.Event()
        self._hung = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Begin to listen on the loopback."""
        app = Starlette(routes=self._routes())
        self.url = await self._open.enter_async_context(listen(app))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let everything end that hangs, and listen no more."""
        self.goes_on()
        await self._open.aclose()

    @property
    def last(self) -> Received:
        """The latest request."""
        assert self.requests, "nobody asked anything"
        return self.requests[-1]

    def will(self, *steps: Step) -> None:
        """Write the script of one more answer."""
        self._replies.append(Reply(*steps))

    def answers(self, decide: Callable[[Asked], Reply]) -> None:
        """Let a function decide by the request, whenever the script is at its end."""
        self._decide = decide

    def goes_on(self) -> None:
        """Let everything go on that hangs."""
        self._going_on.set()
        self._going_on = asyncio.Event()

    async def hangs(self) -> None:
        """Wait until an answer hangs."""
        async with asyncio.timeout(HANG_SECONDS):
            await self._hung.wait()

    async def is_free(self) -> None:
        """Wait until no answer hangs."""
        async with asyncio.timeout(HANG_SECONDS):
            await self._free.wait()

    def take(self, received: Received) -> int:
        """Write a request down, and answer which it is."""
        self.requests.append(received)
        return len(self.requests)

    def knows(self, model: str) -> bool:
        """Tell whether there is such a model."""
        return self.models is None or model in self.models

    def reply_to(self, asked: Asked) -> Reply:
        """Answer what is to be said: by the script, by the function, or what was just heard."""
        if self._replies:
            return self._replies.popleft()
        return self._decide(asked) if self._decide else Reply(Says(asked.text or OK))

    async def hang(self) -> None:
        """Wait until the test lets everything go on."""
        self.hanging += 1
        self._hung.set()
        self._free.clear()
        try:
            await self._going_on.wait()
        finally:
            self.hanging -= 1
            if not self.hanging:
                self._hung.clear()
                self._free.set()

    def _routes(self) -> list[Route]:
        google = GoogleGenerate()
        desks = {
            "/openai/v1/chat/completions": Desk(self, OpenAIChat()),
            "/openrouter/api/v1/chat/completions": Desk(self, OpenAIChat(tells_cost=True)),
            "/local/v1/chat/completions": Desk(self, OpenAIChat(), wants_key=False),
            "/openai/v1/responses": Desk(self, OpenAIResponses()),
            "/anthropic/v1/messages": Desk(self, AnthropicMessages()),
            "/google/{version}/models/{model}:generateContent": Desk(self, google),
            "/google/{version}/models/{model}:streamGenerateContent": Desk(self, google),
        }
        routes = [Route(path, desk, methods=["POST"]) for path, desk in desks.items()]
        return [*routes, Route("/{name}/v1/models", self._list_models)]

    async def _list_models(self, _: Request) -> Response:
        """List the models as OpenAI does."""
        names = MODELS if self.models is None else sorted(self.models)
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "x"} for name in names]
        return JSONResponse({"object": "list", "data": rows})
