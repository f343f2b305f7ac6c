import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.platforms.webhook_caller import CALLBACK, SECRET, Receiver, settings
from threadline.core.address import Address, Kind
from threadline.core.delivery import SendOutcome
from threadline.core.errors import PlatformError
from threadline.core.message import BlobHash
from threadline.core.platform import Endpoint, Outgoing, SendFailed
from threadline.platforms.webhook import Webhook, make
from threadline.platforms.webhook.signature import read_claim


async def no_blob(_: BlobHash) -> AsyncIterator[bytes]:
    yield b""


async def test_a_callback_is_signed() -> None:
    """The receiver can prove that it was us, and what the key of the message is."""
    receiver = Receiver()
    webhook = Webhook("hook", settings(callback=CALLBACK), transport=receiver)
    address = Address(platform="hook", kind=Kind.DM, chat="order 66")
    await webhook.send(Outgoing(address=address, text="hello", key="7-0"), no_blob)

    (request,) = receiver.requests
    read_claim(request.headers, datetime.now(UTC)).check([SECRET], request.content)
    assert str(request.url) == CALLBACK
    assert request.headers["Idempotency-Key"] == "7-0"
    told = {"key": "7-0", "session": "order 66", "place": "dm", "text": "hello"}
    assert json.loads(request.content) == told


@pytest.mark.parametrize(
    ("reply", "outcome", "pause"),
    [
        (httpx.Response(302, headers={"Location": "http://169.254.169.254/"}), "rejected", None),
        (httpx.Response(400), "rejected", None),
        (httpx.Response(503, headers={"Retry-After": "7"}), "rejected", 7),
        (httpx.Response(429, headers={"Retry-After": "9" * 400}), "rejected", 86_400),
        (
            httpx.Response(429, headers={"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}),
            "rejected",
            0,
        ),
        (httpx.Response(429, headers={"Retry-After": "soon"}), "rejected", None),
        (
            httpx.Response(429, headers={"Retry-After": f"Mon, 01 Jan {9**30} 00:00:00 GMT"}),
            "rejected",
            None,
        ),
        (httpx.Response(410), "dead", None),
        (httpx.ConnectError("no route"), "rejected", None),
        (httpx.ReadError("reset"), "ambiguous", None),
        (httpx.WriteTimeout("slow"), "ambiguous", None),
    ],
)
async def test_a_failed_callback_says_what_is_known(
    reply: httpx.Response | Exception, outcome: str, pause: int | None
) -> None:
    """A no is a no, silence is doubt, and a redirect leads nowhere."""
    receiver = Receiver()
    receiver.coming.append(reply)
    webhook = Webhook("hook", settings(callback=CALLBACK), transport=receiver)
    address = Address(platform="hook", kind=Kind.DM, chat="1")

    with pytest.raises(SendFailed) as failed:
        await webhook.send(Outgoing(address=address, text="x", key="k"), no_blob)

    assert failed.value.outcome is SendOutcome(outcome)
    assert failed.value.retry_after == (None if pause is None else timedelta(seconds=pause))
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    ("body", "id"),
    [(b'{"id": "42"}', "42"), (b'{"id": 42}', "k"), (b"thanks", "k"), (b"x" * 100_000, "k")],
)
async def test_the_receivers_id_is_kept(body: bytes, id: str) -> None:
    """An id that the receiver gives is remembered; whatever else it says does no harm."""
    receiver = Receiver()
    receiver.coming.append(httpx.Response(200, content=body))
    webhook = Webhook("hook", settings(callback=CALLBACK), transport=receiver)
    address = Address(platform="hook", kind=Kind.DM, chat="1")

    assert await webhook.send(Outgoing(address=address, text="x", key="k"), no_blob) == id


async def test_without_a_callback_an_answer_is_taken_as_read() -> None:
    """There is nobody to call, so that nothing can fail."""
    webhook = make("hook", {"secret": SECRET})
    address = Address(platform="hook", kind=Kind.DM, chat="1")

    assert await webhook.send(Outgoing(address=address, text="x", key="k"), no_blob) == "k"
    assert isinstance(webhook, Endpoint)
    with pytest.raises(PlatformError):
        await webhook.edit(address, "k", "y")
