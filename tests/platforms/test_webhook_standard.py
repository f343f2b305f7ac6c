"""The headers of Standard Webhooks, as the library of the specification writes them."""

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import standardwebhooks

from tests.platforms.webhook_caller import HELLO, URL, Caller, opened
from threadline.platforms.webhook import Webhook

SECRET = f"whsec_{b64encode(b'twenty-four bytes of key').decode()}"
OTHER = f"whsec_{b64encode(b'another key of 24 bytes.').decode()}"
BODY = json.dumps({name: value for name, value in HELLO.items() if name != "message_id"})


def signed(*secrets: str, id: str = "msg_1", at: datetime | None = None) -> dict[str, str]:
    """Sign a body with some secrets."""
    moment = at or datetime.now(UTC)
    codes = [standardwebhooks.Webhook(one).sign(id, moment, BODY) for one in secrets]
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": " ".join(codes),
    }


async def post(webhook: Webhook, headers: dict[str, str]) -> httpx.Response:
    """Post the body with some headers."""
    return await Caller(webhook).request("POST", URL, BODY.encode(), headers)


async def test_a_standard_webhook_is_taken() -> None:
    """The id of the headers is that of the message, so that a repeat can be recognised."""
    async with opened(secret=SECRET) as (webhook, gate):
        first = await post(webhook, signed(SECRET))
        again = await post(webhook, signed(SECRET))
        next_one = await post(webhook, signed(SECRET, id="msg_2"))

    assert [one.status_code for one in (first, again, next_one)] == [202] * 3
    assert [one.message_id for one in gate.seen] == ["msg_1", "msg_1", "msg_2"]


async def test_one_of_several_signatures_is_enough() -> None:
    """While a sender changes its secret, it signs with both; other versions are passed over."""
    async with opened(secret=SECRET) as (webhook, _):
        both = await post(webhook, signed(OTHER, SECRET))
        headers = signed(SECRET)
        headers["webhook-signature"] = f"v1a,AAAA {headers['webhook-signature']} v1,odd"
        versions = await post(webhook, headers)
    async with opened(secret=OTHER, former_secrets=[SECRET]) as (webhook, _):
        former = await post(webhook, signed(SECRET))

    assert [one.status_code for one in (both, versions, former)] == [202] * 3


@pytest.mark.parametrize(
    "change",
    [
        {"webhook-id": "msg_2"},
        {"webhook-id": ""},
        {"webhook-timestamp": "now"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,"},
        {"webhook-timestamp": str(int(datetime.now(UTC).timestamp()) - 7)},
    ],
)
async def test_headers_that_were_changed_are_refused(change: dict[str, str]) -> None:
    """The id and the time are signed, too."""
    async with opened(secret=SECRET) as (webhook, gate):
        response = await post(webhook, {**signed(SECRET), **change})

    assert response.status_code == 401
    assert not gate.seen


@pytest.mark.parametrize(("seconds", "status"), [(-301, 401), (-290, 202), (290, 202), (310, 401)])
async def test_the_time_may_differ_by_five_minutes(seconds: int, status: int) -> None:
    """An old request cannot be played back, as the specification wants it."""
    async with opened(secret=SECRET) as (webhook, _):
        at = datetime.now(UTC) + timedelta(seconds=seconds)
        response = await post(webhook, signed(SECRET, at=at))

    assert response.status_code == status


async def test_another_secret_is_refused() -> None:
    """A signature with a secret that is not set does not fit."""
    async with opened(secret=SECRET) as (webhook, gate):
        response = await post(webhook, signed(OTHER))

    assert response.status_code == 401
    assert not gate.seen
