"""The callback: carries answers to the one URL that the owner named."""

import asyncio
import json
import ssl
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx

from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid
from threadline.core.message import Attachment
from threadline.core.platform import Outgoing, ReadBlob, SendFailed
from threadline.core.validation import checked_id
from threadline.platforms.webhook.signature import sign

_REPLY_LIMIT = 64_000
"""Bytes of the receiver's reply that are read at all."""

_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LONGEST_PAUSE = timedelta(days=1)


class Callback:
    """Posts messages to one URL, signed; it follows no redirect, so that it goes nowhere else."""

    def __init__(
        self,
        url: str,
        secret: str,
        *,
        timeout: timedelta,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Know the way; another transport than the network is for tests."""
        self._url = url
        self._secret = secret
        self._timeout = timeout.total_seconds()
        self._transport = transport
        # Reading the certificates takes long, so it is done once, before anybody waits.
        self._tls: ssl.SSLContext | bool = (
            ssl.create_default_context() if url.startswith("https:") else False
        )

    async def post(self, outgoing: Outgoing, read_blob: ReadBlob, now: datetime) -> str | None:
        """Send one message; answer the id that the receiver gave it, if any."""
        body = json.dumps(await _told(outgoing, read_blob), ensure_ascii=False).encode()
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": outgoing.key,
            **sign(self._secret, body, now),
        }
        try:
            status, headers_back, reply = await self._exchange(body, headers)
        except _NEVER_LEFT as error:
            raise SendFailed(
                "The callback cannot be reached", outcome=SendOutcome.REJECTED
            ) from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise SendFailed(
                f"The callback did not answer ({type(error).__name__})",
                outcome=SendOutcome.AMBIGUOUS,
            ) from error
        if not 200 <= status < 300:
            raise _failure(status, headers_back.get("Retry-After"), now)
        return _id_in(reply)

    async def _exchange(
        self, body: bytes, headers: dict[str, str]
    ) -> tuple[int, httpx.Headers, bytes]:
        client = httpx.AsyncClient(
            verify=self._tls,
            timeout=self._timeout,
            transport=self._transport,
            trust_env=False,
            follow_redirects=False,
        )
        whole = asyncio.timeout(2 * self._timeout)
        async with (
            whole,
            client,
            client.stream("POST", self._url, content=body, headers=headers) as reply,
        ):
            read = b""
            async for piece in reply.aiter_bytes():
                read += piece
                if len(read) > _REPLY_LIMIT:
                    break
            return reply.status_code, reply.headers, read[:_REPLY_LIMIT]


async def _told(outgoing: Outgoing, read_blob: ReadBlob) -> dict[str, object]:
    told: dict[str, object] = {
        "key": outgoing.key,
        "session": outgoing.address.chat,
        "place": outgoing.address.kind.value,
        "thread": outgoing.address.thread,
        "reply_to": outgoing.reply_to,
        "text": outgoing.text,
        "choices": [{"label": one.label, "says": one.says} for one in outgoing.choices],
        "attachments": [await _file(one, read_blob) for one in outgoing.attachments],
    }
    return {name: value for name, value in told.items() if value not in (None, [])}


async def _file(file: Attachment, read_blob: ReadBlob) -> dict[str, object]:
    data = b"".join([piece async for piece in read_blob(file.blob)])
    return {
        "name": file.name,
        "media_type": file.media_type,
        "data": b64encode(data).decode(),
    }


def _failure(status: int, retry_after: str | None, now: datetime) -> SendFailed:
    outcome = SendOutcome.DEAD if status == 410 else SendOutcome.REJECTED
    return SendFailed(
        f"The callback answered {status}", outcome=outcome, retry_after=_pause(retry_after, now)
    )


def _pause(retry_after: str | None, now: datetime) -> timedelta | None:
    """Read a pause in seconds or as a date; one that cannot be read is none."""
    if not retry_after:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return timedelta(seconds=min(int(retry_after[:9]), _LONGEST_PAUSE.total_seconds()))
    try:
        moment = parsedate_to_datetime(retry_after)
        pause = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return None
    return min(max(pause, timedelta(0)), _LONGEST_PAUSE)


def _id_in(reply: bytes) -> str | None:
    """Find the receiver's id of the message in its reply; whatever else it says is not needed."""
    try:
        given = json.loads(reply)
        return checked_id(given["id"], "id") or None
    except (ValueError, TypeError, KeyError, RecursionError, Invalid):
        return None
