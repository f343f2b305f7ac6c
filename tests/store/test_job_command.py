"""The command `/job`: what a person types, and what comes of it."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import DatabaseFactory
from tests.store.command_setup import BOB, DM, GROUP, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.address import Sender
from threadline.core.errors import ThreadlineError
from threadline.core.job import MirrorMode, RunState
from threadline.core.target import parse_target


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def said(desk: Desk, text: str, **more: object) -> str:
    """Give a command, and read the answer, or why there is none."""
    try:
        return (await desk.asks(text, **more)).text  # type: ignore[arg-type]
    except ThreadlineError as error:
        return str(error)


@both
async def test_everything_can_be_said_in_one_line(desk: Desk) -> None:
    """Time zone, name, target and mirror stand before the prompt, in any order."""
    await desk.says("hello", at=GROUP)
    line = "/job add “every weekday 9:00” name='Morning' mirror=target tz=Europe/Berlin to=local"
    told = await said(desk, f"{line} What is\nnew?", rank=AccessLevel.ADMIN)

    assert told == "Job 1 is there. Next: 2026-03-03 09:00 (Europe/Berlin)."
    (job,) = await desk.store.jobs.list()
    assert (job.name, job.prompt) == ("Morning", "What is\nnew?")
    assert (job.target, job.mirror) == ("local", MirrorMode.TARGET)
    assert (job.address, job.maker and job.maker.id) == (DM, "alice")


@both
async def test_a_job_is_led_through_its_life(desk: Desk) -> None:
    """By its number it is put to rest, started, looked at and deleted."""
    await said(desk, '/job add "every 1h" What is new?')
    assert await said(desk, "/job runs 1") == "Job 1 has not run yet."
    assert await said(desk, "/job run 1") == "Job 1 runs now."
    assert (await said(desk, "/job run #1")).startswith("This job runs just now")
    assert await said(desk, "/job runs 1") == "a moment ago: waiting"
    assert (await said(desk, "/job pause 1")).startswith("Job 1 rests.")
    assert (await said(desk, "/job")).endswith("every 1h. It rests.")
    desk.clock.advance(timedelta(hours=5))
    assert (await said(desk, "/job resume 1")).startswith("Job 1 goes on. Next: 2026-03-02 15:00")
    assert await said(desk, "/job delete 1") == "Job 1 is gone: What is new?."
    assert (await said(desk, "/job")).startswith("There are no jobs.")


@both
async def test_a_home_of_the_settings_is_known_in_every_profile(desk: Desk) -> None:
    """What the owner can name at the terminal can be named in a chat, whatever the profile."""
    desk.store.rules = replace(desk.store.rules, homes={"telegram": parse_target("telegram:42")})
    line = "/job add 'every 1h' to=telegram What is new?"
    made = await desk.gives(replace(desk.inbound(line), profile="work"), AccessLevel.ADMIN)
    begun = await desk.gives(replace(desk.inbound("/job run 1"), profile="work"), AccessLevel.ADMIN)

    assert made is not None
    assert made.text.startswith("Job 1 is there.")
    assert begun is not None
    assert begun.text == "Job 1 runs now."


@both
async def test_a_moment_that_is_over_is_told(desk: Desk) -> None:
    """A job for one moment stays in the list when that has come."""
    await said(desk, '/job add "at 2026-03-02T10:00" Call.')
    desk.clock.advance(timedelta(hours=2))
    begun = await desk.store.jobs.start_due((await desk.store.jobs.list_due())[0])

    assert begun is not None
    assert begun.state is RunState.RUNNING
    assert (await said(desk, "/job")).endswith("Its time is over.")


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("/job add every 1h What?", "Put the time in quotes"),
        ('/job add "every 1h"', "needs something to ask"),
        ('/job add "every 1h" name=X', "needs something to ask"),
        ('/job add "soon" What?', "is not a schedule"),
        ('/job add "every 1h" tz=Mars/Base What?', "timezone"),
        ('/job add "every 1h" mirror=both What?', "mirror"),
        ('/job add "every 1h" to=all What?', "Your jobs answer where they were created"),
        ("/job dance", "not something a job can do"),
        ("/job pause", "Which job?"),
        ("/job pause one", "Which job?"),
        ("/job pause ²", "Which job?"),
        ("/job delete 999999999999999999999", "Which job?"),
        ("/job delete 0", "no such job"),
        ("/job run 7", "no such job"),
    ],
)
@both
async def test_what_cannot_be_done_is_said(desk: Desk, written: str, why: str) -> None:
    """A mistake is answered with a sentence that helps, and nothing is made."""
    assert why in await said(desk, written)
    assert await desk.store.jobs.list() == []


@both
async def test_nobody_reaches_the_job_of_another(desk: Desk) -> None:
    """By no number and in no chat; an admin does."""
    await said(desk, '/job add "every 1h" What is new?', at=GROUP)
    for verb in ("pause", "resume", "run", "runs", "delete"):
        assert "no such job" in await said(desk, f"/job {verb} 1", sender=BOB, at=GROUP)
    assert "no jobs" in await said(desk, "/job", sender=BOB, at=GROUP)
    nobody = await said(desk, '/job add "every 1h" Hi', sender=Sender(), at=GROUP)
    assert "who you are" in nobody
    assert "What is new?" in await said(desk, "/job", sender=BOB, rank=AccessLevel.ADMIN)
