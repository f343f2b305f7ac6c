"""Probes: what the settings name is asked whether it is there; no secret is told."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from datetime import timedelta
from pathlib import Path

import pytest

from tests.doubles.providers import Hangs, ProviderDouble, Says, Unauthorised
from tests.doubles.telegram import TOKEN, BotApi
from threadline.assembly.checks import Probe, probe_all
from threadline.config import Config, parse_config

KEY = "sk-s3cret-of-mine"
SLOW_IMPORT = """
import asyncio, sys
from datetime import timedelta
from importlib.abc import MetaPathFinder
from threadline.assembly.checks import probe_all
from threadline.config import parse_config

ahead = 0

class Loop(asyncio.SelectorEventLoop):
    def time(self):
        return super().time() + ahead

class Finder(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        global ahead
        if name == "pydantic_ai":
            ahead += 7200

async def main():
    config = parse_config(sys.argv[1], "threadline.toml", environ={})
    assert "pydantic_ai" not in sys.modules
    async for one in probe_all(config, within=timedelta(hours=1)):
        print(one.name, one.is_well, one.told)
    assert ahead

sys.meta_path.insert(0, Finder())
with asyncio.Runner(loop_factory=Loop) as runner:
    runner.run(main())
"""
"""Probes by a clock that two hours pass on while the SDK is imported."""
SERVER = Path(__file__).parents[1] / "agents" / "model" / "mcp_server.py"


def read(text: str, **environ: str) -> Config:
    """Read settings that nobody wrote into a file."""
    return parse_config(text, "threadline.toml", environ=environ)


async def probe(config: Config, within: float = 30) -> dict[str, Probe]:
    """Look at everything."""
    found = probe_all(config, within=timedelta(seconds=within))
    return {one.name: one async for one in found}


async def test_every_model_is_asked_once() -> None:
    """The usual one, those that step in, and the scribe's; in whichever profile they are."""
    async with ProviderDouble() as double:
        for _ in range(3):
            double.will(Says("yes"))
        config = read(
            f"""
            [agent]
            model = "openai:a"
            fallback = ["openai:b"]
            [scribe]
            model = "openai:c"
            [profiles.other.agent]
            model = "openai:a"
            [providers.openai]
            base_url = "{double.url}/openai/v1"
            api_key = "{KEY}"
            """
        )
        found = await probe(config)

        assert [*found] == ["model openai:a", "model openai:b", "model openai:c"]
        assert all(one.is_well for one in found.values()), found
        assert len(double.requests) == 3


async def test_a_probe_is_not_charged_for_loading_the_sdk() -> None:
    """A slow import is no missing answer."""
    async with ProviderDouble() as double:
        double.will(Says("yes"))
        settings = f"""
            [agent]
            model = "openai:a"
            [providers.openai]
            base_url = "{double.url}/openai/v1"
            api_key = "{KEY}"
            """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SLOW_IMPORT, settings), stdout=PIPE
        )
        out, _ = await process.communicate()

    assert process.returncode == 0
    assert out.decode().startswith("model openai:a True")


@pytest.mark.parametrize("step", [Unauthorised(), Hangs()])
async def test_a_model_that_does_not_answer_is_told(step: Unauthorised | Hangs) -> None:
    """By its name, within its time, and without the key."""
    async with ProviderDouble() as double:
        double.will(step)
        config = read(
            "[agent]\nmodel = 'anthropic:x'\n[providers.anthropic]\n"
            f"base_url = '{double.url}/anthropic'\napi_key = '{KEY}'\n"
        )
        found = await probe(config, within=2)

    (one,) = found.values()
    assert one.name == "model anthropic:x"
    assert not one.is_well
    assert one.told
    assert KEY not in one.told


async def test_servers_of_tools_are_started() -> None:
    """Each tells how many tools it has; one that is not there costs nobody else."""
    config = read(
        f"[mcp.good]\ncommand = [{sys.executable!r}, {str(SERVER)!r}]\n"
        "[mcp.bad]\ncommand = ['no-such-program-anywhere', '--token', 'env:T']\n"
        "[mcp.ugly]\nurl = 'http://127.0.0.1:9/mcp'\nheaders = {Authorization = 'env:T'}\n",
        T=KEY,
    )
    found = await probe(config)

    assert found["mcp good"].is_well, found
    assert found["mcp good"].told.endswith(" tools.")
    for name in ("mcp bad", "mcp ugly"):
        assert not found[name].is_well
        assert KEY not in found[name].told


async def test_programs_and_functions_are_looked_for() -> None:
    """An agent's program on the path, and a function by its dotted name."""
    config = read(
        "[agent]\ncommand = ['no-such-agent-anywhere']\n"
        f"[profiles.a.agent]\ncommand = [{sys.executable!r}]\n"
        "[profiles.b.agent]\npython = 'threadline.agents.echo:Echo'\n"
        "[profiles.c.agent]\npython = 'no_such_module:agent'\n"
    )
    found = await probe(config)

    assert not found["agent no-such-agent-anywhere"].is_well
    assert found[f"agent {sys.executable}"].is_well
    assert found["agent threadline.agents.echo:Echo"].is_well
    assert not found["agent no_such_module:agent"].is_well


async def test_a_missing_key_is_a_finding() -> None:
    """It is told as at the start, and nothing is called."""
    found = await probe(read("[agent]\nmodel = 'openai:x'\n"))

    assert found["model openai:x"] == Probe(
        name="model openai:x",
        told="providers.openai.api_key is missing (agent.model). "
        "Set the variable OPENAI_API_KEY, or api_key in [providers.openai].",
        is_well=False,
    )


async def test_a_bot_says_who_it_is() -> None:
    """A token that Telegram does not know is told, but not shown."""
    async with BotApi() as api:
        good = read(f"[platforms.telegram]\ntoken = '{TOKEN}'\napi_url = '{api.url}'\n")
        found = await probe(good)
        assert found["platform telegram"].is_well, found
        assert "@" in found["platform telegram"].told

        wrong = "4242:another-token-that-opens-nothing"
        bad = read(f"[platforms.bot]\ntype = 'telegram'\ntoken = '{wrong}'\napi_url = '{api.url}'")
        (one,) = (await probe(bad)).values()

    assert not one.is_well
    assert "does not know this token" in one.told
    assert wrong not in one.told


async def test_other_platforms_are_only_made() -> None:
    """What is switched off is not looked at, and wrong settings are told."""
    found = await probe(
        read(
            "[platforms.webhook]\nsecret = 'a secret of 20 chars'\n"
            "[platforms.off]\ntype = 'webhook'\nenabled = false\n"
            "[platforms.short]\ntype = 'webhook'\nsecret = 'x'\n"
        )
    )

    assert found["platform webhook"].is_well
    assert not found["platform short"].is_well
    assert "platform off" not in found
