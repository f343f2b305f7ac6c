import asyncio

from threadline.core.session import EndReason
from threadline.store.sessions.session_end import RETELLINGS
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scenario import Scenario


def told(house: Scenario) -> list[EndReason]:
    return [ending.reason for ending, _ in house.endings]


async def test_the_sweep_ends_what_is_over_and_tells_once(house: Scenario) -> None:
    """A session ends without anybody writing, and its ending is told exactly once."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    await alice.says("good night")
    await house.time_passes(hours=5)
    await bob.says("still up")

    await house.time_passes(hours=4)
    await house.sweeps()
    await house.sweeps()

    assert (await alice.session()).end_reason is EndReason.IDLE
    assert (await bob.session()).is_open
    assert told(house) == [EndReason.IDLE]


async def test_the_hook_gets_the_transcript(house: Scenario) -> None:
    """Whoever is told of an ending can read what was said."""
    alice = house.person("alice", on="telegram")
    await alice.says("remember the number 7")

    await house.time_passes(hours=9)
    await house.sweeps()

    ((ending, transcript),) = house.endings
    assert ending.session_id == (await alice.session()).id
    assert [line.text for line in transcript][-2:] == ["remember the number 7", "ok"]


async def test_every_way_to_end_is_told(house: Scenario) -> None:
    """A reset by time, by /new, by resuming another, and by closing: each ending is told once."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("one")
    await house.time_passes(hours=9)
    await alice.says("two")
    await alice.resets()
    await alice.says("three")
    await alice.resumes(first.session_id)
    await house.store.sessions.end(first.session_id)

    await house.sweeps()

    assert sorted(told(house)) == sorted(
        [EndReason.IDLE, EndReason.NEW, EndReason.SWITCHED, EndReason.CLOSED]
    )


async def test_a_failing_hook_is_called_again(house: Scenario) -> None:
    """A hook that breaks twice is told at the third time, a little later."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await alice.resets()
    house.hook_fails = 2

    for _ in range(3):
        assert not house.endings
        await house.time_passes(minutes=1)
        await house.sweeps()

    assert told(house) == [EndReason.NEW]


async def test_a_hook_that_always_fails_is_given_up(house: Scenario) -> None:
    """After three more attempts the failure is recorded, and nobody is bothered again."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await alice.resets()
    house.hook_fails = 10

    for _ in range(6):
        await house.time_passes(minutes=1)
        await house.sweeps()

    assert house.hook_fails == 6
    assert not house.endings


async def test_an_ending_is_told_across_a_restart(house: Scenario) -> None:
    """What ended before a crash is told after it, once (ask 7)."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await alice.resets()

    await house.crash()
    await house.sweeps()
    await house.crash()
    await house.sweeps()

    assert told(house) == [EndReason.NEW]


async def test_a_failing_hook_is_called_again_across_a_restart(house: Scenario) -> None:
    """A restart does not forget how often a hook has failed."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await alice.resets()
    house.hook_fails = 10

    async def sweep_again() -> None:
        await house.time_passes(minutes=1)
        await house.crash()
        await house.sweeps()

    # PostgreSQL may take a while to notice that a process is gone; until then an ending is its own.
    async with asyncio.timeout(HANG_SECONDS):
        while house.hook_fails > 10 - 1 - RETELLINGS:
            await sweep_again()
    for _ in range(3):
        await sweep_again()

    assert house.hook_fails == 10 - 1 - RETELLINGS


async def test_ending_twice_is_one_ending(house: Scenario) -> None:
    """A session that has ended cannot end again."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("hello")

    assert await house.store.sessions.end(said.session_id)
    assert not await house.store.sessions.end(said.session_id)
    await house.time_passes(days=2)
    await house.sweeps()

    assert told(house) == [EndReason.CLOSED]


async def test_a_resumed_session_can_end_again(house: Scenario) -> None:
    """Each ending of a session is told: it lived on in between."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("hello")
    await alice.resets()
    await alice.resumes(said.session_id)
    await alice.says("me again")
    await alice.resets()

    await house.sweeps()

    assert told(house) == [EndReason.NEW, EndReason.NEW]
