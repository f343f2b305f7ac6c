"""Settings that are read again while a gateway serves."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from threadline.assembly.agent_lifetime import AgentLifetime
from threadline.assembly.reload import Reloader, prepare_reloading
from threadline.config.config_source import Source
from threadline.core.agent import Agent, Output, Request, TextDelta
from threadline.core.errors import ConfigError, Conflict
from threadline.core.event import EventKind
from threadline.core.session import BusyMode
from threadline.core.summarizer import Summarizer
from threadline.testing.deadline import HANG_SECONDS

KEY = "a-secret-of-32-characters-in-all"
DATABASE = "database = 'mine.db'\n"
HOOK = "[platforms.hook]\ntype = 'webhook'\nsecret = 'env:HOOK'\n"


def source_of(root: Path, text: str = "") -> Source:
    """Make a home with a file of settings."""
    environ = {"HOME": str(root), "TZ": "UTC", "HOOK": KEY, "OPENAI_API_KEY": "sk-0123456789"}
    source = Source(environ=environ, folder=root)
    source.file.parent.mkdir(exist_ok=True)
    source.file.write_text(f"{DATABASE}{text}{HOOK}")
    return source


@asynccontextmanager
async def serving(source: Source) -> AsyncIterator[Reloader]:
    """Serve by the settings of a home, for as long as this lasts."""
    async with prepare_reloading(source) as reloading, reloading.gateway:
        yield reloading


def platforms_of(reloading: Reloader) -> set[str]:
    return set(reloading.gateway.platforms) - {"local"}


async def test_what_was_changed_holds_at_once(tmp_path: Path) -> None:
    """In the file, in the store and in the gateway, and whoever listens is told."""
    heard: list[BusyMode] = []
    async with serving(source_of(tmp_path)) as reloading:
        reloading.listen(lambda config: heard.append(config.busy.default))

        came = await reloading.change(
            {"busy.default": "steer", "profiles.coder.concurrency": 2, "server.port": 1}
        )

        gateway = reloading.gateway
        assert (came.failures, came.restart) == ({}, ("server.port",))
        assert gateway.store.rules.busy is BusyMode.STEER
        assert gateway.settings.per_profile == {"coder": 2}
        assert heard == [BusyMode.STEER]
        assert "coder" in reloading.profiles
        assert 'default = "steer"' in reloading.source.file.read_text()


async def test_an_edit_by_hand_holds_after_a_reload(tmp_path: Path) -> None:
    """A platform comes, is changed and goes, and the others stay the same."""
    source = source_of(tmp_path)
    async with serving(source) as reloading:
        hook = reloading.gateway.platforms["hook"]
        other = "[platforms.other]\ntype = 'webhook'\nsecret = '{}'\n"
        source.file.write_text(DATABASE + HOOK + other.format("b" * 32))
        await reloading.reload()
        made = reloading.gateway.platforms["other"]
        source.file.write_text(DATABASE + HOOK + other.format("c" * 32))
        await reloading.reload()

        assert reloading.gateway.platforms["other"] is not made
        source.file.write_text(DATABASE + HOOK)
        await reloading.reload()
        assert platforms_of(reloading) == {"hook"}
        assert reloading.gateway.platforms["hook"] is hook


async def test_a_new_token_in_a_variable_is_noticed(tmp_path: Path) -> None:
    """It is not the words of the file that count, but what they stand for."""
    source = source_of(tmp_path)
    async with serving(source) as reloading:
        hook = reloading.gateway.platforms["hook"]
        source.environ["HOOK"] = "d" * 32  # type: ignore[index]
        await reloading.reload()

        assert reloading.gateway.platforms["hook"] is not hook
        assert {KEY, "d" * 32} <= source.secrets


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("concurrency = = 4\n", "line 2"),
        ("concurrency = 0\n", "concurrency cannot be 0"),
        ("[platforms.x]\ntype = 'pigeon'\n", "no platform of the type pigeon"),
        ("[hooks]\nturn_finished = ['nowhere:nothing']\n", "nowhere:nothing"),
        ("[platforms.x]\ntype = 'webhook'\nsecret = 'env:GONE'\n", "not set"),
    ],
)
async def test_what_is_wrong_leaves_everything_as_it_was(
    tmp_path: Path, text: str, sentence: str
) -> None:
    """And says why."""
    source = source_of(tmp_path)
    async with serving(source) as reloading:
        before = (reloading.config, reloading.gateway.settings, dict(reloading.gateway.platforms))
        source.file.write_text(f"{DATABASE}{text}[busy]\ndefault = 'steer'\n")

        with pytest.raises(ConfigError, match=sentence):
            await reloading.reload()

        gateway = reloading.gateway
        assert (reloading.config, gateway.settings, gateway.platforms) == before
        assert gateway.store.rules.busy is BusyMode.QUEUE
        assert gateway.is_ready


async def test_a_platform_that_cannot_be_made_stays_as_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The rest of the settings holds, it is told why, and no secret is told with it."""
    source = source_of(tmp_path)
    async with serving(source) as reloading:
        hook = reloading.gateway.platforms["hook"]
        short = "[platforms.{}]\ntype = 'webhook'\nsecret = 'brief-key'\n"
        text = DATABASE + "[busy]\ndefault = 'steer'\n" + short.format("hook") + short.format("new")
        source.file.write_text(text)
        with caplog.at_level(logging.WARNING):
            came = await reloading.reload()

        assert set(came.failures) == {"platforms.hook", "platforms.new"}
        assert "brief-key" not in str(came.failures) + caplog.text
        assert platforms_of(reloading) == {"hook"}
        assert reloading.gateway.platforms["hook"] is hook
        assert reloading.gateway.store.rules.busy is BusyMode.STEER

        source.file.write_text(DATABASE + HOOK)
        assert (await reloading.reload()).failures == {}
        assert reloading.gateway.platforms["hook"] is hook


