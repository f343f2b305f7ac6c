"""Trusted hosts: by which names the server may be called, and which proxies are believed.

A page of a stranger can let its own name lead to this machine. Its browser then sends that name,
and is turned away; an address in numbers cannot be made to lead elsewhere.
"""

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from threadline.config.gateway_section import ServerSettings
from threadline.core.errors import Invalid
from threadline.web.problems import problem_response

Network = IPv4Network | IPv6Network

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_ELSEWHERE = ("/platforms/", "/p/")
"""Where requests are signed, and come from servers that call us as they like."""
_NEIGHBOUR = "threadline.neighbour"


class Hosts:
    """Wraps an application: passes on what is asked of a name of ours, as its caller sent it."""

    def __init__(self, app: ASGIApp, *, server: ServerSettings) -> None:
        """Know the names and proxies from the settings."""
        self._app = app
        self._names = known_names(server)
        self._proxies = (*LOOPBACK, *(ip_network(one, strict=False) for one in server.proxies))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        if not scope["path"].startswith(_ELSEWHERE) and not self._is_ours(headers):
            wrong = Invalid(
                "Unknown host name",
                hint="Add it to server.url or server.hosts",
            )
            await problem_response(wrong, 421)(scope, receive, send)
            return
        self._tell_sender(scope, headers)
        await self._app(scope, receive, send)

    def _is_ours(self, headers: Headers) -> bool:
        named = headers.getlist("host")
        return len(named) == 1 and may_be_called(named[0], self._names)

    def _tell_sender(self, scope: Scope, headers: Headers) -> None:
        """Write down how the caller came to our proxy; what nobody vouches for does not count."""
        scope[_NEIGHBOUR] = is_in_networks(_peer(scope), self._proxies)
        if not scope[_NEIGHBOUR]:
            return
        # In place, as whoever stands before us looks at the same scope when the answer goes out.
        proto = headers.get("x-forwarded-proto", "").strip().lower()
        if proto in {"http", "https"}:
            scope["scheme"] = proto
        if came := _first_stranger(headers.getlist("x-forwarded-for"), self._proxies):
            scope["client"] = (came, 0)
            scope[_NEIGHBOUR] = False


def is_neighbour(scope: Scope) -> bool:
    """Tell whether a request comes from this machine or a proxy itself, and not through one.

    A stranger is everybody else, also who comes without any proxy or through an unknown one.
    """
    known = scope.get(_NEIGHBOUR)
    return is_in_networks(_peer(scope), LOOPBACK) if known is None else bool(known)


def known_names(server: ServerSettings) -> frozenset[str]:
    """Answer all names of this server, in small letters."""
    public = {server.public_host} if server.url else set()
    return frozenset({"localhost", *public, *server.hosts, server.host.lower()})


def may_be_called(host: str, names: frozenset[str]) -> bool:
    """Tell whether a Host header names us: an address in numbers, or a name that we know."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if any(sign in host for sign in "/?#@\\ "):
        return False
    return name in names or name.endswith(".localhost") or is_address(name)


def is_address(text: str) -> bool:
    """Tell whether a text is an address in numbers."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def is_in_networks(address: str, networks: Iterable[Network]) -> bool:
    """Tell whether an address is in one of some networks."""
    try:
        found = _plain(ip_address(address))
    except ValueError:
        return False
    return any(found in network for network in networks)


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Read an IPv4 address that is written as one of IPv6, as sockets for both do."""
    return (address.ipv4_mapped if address.version == 6 else None) or address


def client_address(scope: Scope) -> str:
    """Say from where a request came; neighbours in one IPv6 network are one."""
    try:
        found = _plain(ip_address(_peer(scope)))
    except ValueError:
        return "unknown"
    if found.version == 4 or found.is_loopback:
        return str(found)
    return str(ip_network((int(found) >> 64 << 64, 64)))


def _peer(scope: Scope) -> str:
    host: str = (scope.get("client") or ("", 0))[0]
    return host


def _first_stranger(forwarded: list[str], proxies: Iterable[Network]) -> str | None:
    """Find who came to our first proxy: read from the right, as anybody may write the left.

    None: nobody but proxies. What is no address is a stranger too, of whom nothing is known.
    """
    known = tuple(proxies)
    named = ",".join(forwarded).strip()
    for one in reversed(named.split(",") if named else []):
        address = _without_port(one.strip())
        if not is_in_networks(address, known):
            return address or "unknown"
    return None


def _without_port(text: str) -> str:
    """Leave the address, as some proxies write `192.0.2.7:4711` or `[2001:db8::7]:4711`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
