"""What goes wrong at a provider goes wrong for the real clients, as it does outside of tests."""

import asyncio
import json

import anthropic
import httpx
import httpx2
import openai
import pytest
from google.genai import errors as google_errors

from tests.doubles.provider_tests.clients import FAILURES, Chat, Client, Heard, open_client
from tests.doubles.providers import (
    Disconnects,
    Fails,
    Hangs,
    Malformed,
    OutOfCredit,
    Overloaded,
    ProviderDouble,
    RateLimited,
    Says,
    Step,
    TooLong,
    Unauthorised,
)

BROKEN = (
    *FAILURES,
    httpx.HTTPError,
    httpx2.HTTPError,
    json.JSONDecodeError,
    google_errors.UnknownApiResponseError,
)


def status(error: Exception) -> int:
    """Read the HTTP status off any client's error."""
    match error:
        case openai.APIStatusError() | anthropic.APIStatusError():
            return int(error.status_code)
        case google_errors.APIError():
            return int(error.code)
        case _:
            raise error


@pytest.mark.parametrize(
    ("mishap", "found"),
    [
        (Overloaded(), {503, 529}),
        (RateLimited(7), {429}),
        (OutOfCredit(), {429, 400}),
        (Unauthorised(), {401, 400}),
        (TooLong(), {400}),
        (Fails(500), {500}),
        (Fails(403), {403}),
        (Fails(404), {404}),
    ],
    ids=str,
)
async def test_errors_have_their_status(
    client: Client, double: ProviderDouble, streams: bool, mishap: Step, found: set[int]
) -> None:
    """An error at the beginning is an error of the request; the next one is answered again."""
    double.will(mishap)
    with pytest.raises(FAILURES) as caught:
        await client.ask(Heard(), streams=streams)
    heard = Heard()
    await client.ask(heard, "again", streams=streams)

    assert status(caught.value) in found
    assert heard.text == "again"


async def test_a_rate_limit_says_when_to_come_back(client: Client, double: ProviderDouble) -> None:
    """The seconds to wait stand where each provider writes them."""
    double.will(RateLimited(7))
    with pytest.raises(FAILURES) as caught:
        await client.ask(Heard(), streams=True)

    error = caught.value
    if isinstance(error, google_errors.APIError):
        assert error.details["error"]["details"][0]["retryDelay"] == "7s"
    else:
        assert isinstance(error, openai.RateLimitError | anthropic.RateLimitError)
        assert float(error.response.headers["retry-after"]) == 7


async def test_a_long_request_is_known_as_one(client: Client, double: ProviderDouble) -> None:
    """Each provider says in its own words that it cannot read so much."""
    double.will(TooLong())
    with pytest.raises(FAILURES) as caught:
        await client.ask(Heard(), streams=True)

    said = f"{caught.value} {getattr(caught.value, 'code', None)}"
    assert any(
        words in said
        for words in ("context_length_exceeded", "prompt is too long", "exceeds the maximum number")
    )


async def test_a_window_is_kept() -> None:
    """With a window, whatever is longer is refused by itself, and what fits is answered."""
    async with ProviderDouble(window=200) as double, open_client(Chat, double) as client:
        with pytest.raises(openai.BadRequestError, match="maximum context length"):
            await client.ask(Heard(), "long " * 400, streams=True)
        heard = Heard()
        await client.ask(heard, "short", streams=True)

    assert heard.text == "short"


@pytest.mark.parametrize("mishap", [Overloaded(), Fails(500)], ids=["overloaded", "fails"])
async def test_errors_in_the_middle_of_a_stream(
    client: Client, double: ProviderDouble, mishap: Step
) -> None:
    """After some words an error comes as an event, and what was said before it was heard."""
    double.will(Says("half of it"), mishap)
    heard = Heard()
    if client.name == "openai-responses":
        await client.ask(heard, streams=True)  # its client tells of the event and raises nothing
        assert heard.ending in {"server_is_overloaded", "failed"}
    else:
        with pytest.raises(FAILURES):
            await client.ask(heard, streams=True)

    assert heard.text == "half of it"


async def test_a_stream_is_cut_off(client: Client, double: ProviderDouble) -> None:
    """The line is cut after some words, which were heard."""
    double.will(Disconnects(after="half of it"))
    heard = Heard()
    with pytest.raises(BROKEN):
        await client.ask(heard, streams=True)

    assert heard.text == "half of it"
    assert heard.ending is None


async def test_a_line_is_cut_before_anything_is_said(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """The line is cut instead of an answer, and the next request is answered on a new one."""
    double.will(Disconnects())
    with pytest.raises(BROKEN):
        await client.ask(Heard(), streams=streams)
    heard = Heard()
    await client.ask(heard, "again", streams=streams)

    assert heard.text == "again"


async def test_an_answer_is_cut_in_half(client: Client, double: ProviderDouble) -> None:
    """An answer in one piece is cut off in the middle of its JSON."""
    double.will(Disconnects(after="half of it"))
    with pytest.raises(BROKEN):
        await client.ask(Heard(), streams=False)


async def test_garbage_is_sent(client: Client, double: ProviderDouble, streams: bool) -> None:
    """What nobody can read makes every client fail, after what could be read."""
    double.will(Malformed(after="half of it"))
    heard = Heard()
    with pytest.raises(BROKEN):
        await client.ask(heard, streams=streams)

    assert heard.text == ("half of it" if streams else "")


async def test_an_answer_hangs_and_goes_on(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """An answer waits for the test in the middle of its words."""
    double.will(Says("Once"), Hangs(), Says(" upon"))
    heard = Heard()
    asking = asyncio.create_task(client.ask(heard, streams=streams))
    await double.hangs()
    assert not asking.done()
    double.goes_on()
    await asking

    assert heard.text == "Once upon"
    assert double.hanging == 0


async def test_a_hanging_answer_ends_with_its_asker(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """Who goes away is not waited for."""
    double.will(Says("Once"), Hangs())
    asking = asyncio.create_task(client.ask(Heard(), streams=streams))
    await double.hangs()
    asking.cancel()
    await asyncio.wait({asking})
    await double.is_free()

    assert double.hanging == 0


async def test_the_double_ends_while_an_answer_hangs() -> None:
    """Whoever still waits when the double ends is let go, and nothing stays behind."""
    async with ProviderDouble() as double, open_client(Chat, double) as client:
        double.will(Says("Once"), Hangs())
        asking = asyncio.create_task(client.ask(Heard(), streams=True))
        await double.hangs()
        await double.__aexit__(None, None, None)
        await asyncio.wait({asking})

    assert asking.done()
