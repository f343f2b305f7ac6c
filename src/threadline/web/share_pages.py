"""Share pages: the pages at `/s/<id>`, which anybody can read, and in which nothing runs."""

import base64
import hashlib
import re

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from threadline.core.account import ShareId
from threadline.store import Store
from threadline.web.request_limits import SHARED

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_NOTHING = (
    '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>Page not found</title></head>\n"
    "<body><main><h1>Page not found</h1>"
    "<p>This page was never shared, or is no longer shared.</p></main></body>\n</html>\n"
)


def make_share_route(store: Store) -> Route:
    """Make the route under which shared pages are read without a login."""

    async def show_share(request: Request) -> Response:
        """Show a page, or the same nothing for one that was revoked and one that never was."""
        id = request.path_params["id"]
        page = await store.read_share(ShareId(id)) if _ID.fullmatch(id) else None
        status = 404 if page is None else 200
        shown = _NOTHING if page is None else page
        return HTMLResponse(shown, status_code=status, headers=_headers(shown))

    return Route(f"{SHARED}{{id}}", show_share, methods=["GET"])


def _headers(page: str) -> dict[str, str]:
    return {
        "Cache-Control": "no-store",  # it may be revoked
        "Content-Security-Policy": _policy(page),
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "X-Robots-Tag": "noindex, nofollow, noarchive, nosnippet",
    }


def _policy(page: str) -> str:
    """Allow nothing but the one style that we wrote ourselves; it stands before any words."""
    style = _STYLE.search(page)
    allowed = "'none'"
    if style is not None:
        digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
        allowed = f"'sha256-{digest}'"
    return (
        f"default-src 'none'; style-src {allowed}; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; sandbox"
    )
