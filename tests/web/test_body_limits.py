"""How much a request may bring, by whom and for what."""

from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from tests.databases import FAST, on
from tests.web.browser import browsing, make_site, make_token
from threadline.core.account import TokenScope
from threadline.core.errors import ThreadlineError
from threadline.core.validation import TEXT_LIMIT
from threadline.store import Store
from threadline.web.body_limits import (
    JSON_LIMIT,
    SIGNS_LIMIT,
    STRANGER_LIMIT,
    TEXTS_LIMIT,
    BodyLimits,
    is_plain,
)
from threadline.web.request_limits import BODY_LIMIT

JSON = {"Content-Type": "application/json"}


class Count:
    """An application that reads what comes, and remembers how much it was given."""

    def __init__(self) -> None:
        self.read = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read all of it."""
        try:
            async for block in Request(scope, receive).stream():
                self.read += len(block)
        except ThreadlineError as error:
            await PlainTextResponse(str(error), error.status)(scope, receive, send)
            return
        await PlainTextResponse("read")(scope, receive, send)


async def blocks(size: int) -> AsyncIterator[bytes]:
    """Send something without saying how long it is."""
    for _ in range(size // 10_000):
        yield b" " * 10_000


@on(FAST)
@pytest.mark.parametrize("shown", [{}, {"Authorization": "Bearer tl_guessed"}])
async def test_a_stranger_brings_little(store: Store, shown: dict[str, str]) -> None:
    """Nobody has to be known to log in; a large body would be read before anybody asks who it is.

    One request without a login made the server unpack 32 MB of JSON: nothing else was answered
    for seconds, and it took 800 MB.
    """
    counted = Count()
    app = Starlette(routes=[Mount("/api", app=counted)], middleware=[Middleware(BodyLimits)])
    app.state.store = store
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", headers=shown, trust_env=False
    ) as client:
        text = b'"' + b"x" * (STRANGER_LIMIT - 2) + b'"'
        little = await client.post("/api/sessions", content=text)
        counted.read = 0
        much = await client.post("/api/sessions", content=blocks(BODY_LIMIT))

    assert (little.status_code, much.status_code) == (200, 401)
    assert counted.read <= STRANGER_LIMIT


@on(FAST)
async def test_a_stranger_is_told_so_by_the_api(store: Store) -> None:
    """The answer is the same problem as for any other request of nobody."""
    wish = b'{"name": "' + b"x" * STRANGER_LIMIT + b'"}'
    async with browsing(make_site(store)) as browser:
        refused = await browser.client.post("/api/login/password", content=wish, headers=JSON)

    assert refused.status_code == 401
    assert refused.json()["title"] == "NotLoggedIn"
    assert refused.headers["www-authenticate"].startswith("Bearer")


@on(FAST)
async def test_whoever_is_known_says_as_much_as_a_message_holds(store: Store) -> None:
    """The longest text fits; a body beyond that is refused, as it would be unpacked at once."""
    token = await make_token(store, TokenScope.READ, TokenScope.WRITE)
    async with browsing(make_site(store), headers={**token, **JSON}) as browser:
        long = b'{"text": "' + b"x" * TEXT_LIMIT + b'"}'
        said = await browser.client.post("/api/sessions", content=long)
        longer = b'{"text": "' + b"x" * JSON_LIMIT + b'"}'
        refused = await browser.client.post("/api/sessions", content=longer)

    assert said.status_code == 201
    assert (refused.status_code, refused.json()["title"]) == (413, "TooLarge")


@pytest.mark.parametrize(
    ("body", "is_few"),
    [
        (b"", True),
        (b'{"text": "' + b"x" * JSON_LIMIT + b'"}', True),
        (b'{"text": "' + rb"{\"a\": [1, {}], \\" * 100_000 + b'"}', True),
        (b'"never ends', True),
        (b'"\\' * 1_000_000, True),
        (b"[" + b"{}," * SIGNS_LIMIT + b"{}]", False),
        (b"[" * SIGNS_LIMIT * 2, False),
        (b"9" * SIGNS_LIMIT * 2, False),
        (b"{" + b'"k":1,' * TEXTS_LIMIT + b'"k":1}', False),
        (b"[" + b'"",' * TEXTS_LIMIT + b'""]', False),
        (b'["' + b"x" * 1000 + b'"' + b"," * SIGNS_LIMIT + b'"y"]', False),
    ],
    ids=lambda one: str(one)[:20],
)
def test_a_body_has_few_parts(body: bytes, is_few: bool) -> None:
    """What is in a text costs nothing, but each part does: one of its length, a key even more.

    Half a million keys that nobody knows, within one request, kept everybody waiting for 9 seconds.
    """
    assert is_plain(body) is is_few


@on(FAST)
async def test_many_parts_are_refused_before_they_are_unpacked(store: Store) -> None:
    """Whoever sends them is told so, known or not."""
    token = await make_token(store, *TokenScope)
    bomb = b"{" + b",".join(b'"%d":1' % key for key in range(TEXTS_LIMIT + 1)) + b"}"
    async with browsing(make_site(store), headers=JSON) as browser:
        known = await browser.client.post("/api/sessions", content=bomb, headers=token)
        nobody = await browser.client.post("/api/login/password", content=bomb)

    assert (known.status_code, nobody.status_code) == (413, 413)
    assert known.json()["detail"] == "The body has too many parts"


@on(FAST)
@pytest.mark.parametrize(("path", "status"), [("/api/attachments", 201), ("/api/imports", 422)])
async def test_a_file_may_be_larger(store: Store, path: str, status: int) -> None:
    """It is read block by block, and unpacked nowhere; what cannot be a history is told by then."""
    token = await make_token(store, *TokenScope)
    async with browsing(make_site(store), headers=token) as browser:
        answer = await browser.client.post(path, content=b"\n" * (JSON_LIMIT + 1))

    assert answer.status_code == status


@on(FAST)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig"])
async def test_a_body_in_another_encoding_is_refused(store: Store, encoding: str) -> None:
    """JSON is read in UTF-8 only; a login that a proxy cannot read was possible in UTF-16."""
    wish = '{"name": "ada", "password": "x"}'
    async with browsing(make_site(store), headers=JSON) as browser:
        refused = await browser.client.post("/api/login/password", content=wish.encode(encoding))
        latin = await browser.client.post(
            "/api/login/password",
            content=wish.encode(),
            headers={"Content-Type": f"application/json; charset={encoding}"},
        )
        usual = await browser.client.post(
            "/api/login/password",
            content=wish.encode(),
            headers={"Content-Type": "application/json; charset=UTF-8"},
        )

    assert (refused.status_code, refused.json()["title"]) == (400, "NotUtf8")
    assert (latin.status_code, latin.json()["title"]) == (415, "WrongCharset")
    assert usual.status_code in {401, 403}
