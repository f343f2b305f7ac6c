"""Profiles: two of them in one gateway never meet."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from threadline.core.person import Identity
from threadline.core.profile_rules import ProfileRule
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import OpenStore
from threadline.testing.scripted_agent import Hangs


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house where one group, and one platform, are work, and the rest is home."""
    house = GatewayScenario(open_again)
    house.settings = replace(
        house.settings,
        routing=(
            ProfileRule(profile="work", platform="discord"),
            ProfileRule(profile="work", platform="telegram", chat="group-office"),
            ProfileRule(
                profile="club", platform="telegram", chat="group-office", thread="thread-fun"
            ),
        ),
        default_profile="home",
    )
    async with house:
        yield house


async def titles(house: GatewayScenario, profile: str) -> set[str | None]:
    """Name the conversations of a profile."""
    return {row.session.title for row in await house.sessions(profile)}


async def test_where_it_is_said_names_the_profile(house: GatewayScenario) -> None:
    """The narrowest rule wins, and what no rule names goes to the default."""
    alice = house.guest("Alice")
    await alice.says("about peas")
    await alice.in_group("Office").says("about invoices")
    await alice.in_thread("Office", "Fun").says("about chess")
    await house.guest("Alice", on="discord").says("about servers")

    assert await titles(house, "home") == {"about peas"}
    assert await titles(house, "work") == {"about invoices", "about servers"}
    assert await titles(house, "club") == {"about chess"}
    assert await titles(house, "main") == set()


async def test_nothing_of_one_profile_is_seen_from_another(house: GatewayScenario) -> None:
    """The same Alice cannot list, resume, search or forget at work what she said at home."""
    home, work = house.guest("Alice"), house.guest("Alice").in_group("Office")
    await home.says("a private matter")
    private = await home.session()
    await work.says("an invoice")

    for asked in ("/sessions", "/sessions private", f"/resume {private.id}", "/resume private"):
        assert "private matter" not in await work.asks(asked)
    assert "Forgotten" in await work.asks("/forget this yes")
    await work.says("hello")

    assert house.agent.saw_only("hello")
    assert await titles(house, "home") == {"a private matter"}


async def test_grants_and_homes_belong_to_a_profile(house: GatewayScenario) -> None:
    """Who is let in at home is a stranger at work, and a home there is none here."""
    access = replace(house.settings.access, allow=())
    await house.stops()
    await house.comes_back(replace(house.settings, access=access))
    alice = house.guest("Alice")
    await house.store.people.allow(Identity(platform="telegram", id="alice"), profile="home")

    assert await alice.asks("hello") == "ok"
    assert await alice.in_group("Office").asks("hello") == ""

    await house.guest("Boss").says("/sethome")
    assert list(await house.store.deliveries.homes("home")) == ["telegram"]
    assert list(await house.store.deliveries.homes("work")) == []


async def test_jobs_belong_to_a_profile(house: GatewayScenario) -> None:
    """Not even an admin sees at work what was scheduled at home."""
    boss = house.guest("Boss")
    assert "Job 1 is there." in await boss.asks('/job add "every 1h" What is new?')

    assert "There are no jobs." in await boss.in_group("Office").asks("/job")
    assert "There is no such job" in await boss.in_group("Office").asks("/job delete 1")
    await house.time_passes(hours=1)

    assert boss.sees[-1] == "ok"
    assert await titles(house, "work") == set()


async def test_one_busy_profile_leaves_the_other_its_hands(house: GatewayScenario) -> None:
    """A profile runs as many turns as it may; the rest of the hands are for others."""
    await house.stops()
    await house.comes_back(replace(house.settings, concurrency=2, per_profile={"work": 1}))
    offices = [house.guest(f"Worker{n}", on="discord") for n in range(3)]
    house.agent.will(Hangs())
    for office in offices:
        office.writes("a long job")
    await house.until(lambda: len(house.agent.parked) == 1, "one of them runs")

    alice = house.guest("Alice")
    alice.writes("hello")
    await alice.hears("ok")

    await house.until(lambda: house.gateway.health().running == 1, "one of them runs still")
    house.agent.goes_on()
    await house.rests()
    assert len(house.agent.requests) == 4
