"""Whom a proxy names, who is believed, and what is told to whoever came through one."""

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from tests.databases import FAST, on
from tests.web.browser import PUBLIC, browsing, make_link, make_site, public
from threadline.store import Store
from threadline.web.trusted_hosts import Hosts, client_address


async def tell_sender(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer how a request looks behind the proxies."""
    request = Request(scope, receive)
    answer: Response = PlainTextResponse(f"{request.url.scheme} {client_address(scope)}")
    await answer(scope, receive, send)


@pytest.mark.parametrize(
    ("peer", "forwarded", "told"),
    [
        ("127.0.0.1", "203.0.113.9", "https 203.0.113.9"),
        ("127.0.0.1", "198.51.100.1, 203.0.113.9", "https 203.0.113.9"),
        ("127.0.0.1", "203.0.113.9, 10.0.0.7", "https 203.0.113.9"),
        ("127.0.0.1", "203.0.113.9:4711", "https 203.0.113.9"),
        ("127.0.0.1", "[2001:db8:1:2::9]:4711", "https 2001:db8:1:2::/64"),
        ("127.0.0.1", "2001:db8:1:2::9", "https 2001:db8:1:2::/64"),
        ("127.0.0.1", "unknown", "https unknown"),
        ("127.0.0.1", "127.0.0.1, _hidden", "https unknown"),
        ("127.0.0.1", "203.0.113.9,", "https unknown"),
        ("127.0.0.1", "", "https 127.0.0.1"),
        ("::ffff:127.0.0.1", "203.0.113.9", "https 203.0.113.9"),
        ("::ffff:10.0.0.7", "203.0.113.9", "https 203.0.113.9"),
        ("203.0.113.9", "127.0.0.1", "http 203.0.113.9"),
    ],
)
async def test_a_proxy_is_believed_and_nobody_else(peer: str, forwarded: str, told: str) -> None:
    """Whoever a proxy names in a way that we cannot read is a stranger, and not this machine.

    A proxy that writes the port along with the address made everybody a neighbour, whom no limit
    held back; so did a socket for both kinds of addresses.
    """
    app = Hosts(tell_sender, server=public().server)
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": forwarded}
    async with browsing(app, base="http://localhost", address=peer, headers=headers) as browser:
        assert (await browser.client.get("/")).text == told


@on(FAST)
async def test_what_is_counted_is_told_to_neighbours_alone(store: Store) -> None:
    """Through the proxy anybody may learn that we are ready, but not what is said how often."""
    site = make_site(store, public())
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    async with browsing(site, base=PUBLIC, headers=forwarded) as stranger:
        far = [await stranger.client.get(path) for path in ("/healthz", "/readyz", "/metrics")]
    async with browsing(site) as neighbour:
        near = [await neighbour.client.get(path) for path in ("/readyz", "/metrics")]

    assert [one.status_code for one in far] == [200, 200, 404]
    assert far[1].json() == {"status": "ready"}
    assert [one.status_code for one in near] == [200, 200]
    assert {*near[0].json()} == {"status", "running", "places", "platforms"}


@on(FAST)
@pytest.mark.parametrize(
    ("peer", "forwarded", "is_told"),
    [
        ("127.0.0.1", None, True),
        ("10.0.0.7", None, True),
        ("10.0.0.7", "127.0.0.1", True),
        ("10.0.0.7", "203.0.113.9", False),
        ("203.0.113.9", None, False),
        ("203.0.113.9", "127.0.0.1", False),
        ("192.168.1.5", "203.0.113.9", False),
    ],
)
async def test_only_known_proxies_and_this_machine_are_neighbours(
    store: Store, peer: str, forwarded: str | None, is_told: bool
) -> None:
    """Whoever came straight to an open port, or through a proxy that nobody named, was told all."""
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    site = make_site(store, public())
    async with browsing(site, base=PUBLIC, address=peer, headers=headers) as browser:
        counted = await browser.client.get("/metrics")
        ready = await browser.client.get("/readyz")

    assert counted.status_code == (200 if is_told else 404)
    assert ("platforms" in ready.json()) is is_told


@on(FAST)
async def test_whom_no_proxy_names_must_press_the_button(store: Store) -> None:
    """A chat app that looks at a link through the proxy does not use it up."""
    headers = {"X-Forwarded-For": "unknown"}
    async with browsing(make_site(store), headers=headers) as browser:
        asked = await browser.client.get(f"/login?link={await make_link(store)}")

    assert (asked.status_code, "button" in asked.text) == (200, True)
