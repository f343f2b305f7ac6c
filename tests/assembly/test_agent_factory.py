"""Minds: whoever answers is made of the settings, for each profile its own."""

import sys
from pathlib import Path

import pytest

from tests.databases import FAST, OpenStore, on
from tests.doubles.providers import ProviderDouble, Says
from threadline.assembly import gateway_settings, open_agent, prepare_gateway
from threadline.config import Config, parse_config
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import ConfigError
from threadline.core.inbound import Inbound
from threadline.core.message import Role
from threadline.core.turn import UNFINISHED
from threadline.gateway.worker import Worker
from threadline.store import Store

ALICE = Sender(id="alice")


def read(text: str, **environ: str) -> Config:
    """Read settings that nobody wrote into a file."""
    return parse_config(text, "threadline.toml", environ=environ)


async def ask(store: Store, config: Config, profile: str = "main") -> str:
    """Ask the agent of a profile something, and wait for the answer."""
    address = Address(platform="local", kind=Kind.DM, chat=profile)
    inbound = Inbound.text(
        "hello", address=address, sender=ALICE, at=store.now(), profile=profile, message_id="1"
    )
    async with open_agent(config) as (agent, scribe):
        worker = Worker(store, agent, scribe=scribe, titles=False)
        async with worker:
            arrival = await store.receive(inbound)
            assert arrival.session_id is not None
            assert arrival.turn_id is not None
            with worker.listen(arrival.session_id) as listener:
                # It may have ended before anybody listened.
                while (await store.turns.get(arrival.turn_id)).state in UNFINISHED:
                    await anext(listener)
        lines = await store.transcripts.read(arrival.session_id)
    return "".join(line.text for line in lines if line.role is Role.ASSISTANT)


@on(FAST)
async def test_without_a_word_it_is_the_echo(open_store: OpenStore) -> None:
    """No key, no package and no network is needed for that."""
    assert "You said “hello”" in await ask(await open_store(), read(""))


@on(FAST)
async def test_each_profile_is_answered_by_its_own(open_store: OpenStore) -> None:
    """A model for one, and the echo for all others."""
    async with ProviderDouble() as double:
        double.will(Says("I am a model."))
        config = read(
            "[profiles.smart.agent]\nmodel = 'openai:x'\n"
            f"[providers.openai]\nbase_url = '{double.url}/openai/v1'\napi_key = 'k'\n"
        )
        store = await open_store()

        assert await ask(store, config, "smart") == "I am a model."
        assert "You said “hello”" in await ask(store, config, "main")


@pytest.mark.parametrize(
    ("text", "package", "extra"),
    [
        ("[agent]\nmodel = 'ollama:x'", "pydantic_ai", "models"),
        ("[scribe]\nmodel = 'ollama:x'", "pydantic_ai", "models"),
        ("[agent]\ncommand = ['agent']", "acp", "acp"),
        ("[platforms.telegram]\ntoken = 'x'", "aiogram", "telegram"),
    ],
)
async def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, package: str, extra: str
) -> None:
    """With what to install, before anything begins."""
    for name in [*sys.modules]:
        if name.partition(".")[0] == package or name.startswith("threadline.agents."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    config = read(f"database = '{tmp_path / 'store.db'}'\n{text}")

    with pytest.raises(ConfigError) as caught:
        async with prepare_gateway(config):
            pass

    assert "needs an extra package" in str(caught.value)
    assert f"pip install 'threadline[{extra}]'" in str(caught.value)
    assert not (tmp_path / "store.db").exists()


async def test_the_gateway_has_what_the_settings_say(tmp_path: Path) -> None:
    """The scribe's settings reach it, and the models that are offered its rules."""
    config = read(
        f"database = '{tmp_path / 'store.db'}'\n"
        "[agent]\ntype = 'echo'\nmodels = ['ollama:x']\n"
        "[scribe]\ncompact_at = 0.5\ntitles = false\n"
    )
    settings = gateway_settings(config)

    assert (settings.compact_at, settings.titles) == (0.5, False)
    async with prepare_gateway(config) as gateway:
        assert gateway.store.rules.models == ("ollama:x",)


async def test_a_reference_to_nothing_is_named() -> None:
    """A variable that is not set, by its setting."""
    config = parse_config(
        "[agent]\nmodel = 'openai:x'\n[providers.openai]\napi_key = 'env:NOWHERE'\n",
        "threadline.toml",
        environ={},
    )

    with pytest.raises(ConfigError, match=r"providers.openai.api_key stands in a variable"):
        async with open_agent(config):
            pass
