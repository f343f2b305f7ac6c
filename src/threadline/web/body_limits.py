"""Body limits: how much a request may bring to the API, by whom and for what."""

import re
from typing import cast

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from threadline.core.errors import TooLarge
from threadline.core.validation import UTF_8, charset_of, is_utf8_text
from threadline.store import Store
from threadline.web.authentication import NotLoggedIn, find_visitor
from threadline.web.problems import NotUtf8, WrongCharset

STRANGER_LIMIT = 64 * 1024
"""Bytes of somebody who is not known: enough to log in."""
JSON_LIMIT = 20_000_000
"""Bytes that are unpacked at once; the longest text has room in it, in any language."""
TEXTS_LIMIT = 2000
"""Texts in one body, keys included."""
SIGNS_LIMIT = 64 * 1024
"""Bytes of one body that stand in no text."""

_FILES = ("/attachments", "/imports")
"""Where a body is read block by block, and may be as large as any."""
# One without an end goes to the end: else each quotation mark in it would be tried as a beginning.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


class BodyLimits:
    """Wraps the API: who asks is looked at before much is read, and what before it is unpacked."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before the routes."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        is_file = scope["path"].endswith(_FILES)
        await self._app(scope, receive if is_file else self._counted(scope, receive), send)

    def _counted(self, scope: Scope, receive: Receive) -> Receive:
        body, is_known = bytearray(), False
        charset = charset_of(HTTPConnection(scope).headers.get("content-type", ""))

        async def counted() -> Message:
            nonlocal is_known
            message = await receive()
            body.extend(message.get("body", b""))
            if len(body) > JSON_LIMIT:
                raise TooLarge(f"The body has more than {JSON_LIMIT:,} bytes")
            if len(body) > STRANGER_LIMIT and not is_known:
                await _require_visitor(scope)
                is_known = True
            if not message.get("more_body", False):
                _check_text(body, charset)
            return message

        return counted


def _check_text(body: bytearray, charset: str | None) -> None:
    """Refuse a whole body that is not UTF-8, or has so many parts that parsing it takes long."""
    if body and charset not in UTF_8:
        raise WrongCharset
    if not is_utf8_text(body):
        raise NotUtf8
    if not is_plain(body):
        raise TooLarge("The body has too many parts", hint="Send less at once")


async def _require_visitor(scope: Scope) -> None:
    connection = HTTPConnection(scope)
    if await find_visitor(cast("Store", connection.app.state.store), connection) is None:
        raise NotLoggedIn(hint="Log in before you send so much")


def is_plain(body: bytes | bytearray) -> bool:
    """Tell whether JSON has few parts, however long they are: each costs more than its bytes."""
    signs, end = 0, 0
    for count, text in enumerate(_TEXT.finditer(body), start=1):
        signs, end = signs + text.start() - end, text.end()
        if count > TEXTS_LIMIT or signs > SIGNS_LIMIT:
            return False
    return signs + len(body) - end <= SIGNS_LIMIT
