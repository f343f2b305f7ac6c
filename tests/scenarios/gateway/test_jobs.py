"""Jobs through the gateway: they run when they are due, once, and answer where they should."""

from datetime import timedelta

from msgspec.structs import replace

from threadline.core.job import RunState
from threadline.core.message import Role
from threadline.core.session_list import ListSection, SessionFilter
from threadline.platforms.simulated import SendFault
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Fails, Hangs, Says


async def runs(house: GatewayScenario) -> list[RunState]:
    """Tell how the runs of the only job went, the oldest first."""
    (job,) = await house.store.jobs.list()
    return [run.state for run in await house.store.jobs.runs(job.id)][::-1]


async def test_a_job_runs_in_a_session_of_its_own(house: GatewayScenario) -> None:
    """Its answer comes to the chat; the conversation there is not disturbed, nor is the sidebar."""
    alice = house.guest("Alice")
    await alice.says("hello")
    assert "Job 1 is there." in await alice.asks('/job add "every 1h" name=News What is new?')
    house.agent.will(Says("Peas are up."))

    await house.time_passes(hours=1)

    assert alice.sees[-1] == "Peas are up."
    assert house.agent.saw_only("What is new?")
    scheduled = await house.store.sessions.list(SessionFilter(shelf=ListSection.SCHEDULED))
    assert [row.session.title for row in scheduled.rows] == ["News"]
    assert [row.session.title for row in (await house.store.sessions.list()).rows] == ["hello"]
    await alice.says("hello again")
    assert house.agent.saw_only("hello", "hello again")


async def test_what_was_missed_runs_once(house: GatewayScenario) -> None:
    """After a night without a gateway there is one answer, not eight."""
    alice = house.guest("Alice")
    await alice.says('/job add "every 1h" What is new?')
    await house.crashes()
    house.clock.advance(timedelta(hours=8, minutes=30))

    await house.comes_back()
    await house.time_passes(minutes=10)

    assert await runs(house) == [RunState.DONE]
    assert alice.sees[1:] == ["ok"]


async def test_a_run_that_would_overlap_is_skipped_and_says_so(house: GatewayScenario) -> None:
    """While the last one is not over no other begins, and whoever asks is told so."""
    alice = house.guest("Alice")
    await alice.says('/job add "every 1h" What is new?')
    house.agent.will(Hangs(), Says("much"))
    await house.time_passes(hours=1)
    await house.time_passes(hours=1)
    assert await runs(house) == [RunState.RUNNING, RunState.SKIPPED]
    assert "skipped" in await alice.asks("/job runs 1")

    await house.agent_goes_on()
    await house.time_passes(hours=1)

    assert await runs(house) == [RunState.DONE, RunState.SKIPPED, RunState.DONE]
    assert alice.sees[-2:] == ["much", "ok"]


async def test_an_answer_is_mirrored_into_the_conversation(house: GatewayScenario) -> None:
    """The agent there knows what the job said, and that nobody had asked for it."""
    boss = house.guest("Boss")
    await boss.says("hello")
    await boss.says('/job add "every 1h" mirror=target name=Sky How is the sky?')
    house.agent.will(Says("It is blue."))
    await house.time_passes(hours=1)

    await boss.says("what did you say?")

    assert "It is blue." in house.agent.lines(Role.ASSISTANT)
    assert house.agent.was_told("This was said here by the scheduled job “Sky”")


async def test_an_answer_goes_home_on_another_platform(house: GatewayScenario) -> None:
    """Where the home is, when the job runs; who made it reads nothing."""
    boss, there = house.guest("Boss"), house.guest("Boss", on="discord").in_group("Lounge")
    await there.says("/sethome")
    assert "Job 1 is there." in await boss.asks('/job add "every 1h" to=discord What is new?')
    house.agent.will(Says("Peas are up."))

    await house.time_passes(hours=1)

    assert there.sees[-1] == "Peas are up."
    assert "Peas are up." not in boss.sees


async def test_an_unknown_platform_is_an_error(house: GatewayScenario) -> None:
    """It is said when the job is made, and not by a file that nobody expects."""
    boss = house.guest("Boss")

    told = await boss.asks('/job add "every 1h" to=carrier-pigeon What is new?')

    assert "carrier-pigeon" in told
    assert await house.store.jobs.list() == []


async def test_a_run_that_fails_says_so(house: GatewayScenario) -> None:
    """Alice is told, and the next run is tried."""
    alice = house.guest("Alice")
    await alice.says('/job add "every 1h" What is new?')
    house.agent.will(Fails("the model is ill"))
    await house.time_passes(hours=1)
    await house.time_passes(hours=1)

    assert await runs(house) == [RunState.FAILED, RunState.DONE]
    assert "the model is ill" in alice.sees[1]
    assert alice.sees[2:] == ["ok"]


async def test_a_run_survives_a_crash(house: GatewayScenario) -> None:
    """It is one run, with one answer."""
    alice = house.guest("Alice")
    await alice.says('/job add "every 1h" What is new?')
    house.agent.will(Hangs())
    await house.time_passes(hours=1)

    await house.crashes_and_comes_back()

    assert await runs(house) == [RunState.DONE]
    assert len(alice.sees[1:]) == 1
    assert alice.sees[-1].endswith("ok")


async def test_a_job_ends_with_the_rights_of_its_maker(house: GatewayScenario) -> None:
    """Whoever may not speak any more has nothing run for them; the run says why."""
    alice = house.guest("Alice")
    await alice.says('/job add "every 1h" What is new?')
    access = replace(house.settings.access, allow=())
    await house.crashes_and_comes_back(replace(house.settings, access=access))

    await house.time_passes(hours=1)

    assert await runs(house) == [RunState.FAILED]
    assert not house.agent.requests


async def test_a_job_that_ran_is_sent_when_the_platform_is_back(house: GatewayScenario) -> None:
    """An answer is owed as any other is."""
    alice = house.guest("Alice")
    await alice.says('/job add "every 1h" What is new?')
    house.simulated("telegram").suffer(SendFault.FLOOD, retry_after=timedelta(minutes=5))
    await house.time_passes(hours=1)
    assert len(alice.sees) == 1

    await house.time_passes(minutes=6)

    assert alice.sees[1:] == ["ok"]
