"""The clients of the providers, each of which tells in the same words what it heard."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anthropic
import httpx
import openai
from google import genai
from google.genai import errors as google_errors
from google.genai import types

from tests.doubles.providers import ProviderDouble
from threadline.testing.deadline import HANG_SECONDS

TOOLS = ("add", "now")
ASK = "What is the sum?"


@dataclass(slots=True)
class Heard:
    """What came back."""

    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: dict[str, Any] = field(default_factory=dict)
    """The arguments of each call, by the name of its tool."""
    seals: list[str] = field(default_factory=list)
    ending: str | None = None
    spent: tuple[int, int, int, int] | None = None
    """Tokens of input, output, read from a cache, thought."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Client(Protocol):
    """The real client of a provider, that never tries again by itself."""

    name: str

    async def ask(self, heard: Heard, text: str = ASK, *, streams: bool) -> None:
        """Ask something, and write down what is heard while it comes."""
        ...

    async def close(self) -> None: ...


def open_openai(url: str, key: str) -> openai.AsyncOpenAI:
    """Open OpenAI's client; it need not read certificates, as the line is plain."""
    http = openai.DefaultAsyncHttpxClient(verify=False)
    return openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, http_client=http)


class Chat:
    name = "openai-chat"

    def __init__(self, url: str, key: str) -> None:
        self.client = open_openai(f"{url}/openai/v1", key)

    async def close(self) -> None:
        await self.client.close()

    async def ask(self, heard: Heard, text: str = ASK, *, streams: bool) -> None:
        asked: Any = {"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}
        if not streams:
            whole = await self.client.chat.completions.create(**asked)
            self._hear(heard, whole.choices[0].message, whole.choices[0].finish_reason)
            self._count(heard, whole.usage)
            return
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
        async for chunk in await self.client.chat.completions.create(**asked):
            for choice in chunk.choices:
                self._hear(heard, choice.delta, choice.finish_reason)
            self._count(heard, chunk.usage)

    def _hear(self, heard: Heard, said: Any, ending: str | None) -> None:
        heard.pieces += filter(None, [said.content, said.refusal])
        heard.thoughts += filter(None, [getattr(said, "reasoning_content", None)])
        names = list(heard.calls)
        for place, call in enumerate(said.tool_calls or ()):
            index = getattr(call, "index", place)
            names += [call.function.name] if index == len(names) else []
            written = heard.calls.get(names[index], "") + call.function.arguments
            heard.calls[names[index]] = written
        heard.ending = ending or heard.ending

    def _count(self, heard: Heard, usage: Any) -> None:
        if usage:
            heard.calls = {name: json.loads(text) for name, text in heard.calls.items()}
            heard.spent = (
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.prompt_tokens_details.cached_tokens,
                usage.completion_tokens_details.reasoning_tokens,
            )


class Responses:
    name = "openai-responses"

    def __init__(self, url: str, key: str) -> None:
        self.client = open_openai(f"{url}/openai/v1", key)

    async def close(self) -> None:
        await self.client.close()

    async def ask(self, heard: Heard, text: str = ASK, *, streams: bool) -> None:
        asked: Any = {"model": "gpt-5", "input": text, "include": ["reasoning.encrypted_content"]}
        if not streams:
            self._hear(heard, await self.client.responses.create(**asked))
            return
        numbers = []
        async for told in await self.client.responses.create(**asked, stream=True):
            numbers.append(told.sequence_number)
            match told.type:
                case "response.output_text.delta" | "response.refusal.delta":
                    heard.pieces.append(told.delta)
                case "response.reasoning_summary_text.delta":
                    heard.thoughts.append(told.delta)
                case "response.completed" | "response.incomplete" | "response.failed":
                    whole = Heard()
                    self._hear(whole, told.response)
                    assert whole.ending == "failed" or whole.text == heard.text
                    heard.calls, heard.seals = whole.calls, whole.seals
                    heard.ending, heard.spent = whole.ending, whole.spent
                case "error":
                    heard.ending = told.code
                case _:
                    pass
        assert numbers == sorted(numbers)

    def _hear(self, heard: Heard, response: Any) -> None:
        for item in response.output:
            match item.type:
                case "message":
                    heard.pieces += [
                        part.text if part.type == "output_text" else part.refusal
                        for part in item.content
                    ]
                case "reasoning":
                    heard.thoughts += [part.text for part in item.summary]
                    heard.seals.append(item.encrypted_content)
                case _:
                    heard.calls[item.name] = json.loads(item.arguments)
        reason = response.incomplete_details.reason if response.incomplete_details else None
        heard.ending = reason or response.status
        if usage := response.usage:
            heard.spent = (
                usage.input_tokens,
                usage.output_tokens,
                usage.input_tokens_details.cached_tokens,
                usage.output_tokens_details.reasoning_tokens,
            )


class Messages:
    name = "anthropic"

    def __init__(self, url: str, key: str) -> None:
        self.client = anthropic.AsyncAnthropic(
            base_url=f"{url}/anthropic",
            api_key=key,
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=False),
        )

    async def close(self) -> None:
        await self.client.close()

    async def ask(self, heard: Heard, text: str = ASK, *, streams: bool) -> None:
        asked: Any = {
            "model": "claude-sonnet-5",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": text}],
        }
        if not streams:
            self._hear(heard, await self.client.messages.create(**asked))
            heard.pieces = [heard.text]
            return
        async with self.client.messages.stream(**asked) as stream:
            async for told in stream:
                if told.type == "text":
                    heard.pieces.append(told.text)
                elif told.type == "thinking":
                    heard.thoughts.append(told.thinking)
            whole = Heard()
            self._hear(whole, await stream.get_final_message())
        assert whole.text == heard.text
        heard.calls, heard.seals = whole.calls, whole.seals
        heard.ending, heard.spent = whole.ending, whole.spent

    def _hear(self, heard: Heard, message: Any) -> None:
        for block in message.content:
            match block.type:
                case "text":
                    heard.pieces.append(block.text)
                case "thinking":
                    heard.thoughts.append(block.thinking)
                    heard.seals.append(block.signature)
                case "redacted_thinking":
                    heard.seals.append(block.data)
                case _:
                    heard.calls[block.name] = block.input
        usage = message.usage
        heard.ending = message.stop_reason
        read = usage.cache_read_input_tokens
        fresh = usage.input_tokens + usage.cache_creation_input_tokens
        heard.spent = (fresh + read, usage.output_tokens, read, 0)


