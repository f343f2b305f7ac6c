"""One shot: where a scribe asks its model, as often as a task needs, and notes what that spent."""

import asyncio
import random
from typing import TYPE_CHECKING

from msgspec import Struct, field

from threadline.agents.model.errors import EmptyAnswer, plain_error
from threadline.agents.model.models import make_model, open_http, provider_of
from threadline.agents.model.retries import Retries, RetryLimits, Sleep
from threadline.agents.model.tool_results import storable
from threadline.agents.model.usage import read_model_usage
from threadline.agents.settings import ModelSettings
from threadline.core.usage import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

ANSWER_TOKENS = 12_000
"""How much a model may write, and think, for one answer."""


class OneShot(Struct, frozen=True, kw_only=True):
    """One task for one model."""

    settings: ModelSettings
    name: str
    task: str
    base_url: str | None = None
    patience: RetryLimits = RetryLimits()
    sleep: Sleep = asyncio.sleep
    spent: list[Usage] = field(default_factory=list)

    async def ask(self, words: str, instructions: str | None = None) -> str:
        """Ask the model, again if that may help, and answer what it wrote."""
        retries = Retries(self.patience, chance=random.random)
        while True:
            try:
                return await self._ask_once(words, instructions)
            except Exception as error:  # noqa: BLE001 - it becomes a plain sentence
                pause = retries.wait_after(error)
                if pause is None:
                    raise plain_error(error, self.name) from None
            await self.sleep(pause)

    async def _ask_once(self, words: str, instructions: str | None) -> str:
        provider, model = provider_of(self.name)
        answer = await self._hear(words, instructions)
        self.spent.append(read_model_usage(answer, provider=provider, model=model, task=self.task))
        text = storable(answer.text or "").strip()
        if not text:
            raise EmptyAnswer
        return text

    async def _hear(self, words: str, instructions: str | None) -> "ModelResponse":
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest

        asked = ModelRequest.user_text_prompt(words, instructions=instructions)
        async with open_http() as http:
            model = make_model(self.settings, self.name, self.base_url, http=http)
            # As a stream, since a connection on which nothing is said for long is often cut.
            async with model_request_stream(
                model, [asked], model_settings={"max_tokens": ANSWER_TOKENS}
            ) as stream:
                async for _ in stream:
                    pass
                return stream.get()
