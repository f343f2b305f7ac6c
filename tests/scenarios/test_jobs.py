"""Jobs as people meet them: made in a chat, run by themselves, answered where they should be."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.gateway.worker_setup import until
from threadline.core.access import AccessRules
from threadline.core.address import Address
from threadline.core.job import RunState
from threadline.core.message import Role
from threadline.gateway.gateway import Gateway
from threadline.gateway.intervals import Intervals
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.local import Local
from threadline.platforms.simulated import Simulated
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.scripted_agent import Says, ScriptedAgent

PACE = Intervals(drain=timedelta(milliseconds=50), grace=timedelta(milliseconds=200))
SETTINGS = GatewaySettings(
    access=AccessRules(allow=["chat:*", "work:*"], admins=["chat:boss"]), pace=PACE
)
HOUR = timedelta(hours=1)


class Town:
    """Two platforms, a clock, an agent, and a gateway between them."""

    def __init__(self, store: Store, clock: FakeClock, folder: Path) -> None:
        self.store, self.clock = store, clock
        self.chat, self.work = (Simulated(name, clock=clock) for name in ("chat", "work"))
        self.local = Local(folder, clock=clock)
        self.agent = ScriptedAgent()
        self.gateway: Gateway | None = None

    @asynccontextmanager
    async def opens(self, settings: GatewaySettings = SETTINGS) -> AsyncIterator[Gateway]:
        """Serve, as a process that begins and ends."""
        platforms = (self.chat, self.work, self.local)
        async with Gateway(self.store, self.agent, platforms, settings=settings) as gateway:
            self.gateway = gateway
            yield gateway

    async def hours_pass(self, hours: int = 1) -> None:
        """Let time pass, and the scheduler look at the clock."""
        self.clock.advance(hours * HOUR)
        assert self.gateway is not None
        await self.gateway.scheduler.look()

    async def sees(self, platform: Simulated, where: Address, text: str) -> str:
        """Wait until a text is seen in a chat; answer the whole message."""
        found: list[str] = []

        async def is_seen() -> bool:
            found[:] = [shown.text for shown in platform.seen(where) if text in shown.text]
            return bool(found)

        await until(is_seen, f"{text!r} is seen")
        return found[-1]


@pytest.fixture
async def town(open_store: OpenStore, tmp_path: Path) -> Town:
    """Build a town in which time passes only when somebody says so."""
    clock = FakeClock()
    return Town(await open_store(clock=clock), clock, tmp_path / "output")


async def test_a_person_makes_a_job_in_a_chat(town: Town) -> None:
    """Alice is told the news every hour where she asked for them, until she has had enough."""
    alice = town.chat.person("Alice")
    async with town.opens():
        alice.writes('/job add "every 1h" What is new?')
        made = await town.sees(town.chat, alice.dm, "Job 1 is there.")
        assert "Next: 2026-03-02 10:00 (UTC)." in made

        town.agent.will(Says("Peas are up."))
        await town.hours_pass()
        await town.sees(town.chat, alice.dm, "Peas are up.")
        assert town.agent.saw_only("What is new?")

        alice.writes("/job")
        assert "What is new? — every 1h" in await town.sees(town.chat, alice.dm, "1. What")
        alice.writes("/job pause 1")
        await town.sees(town.chat, alice.dm, "Job 1 rests.")
        await town.hours_pass(3)
        alice.writes("/job delete 1")
        await town.sees(town.chat, alice.dm, "Job 1 is gone")

    assert await town.store.jobs.list() == []


async def test_members_have_their_own_jobs_and_admins_see_all(town: Town) -> None:
    """Bob neither sees nor stops what Alice made, and sends nothing elsewhere; the boss does."""
    alice, bob = town.chat.person("Alice"), town.chat.person("Bob")
    boss = town.chat.person("boss")
    async with town.opens():
        alice.writes('/job add "every day 9:00" tz=Europe/Berlin name=“Morning news” What is new?')
        await town.sees(town.chat, alice.dm, "Job 1 is there.")
        bob.writes("/job")
        await town.sees(town.chat, bob.dm, "There are no jobs.")
        bob.writes("/job delete 1")
        await town.sees(town.chat, bob.dm, "There is no such job")
        bob.writes('/job add "every 1h" to=all Hello')
        await town.sees(town.chat, bob.dm, "Your jobs answer where they were created")
        bob.writes("/job add every hour Hello")
        await town.sees(town.chat, bob.dm, "Put the time in quotes")

        boss.writes("/job")
        await town.sees(town.chat, boss.dm, "1. Morning news")


async def test_one_answer_goes_to_several_targets(town: Town, tmp_path: Path) -> None:
    """An admin lets one answer go to a chat elsewhere, and into a file."""
    boss, bob = town.chat.person("boss"), town.work.person("Bob")
    async with town.opens():
        town.agent.will(Says("Hello Bob!"))
        bob.writes("Hello")
        await town.sees(town.work, bob.dm, "Hello Bob!")
        target = f"work:{bob.dm.chat},local"
        boss.writes(f'/job add "every 1h" to={target} mirror=target name=Sky How is the sky?')
        await town.sees(town.chat, boss.dm, "Job 1 is there.")
        town.agent.will(Says("It is blue."))
        await town.hours_pass()
        await town.sees(town.work, bob.dm, "It is blue.")

        async def is_written() -> bool:
            files = list((tmp_path / "output").glob("main/*.md"))
            return [file.read_text() for file in files] == ["It is blue.\n"]

        await until(is_written, "the file is there")

        (job,) = await town.store.jobs.list()

        async def is_done() -> bool:
            return [run.state for run in await town.store.jobs.runs(job.id)] == [RunState.DONE]

        await until(is_done, "the run is over")

    bobs = [
        row for row in (await town.store.sessions.list()).rows if row.session.platform == "work"
    ]
    lines = await town.store.transcripts.read(bobs[0].session.id)
    assert [line.text for line in lines if line.role is Role.ASSISTANT][-1] == "It is blue."


async def test_a_job_that_was_missed_runs_once(town: Town) -> None:
    """After a night without a gateway, Alice gets one answer, and not eight."""
    alice = town.chat.person("Alice")
    async with town.opens():
        alice.writes('/job add "every 1h" What is new?')
        await town.sees(town.chat, alice.dm, "Job 1 is there.")
    town.clock.advance(8 * HOUR + timedelta(minutes=1))
    town.agent.will(Says("Much."))
    async with town.opens():
        await town.sees(town.chat, alice.dm, "Much.")
        await town.hours_pass(0)

    (job,) = await town.store.jobs.list()
    assert len(await town.store.jobs.runs(job.id)) == 1


async def test_whoever_was_shut_out_hears_no_more(town: Town) -> None:
    """A job does not outlive the right of its maker to speak."""
    alice = town.chat.person("Alice")
    async with town.opens():
        alice.writes('/job add "every 1h" What is new?')
        await town.sees(town.chat, alice.dm, "Job 1 is there.")
    shut = replace(SETTINGS, access=AccessRules())
    async with town.opens(shut):
        await town.hours_pass()

    (job,) = await town.store.jobs.list()
    (run,) = await town.store.jobs.runs(job.id)
    assert run.state is RunState.FAILED
    assert not town.agent.requests
