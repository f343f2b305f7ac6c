"""Python agents: any function or object of yours answers, named `package.module:name`."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from importlib import import_module
from typing import Any, TypeAlias, cast

from threadline.core.agent import Agent, Output, Request, TextDelta
from threadline.core.errors import AgentError, ConfigError, sentence_of
from threadline.core.message import Role, say

_FORMS = (
    "A function of the request or of the words that were said, one that yields what it says,"
    " an object with a method `answer`, or an agent of pydantic-ai"
)

Answering: TypeAlias = Callable[[Request | str], object]


class FunctionAgent:
    """Lets a function answer: what it returns is said, and what it yields is said piece by piece.

    It is given the request where its parameter is called `request` or said to be one, and else the
    words of the person. A function that is not asynchronous runs in a thread of its own.
    """

    def __init__(self, function: Answering) -> None:
        """Answer with a function of one parameter."""
        self._function = function
        self._takes_request = _takes_request(function)

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer one turn."""
        given = request if self._takes_request else _words(request)
        if inspect.isasyncgenfunction(self._function):
            async with aclosing(self._function(given)) as outputs:
                async for output in outputs:
                    yield TextDelta(text=output) if isinstance(output, str) else output
            return
        said = await self._call(given)
        if not isinstance(said, str) or not said:
            raise AgentError(f"The agent returned {type(said).__name__}, and not what to say")
        yield say(Role.ASSISTANT, said)

    async def _call(self, given: Request | str) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await cast("Awaitable[object]", self._function(given))
        return await _run_apart(self._function, given)


async def _run_apart(function: Answering, given: Request | str) -> object:
    """Call a function in a thread of its own, which does not keep the process from ending.

    The threads of the event loop are for the store: a function that never returns would take one.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    outcome: asyncio.Future[object] = loop.create_future()

    def settle(said: object, error: BaseException | None) -> None:
        if outcome.done():
            return  # The turn was cancelled meanwhile.
        if error is None:
            outcome.set_result(said)
        else:
            outcome.set_exception(error)

    def run() -> None:
        said: object = None
        failed: BaseException | None = None
        try:
            said = context.run(function, given)
        except StopIteration as error:  # A future refuses it.
            failed = AgentError("The agent ended with StopIteration")
            failed.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - raised in the task of the turn
            failed = error
        with suppress(RuntimeError):  # The event loop is closed.
            loop.call_soon_threadsafe(settle, said, failed)

    threading.Thread(target=run, name="threadline-agent", daemon=True).start()
    return await outcome


def load_agent(name: str) -> Agent:
    """Find the agent that a dotted name stands for, or say what is wrong with it."""
    found = _find(name)
    if inspect.isclass(found):
        try:
            found = found()
        except TypeError as error:
            hint = "Name an object that was made of it"
            raise ConfigError(
                f"The class cannot be made without arguments: {error}", id=name, hint=hint
            ) from error
    if _is_of_pydantic_ai(found):
        from threadline.agents.model.pydantic_ai_adapter import WrappedAgent

        return WrappedAgent(cast("Any", found))
    if callable(getattr(found, "answer", None)):
        return cast("Agent", found)
    if not callable(found):
        kind = type(found).__name__
        raise ConfigError(f"This is no agent, but of the type {kind}", id=name, hint=_FORMS)
    return FunctionAgent(_checked(found, name))


def _find(name: str) -> object:
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise ConfigError(
            "An agent is named package.module:name", id=name, hint="The colon parts the two"
        )
    try:
        found: object = import_module(module_name)
    except ModuleNotFoundError as error:
        hint = f"Python looks for {error.name}; is it installed here?"
        raise ConfigError("The module of the agent is not there", id=name, hint=hint) from error
    except Exception as error:
        raise ConfigError(
            f"The module of the agent cannot be imported: {sentence_of(error)}", id=name
        ) from error
    for word in attribute.split("."):
        if not hasattr(found, word):
            raise ConfigError(f"There is no {word} in it", id=name, hint=_FORMS)
        found = getattr(found, word)
    return found


def _is_of_pydantic_ai(found: object) -> bool:
    return any(
        one.__module__.startswith("pydantic_ai.") and one.__name__ == "AbstractAgent"
        for one in type(found).__mro__
    )


def _checked(function: Answering, name: str) -> Answering:
    try:
        inspect.signature(function).bind("words")
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"The agent does not take one argument: {error}", id=name, hint=_FORMS
        ) from error
    return function


def _takes_request(function: Answering) -> bool:
    parameter = next(iter(inspect.signature(function).parameters.values()))
    return parameter.name == "request" or parameter.annotation in {Request, "Request"}


def _words(request: Request) -> str:
    return "\n".join(message.text for message in request.asked)
