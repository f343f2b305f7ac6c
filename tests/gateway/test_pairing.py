"""Pairing through the front door: a real gateway, a stranger, and the owner's approval."""

import re

import pytest

from tests.databases import FAST, POSTGRES
from tests.gateway.test_gateway import PACE, serving
from tests.gateway.worker_setup import until
from threadline.core.access import AccessRules
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.simulated import Simulated
from threadline.store import Store

CODE = re.compile(r"\b[2-9A-HJ-NP-Z]{8}\b")


@pytest.fixture(params=(FAST, POSTGRES))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database."""
    return str(request.param)


async def test_a_stranger_is_let_in_and_answered(store: Store) -> None:
    """Nobody is named in the settings: the code is seen in the chat, and opens it."""
    chat = Simulated("chat")
    ada = chat.person("ada")
    settings = GatewaySettings(access=AccessRules(), pace=PACE)

    async def sees(pattern: str) -> bool:
        return any(re.search(pattern, text) for text in ada.sees())

    async with serving(store, chat, settings=settings, says="Hello, Ada!"):
        ada.writes("hello?")
        await until(lambda: sees(CODE.pattern), "the code")
        (code,) = CODE.findall("\n".join(ada.sees()))
        assert not (await store.sessions.list()).rows

        await store.people.approve_pairing(code)
        ada.writes("hello!")
        await until(lambda: sees("Hello, Ada!"), "the answer")