async def test_another_agent_answers_without_a_restart(tmp_path: Path) -> None:
    """Who is not changed goes on; a model that has no key leaves the old one, and is told."""
    source = source_of(tmp_path)
    async with serving(source) as reloading:
        answering = reloading.gateway.worker.answering
        echo = answering.agent
        await reloading.change({"concurrency": 5})
        assert answering.agent is echo

        await reloading.change({"agent.model": "openai:gpt-5.1"})
        model = answering.agent
        assert model is not echo

        source.file.write_text(f"{DATABASE}[agent]\nmodel = 'anthropic:claude-sonnet-4-5'\n{HOOK}")
        came = await reloading.reload()
        assert "providers.anthropic.api_key is missing" in came.failures["agent"]
        assert answering.agent is model


async def test_the_lease_waits_for_a_restart(tmp_path: Path) -> None:
    """Those who renew it know the old one."""
    async with serving(source_of(tmp_path)) as reloading:
        lease = reloading.gateway.store.rules.lease
        came = await reloading.change({"lease_seconds": 5})

        assert came.restart == ("lease_seconds",)
        assert reloading.gateway.store.rules.lease == lease


async def test_two_changes_at_once_both_hold(tmp_path: Path) -> None:
    """One after the other."""
    async with serving(source_of(tmp_path)) as reloading:
        await asyncio.gather(
            reloading.change({"concurrency": 3}), reloading.change({"busy.default": "steer"})
        )

        assert reloading.gateway.settings.concurrency == 3
        assert reloading.gateway.store.rules.busy is BusyMode.STEER


async def test_a_gateway_that_has_stopped_is_not_changed(tmp_path: Path) -> None:
    """The file may be, and holds at the next start."""
    async with prepare_reloading(source_of(tmp_path)) as reloading:
        with pytest.raises(Conflict):
            await reloading.change({"concurrency": 3})

        assert reloading.config.concurrency == 32


class _Talker:
    """An agent that says one word, and waits before the next."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        yield TextDelta(text="one")
        await self.goes_on.wait()
        yield TextDelta(text="two")


class _Occupied(AgentLifetime):
    """A tenure of an agent of the test's own, which notes when it is closed."""

    def __init__(self, agent: Agent) -> None:
        self.is_closed = asyncio.Event()
        super().__init__(self._open(agent))

    @asynccontextmanager
    async def _open(self, agent: Agent) -> AsyncIterator[tuple[Agent, Summarizer]]:
        from threadline.agents.echo import EchoSummarizer

        yield agent, EchoSummarizer()
        self.is_closed.set()


async def test_whoever_answers_is_not_closed_meanwhile() -> None:
    """Tools are needed until the last word, and then no longer."""
    talker = _Talker()
    tenure = _Occupied(talker)
    agent, _ = await tenure.begin()
    words = agent.answer(None)  # type: ignore[arg-type]
    assert await anext(words) == TextDelta(text="one")

    retiring = asyncio.create_task(tenure.retire())
    await asyncio.sleep(0)
    assert not tenure.is_closed.is_set()
    talker.goes_on.set()
    assert [word async for word in words] == [TextDelta(text="two")]
    await asyncio.wait_for(retiring, HANG_SECONDS)

    assert tenure.is_closed.is_set()


async def test_the_feed_tells_of_other_settings(tmp_path: Path) -> None:
    """Once for each time that others hold, so that screens read them again."""
    async with serving(source_of(tmp_path)) as reloading:
        store = reloading.gateway.store
        cursor = await store.feed.end()
        await reloading.change({"concurrency": 3})
        with pytest.raises(ConfigError):
            await reloading.change({"concurrency": 0})
        await reloading.reload()

        kinds = [event.kind for event in (await store.feed.read(cursor)).events]
        assert kinds.count(EventKind.SETTINGS_CHANGED) == 2
