"""CSRF origin: which page asks, as its browser tells; no page of a stranger may change anything."""

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from threadline.config.gateway_section import ServerSettings
from threadline.core.errors import Refused

OWN_SITES = frozenset({"same-origin", "none"})
"""None: the person typed the address, or chose a bookmark."""


def check_origin(connection: HTTPConnection, server: ServerSettings) -> None:
    """Refuse what another page asks for; browsers say which page it is, programs say nothing."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None and site not in OWN_SITES:
        raise _foreign()
    origin = connection.headers.get("origin")
    if origin is not None and not _is_own(origin, connection, server):
        raise _foreign()


def _is_own(origin: str, connection: HTTPConnection, server: ServerSettings) -> bool:
    if server.url is not None and origin == server.url:
        return True  # a proxy may call us by another name than people do
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    scheme, host = connection.scope.get("scheme"), connection.headers.get("host", "")
    return bool(parts.netloc) and (parts.scheme, parts.netloc.lower()) == (scheme, host.lower())


def _foreign() -> Refused:
    return Refused("Another page asked for this", hint="Do it from a page of this server")
