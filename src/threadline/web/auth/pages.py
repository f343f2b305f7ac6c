"""Pages: what a browser sees before there is anything else: the login by a link, and the door."""

from html import escape
from string import Template
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from threadline.config.gateway_section import ServerSettings
from threadline.core.errors import Refused, retry_header
from threadline.store import Store
from threadline.web.auth.cookies import set_login
from threadline.web.auth.login_service import LoginService
from threadline.web.authentication import SECRET_LIMIT, find_visitor
from threadline.web.csrf_origin import OWN_SITES, check_origin
from threadline.web.problems import TooOften
from threadline.web.spa import SpaFiles
from threadline.web.trusted_hosts import LOOPBACK, is_in_networks

FORM_LIMIT = 10_000
"""Bytes."""

_PAGE = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Threadline</title>
</head>
<body>
<main>
<h1>$title</h1>
$body
</main>
</body>
</html>
"""
)
_BUTTON = Template(
    """<form method="post" action="/login">
<input type="hidden" name="link" value="$link">
<button type="submit">Log in</button>
</form>"""
)
_HOW = "<p>To log in, run <code>threadline account link</code> and open what it prints.</p>"


class Pages:
    """The pages, for one store."""

    def __init__(
        self, store: Store, server: ServerSettings, screens: SpaFiles | None = None
    ) -> None:
        """Let people in by links; screens show the other ways to log in, if they were built."""
        self._store = store
        self._server = server
        self._screens = screens
        self._entrance = LoginService(store)

    def routes(self) -> list[Route]:
        """Answer what is found where."""
        return [
            Route("/", self.show_door),
            Route("/login", self.open_link, methods=["GET"]),
            Route("/login", self.use_form, methods=["POST"]),
        ]

    async def show_door(self, request: Request) -> Response:
        """Say who is logged in here."""
        visitor = await find_visitor(self._store, request)
        if visitor is None:
            return _page("Nobody is logged in", _HOW, 401)
        who = f"<p>You are logged in as {escape(visitor.account.name)}.</p>"
        return _page("Threadline", f'{who}\n<p><a href="/api/docs">The HTTP API</a></p>')

    async def open_link(self, request: Request) -> Response:
        """Log in by a link, or ask first.

        On this machine nobody opens it but its user, unless another page leads there, which could
        log them in under a name that is not theirs. From elsewhere it may be a chat app that looks
        where a link leads which somebody pasted; such an app presses no button.
        """
        link = request.query_params.get("link", "")
        if not link and self._screens is not None and self._screens.is_there:
            return await self._screens.show(request)
        if not link:
            return await self.show_door(request)
        if request.method == "GET" and _is_here(request):
            return await self._enter(request, link)
        return _page("Log in to Threadline", _BUTTON.substitute(link=escape(link[:SECRET_LIMIT])))

    async def use_form(self, request: Request) -> Response:
        """Log in by a link, after somebody pressed the button."""
        try:
            check_origin(request, self._server)
        except Refused as error:
            return _page("This cannot be done", f"<p>{escape(str(error))}</p>", error.status)
        return await self._enter(request, await _read_link(request))

    async def _enter(self, request: Request, link: str) -> Response:
        try:
            entered = await self._entrance.by_link(request, link[:SECRET_LIMIT])
        except TooOften as error:
            words = "<p>Too many links were wrong. Please wait a while.</p>"
            return _page("Please wait", words, error.status, retry_header(error.retry_after))
        except Refused:
            if await find_visitor(self._store, request) is not None:
                return _go_home()  # the page was opened again, in a browser that is logged in
            return _page("This link does not log in", f"<p>It may be too old.</p>\n{_HOW}", 410)
        response = _go_home()
        set_login(response, request, entered.secret)
        return response


async def _read_link(request: Request) -> str:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_LIMIT:
            return ""
    return parse_qs(body.decode("utf-8", "replace")).get("link", [""])[0]


def _is_here(request: Request) -> bool:
    """Tell whether a request was made on this machine and to it, and no other page led there."""
    if request.headers.get("sec-fetch-site", "none") not in OWN_SITES:
        return False
    peer = request.client.host if request.client else ""
    name = request.url.hostname or ""
    is_named = name == "localhost" or name.endswith(".localhost")
    return is_in_networks(peer, LOOPBACK) and (is_named or is_in_networks(name, LOOPBACK))


def _go_home() -> Response:
    return RedirectResponse("/", 303)


def _page(
    title: str, body: str, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    page = _PAGE.substitute(title=escape(title), body=body)
    return HTMLResponse(page, status_code=status, headers=headers)