class Google:
    name = "google"

    def __init__(self, url: str, key: str) -> None:
        self.http = httpx.AsyncClient(verify=False, timeout=HANG_SECONDS)
        options = types.HttpOptions(base_url=f"{url}/google", httpx_async_client=self.http)
        self.client = genai.Client(api_key=key, http_options=options)

    async def close(self) -> None:
        await self.http.aclose()

    async def ask(self, heard: Heard, text: str = ASK, *, streams: bool) -> None:
        asked: Any = {"model": "gemini-3-pro", "contents": text}
        models = self.client.aio.models
        if not streams:
            self._hear(heard, await models.generate_content(**asked))
            return
        async for chunk in await models.generate_content_stream(**asked):
            self._hear(heard, chunk)

    def _hear(self, heard: Heard, response: Any) -> None:
        candidate = response.candidates[0]
        for part in candidate.content.parts if candidate.content else ():
            if part.function_call:
                heard.calls[part.function_call.name] = part.function_call.args
            elif part.text:
                (heard.thoughts if part.thought else heard.pieces).append(part.text)
            if part.thought_signature:
                heard.seals.append(part.thought_signature.decode())
        heard.ending = candidate.finish_reason.value if candidate.finish_reason else None
        usage = response.usage_metadata
        thought = usage.thoughts_token_count or 0
        heard.spent = (
            usage.prompt_token_count,
            usage.candidates_token_count + thought,
            usage.cached_content_token_count or 0,
            thought,
        )


CLIENTS = (Chat, Responses, Messages, Google)
FAILURES = (openai.APIError, anthropic.APIError, google_errors.APIError)
"""What a client raises when it was told that something went wrong."""


@asynccontextmanager
async def open_client(
    kind: type[Chat | Responses | Messages | Google], double: ProviderDouble, key: str = "sk-test"
) -> AsyncIterator[Client]:
    """Open a client, and close it in the end."""
    client = kind(double.url, key)
    try:
        yield client
    finally:
        await client.close()
