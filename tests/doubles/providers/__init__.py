"""A double of the model providers: speaks their languages over HTTP, and says what a test wants.

    async with ProviderDouble() as double:
        double.will(Thinks("hm"), Calls(("add", {"a": 1, "b": 2})))
        double.will(Says("It is 3."))
        client = AsyncOpenAI(base_url=f"{double.url}/openai/v1", api_key="k", max_retries=0)

Each `will` is one answer. A mishap at its beginning is an error of the request, and after words it
happens in the middle of the stream. Without a script the last words of the user are said again.
"""

from tests.doubles.providers.script import (
    Calls,
    Disconnects,
    Fails,
    Hangs,
    Malformed,
    OutOfCredit,
    Overloaded,
    RateLimited,
    Redacts,
    Refuses,
    Reply,
    RunsOut,
    Says,
    Spends,
    Step,
    Thinks,
    TooLong,
    Unauthorised,
)
from tests.doubles.providers.server import ProviderDouble
from tests.doubles.providers.wire import Asked, Received

__all__ = [
    "Asked",
    "Calls",
    "Disconnects",
    "Fails",
    "Hangs",
    "Malformed",
    "OutOfCredit",
    "Overloaded",
    "ProviderDouble",
    "RateLimited",
    "Received",
    "Redacts",
    "Refuses",
    "Reply",
    "RunsOut",
    "Says",
    "Spends",
    "Step",
    "Thinks",
    "TooLong",
    "Unauthorised",
]
