"""Limits, proxies and exposure: who may ask, how often, and from where."""

from datetime import timedelta

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.databases import FAST, on
from tests.web.browser import PASSWORD, settings
from threadline.core.errors import ConfigError
from threadline.store import Store
from threadline.web.auth.passwords import Passwords
from threadline.web.bind_policy import check_exposure
from threadline.web.rate_limit import KNOWN_MOST, Limits, Rate, RequestBudget
from threadline.web.trusted_hosts import client_address


class Ticks:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def test_an_allowance_is_spent_and_comes_back() -> None:
    """A burst at once, then as many as the rate gives; each asker has an own one."""
    ticks = Ticks()
    allowance = RequestBudget(Rate(burst=2, per_second=0.5), ticks)

    assert [allowance.take("ada"), allowance.take("ada")] == [None, None]
    assert allowance.take("ada") == timedelta(seconds=2)
    assert allowance.take("bob") is None
    ticks.at = 2.0
    assert allowance.take("ada") is None
    assert allowance.take("ada") == timedelta(seconds=2)
    ticks.at = 1_000_000.0
    assert [allowance.take("ada") for _ in range(3)][:2] == [None, None]


def test_askers_are_not_remembered_without_end() -> None:
    """Of very many, whoever was silent for longest is forgotten."""
    allowance = RequestBudget(Rate(burst=1, per_second=0.0001), Ticks())
    allowance.take("first")
    for number in range(KNOWN_MOST):
        allowance.take(str(number))

    assert allowance.take("first") is None
    assert allowance.take(str(KNOWN_MOST - 1)) is not None


async def test_whoever_asks_too_often_is_told_when_to_come_again() -> None:
    """By login or token, and by address; this machine itself has no limit of its own."""

    async def answer(_: object) -> PlainTextResponse:
        return PlainTextResponse("here")

    rates = {"visitor": Rate(burst=2, per_second=0.1), "address": Rate(burst=3, per_second=0.1)}
    app = Limits(Starlette(routes=[Route("/", answer)]), ticks=Ticks(), **rates)

    async def ask(address: str, **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.get("/", headers=headers)

    here = [await ask("127.0.0.1") for _ in range(5)]
    one = [await ask("127.0.0.1", Authorization="Bearer tl_x") for _ in range(3)]
    there = [await ask("198.51.100.7") for _ in range(4)]

    assert [each.status_code for each in here] == [200] * 5
    assert [each.status_code for each in one] == [200, 200, 429]
    assert [each.status_code for each in there] == [200, 200, 200, 429]
    assert there[-1].headers["retry-after"] == "10"
    assert there[-1].headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("client", "told"),
    [
        (("198.51.100.7", 1), "198.51.100.7"),
        (("::ffff:198.51.100.7", 1), "198.51.100.7"),
        (("2001:db8:1:2:3:4:5:6", 1), "2001:db8:1:2::/64"),
        (("::1", 1), "::1"),
        (("a socket", 1), "unknown"),
        (None, "unknown"),
    ],
)
def test_neighbours_are_one(client: tuple[str, int] | None, told: str) -> None:
    """Whoever has one address of IPv6 has all in its network, so these count together."""
    assert client_address({"type": "http", "client": client}) == told


@on(FAST)
@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
async def test_this_machine_needs_no_login(store: Store, host: str) -> None:
    """Whoever is on it is let in by the link alone."""
    await check_exposure(settings(f'[server]\nhost = "{host}"').server, store)


@on(FAST)
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "localhost.evil.example"])
async def test_other_machines_need_https_and_a_login(store: Store, host: str) -> None:
    """Without https, and then without a password, it does not listen; with both it does."""
    plain = settings(f'[server]\nhost = "{host}"').server
    safe = settings(f'[server]\nhost = "{host}"\nurl = "https://chat.example.org"').server
    owner = await store.owner_account()

    with pytest.raises(ConfigError, match="without https"):
        await check_exposure(plain, store)
    with pytest.raises(ConfigError, match="no password"):
        await check_exposure(safe, store)
    await store.set_password(owner.key, await Passwords().hash(PASSWORD))
    await check_exposure(safe, store)
    with pytest.raises(ConfigError, match="without https"):
        await check_exposure(plain, store)


@pytest.mark.parametrize(
    "line",
    [
        'url = "chat.example.org"',
        'url = "ftp://chat.example.org"',
        'url = "https://chat.example.org/chat"',
        'url = "https://user:pw@chat.example.org"',
        'url = "https://chat.example.org?x=1"',
        'hosts = ["https://chat.example.org"]',
        'hosts = ["a b"]',
        'hosts = ["*"]',
        'proxies = ["everybody"]',
    ],
)
def test_settings_that_cannot_be_meant_are_refused(line: str) -> None:
    """An address has no path and no password, a host is a name, a proxy an address."""
    with pytest.raises(ConfigError, match=f"server.{line.partition(' ')[0]}"):
        settings(f"[server]\n{line}")


def test_an_address_is_taken_in_one_form() -> None:
    """With or without a slash, in any letters."""
    server = settings('[server]\nurl = "https://Chat.Example.org:8443/"').server

    assert (server.url, server.public_host) == ("https://chat.example.org:8443", "chat.example.org")
    assert server.is_https
