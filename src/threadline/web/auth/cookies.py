"""Cookies: how a browser stays logged in."""

from starlette.requests import HTTPConnection
from starlette.responses import Response

from threadline.core.account import LOGIN_LASTS
from threadline.web.authentication import COOKIE, SAFE_COOKIE, cookie_name


def set_login(response: Response, connection: HTTPConnection, secret: str) -> None:
    """Let a browser keep the secret of its login, out of the reach of scripts and other sites."""
    name = cookie_name(connection)
    response.set_cookie(
        name,
        secret,
        max_age=int(LOGIN_LASTS.total_seconds()),
        path="/",
        secure=name == SAFE_COOKIE,
        httponly=True,
        samesite="lax",  # with strict, a link from a chat would find nobody logged in
    )


def forget_login(response: Response, connection: HTTPConnection) -> None:
    """Let a browser forget its login."""
    is_safe = cookie_name(connection) == SAFE_COOKIE
    for name in (SAFE_COOKIE, COOKIE) if is_safe else (COOKIE,):
        response.delete_cookie(
            name, path="/", secure=name == SAFE_COOKIE, httponly=True, samesite="lax"
        )
