"""What commands tell and send, and to whom: nobody reaches what is not theirs."""

from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, BOB, DM, GROUP, THREAD, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import Call, parse_command
from threadline.core.gateway_status import PlatformHealth, PlatformState
from threadline.core.route import MAIN_PROFILE
from threadline.gateway.command_jobs import finish_command_job
from threadline.store import queries
from threadline.store.commands.context import Export
from threadline.store.gateways import register_gateway
from threadline.store.sessions.session_list import list_own_sessions


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


@both
async def test_whoami_tells_the_asker_and_nobody_else(desk: Desk) -> None:
    """Their id, name, rank and route, and in which apps they are the same person."""
    await desk.says("hello")
    await desk.says("hello", BOB, GROUP)
    code = (await desk.asks("/link")).text.rpartition(" ")[2]
    phone = Address(platform="signal", kind=Kind.DM, chat="+4917012345")
    await desk.asks(f"/link {code}", Sender(id="+4917012345"), phone)
    await desk.asks("/link yes", Sender(id="+4917012345"), phone)
    text = (await desk.asks("/whoami", rank=AccessLevel.ADMIN)).text

    assert "You are alice on telegram, called “Alice”." in text
    assert "admin" in text
    assert "signal" in text
    assert "agent:main:telegram:dm:alice" in text
    assert "4917012345" not in text
    assert "bob" not in text.lower()


@both
async def test_a_home_is_set_and_shown(desk: Desk) -> None:
    """The last chat in which an admin says so is the platform's home."""
    await desk.asks("/sethome", ALICE, DM, AccessLevel.ADMIN)
    await desk.asks("/sethome", ALICE, THREAD, AccessLevel.ADMIN)
    text = (await desk.asks("/platforms", rank=AccessLevel.ADMIN)).text

    assert await desk.store.deliveries.homes() == {"telegram": THREAD}
    assert await desk.store.deliveries.homes("work") == {}
    assert text.splitlines() == [
        "No gateway serves this installation.",
        "Home of telegram: 100, thread 7.",
    ]


@both
async def test_platforms_are_shown_as_they_are(desk: Desk) -> None:
    """Each with its state and what went wrong, and a gateway that is not heard of as such."""
    since = desk.clock()
    health = {
        "telegram": PlatformHealth(state=PlatformState.UP, since=since),
        "slack": PlatformHealth(state=PlatformState.DOWN, since=since, error="No\x1b token"),
    }
    await desk.store.database.write(
        register_gateway,
        owner=desk.store.database.owner,
        host="attic",
        pid=7,
        version="1.0",
        url=None,
        platforms=health,
    )
    desk.clock.advance(timedelta(minutes=5))
    text = (await desk.asks("/platforms", rank=AccessLevel.ADMIN)).text

    assert text.splitlines() == [
        "Gateway on attic, last heard of 5 minutes ago:",
        "- slack: down for 5 minutes (No token)",
        "- telegram: up for 5 minutes",
    ]


@both
async def test_an_export_is_owed_as_a_file(desk: Desk) -> None:
    """Where files cannot be sent, or this one is too large, it is said who can get it."""
    id, _ = await desk.says("remember 7")
    await desk.answers(id)
    asked = desk.inbound("/export md")
    reply = await desk.gives(asked)
    assert reply is not None
    assert reply.errand is not None
    for largest in (1_000_000, 10, 0):
        assert (
            await finish_command_job(desk.store.database, reply.errand, asked, largest=largest)
            is None
        )

    file, large, none = desk.owed()[-3:]
    assert file == "This is the conversation so far."
    assert large.startswith("The file is too large")
    assert none.startswith("Files cannot be sent here")
    assert str(id) in none
    parts = desk.factory.tamper("SELECT parts FROM deliveries WHERE parts IS NOT NULL")
    assert len(parts) == 1
    assert f"{id}.md" in str(parts[0][0])


@both
async def test_a_stranger_gets_no_session_by_an_errand(desk: Desk) -> None:
    """Whoever may not see a session does not get it as a file, whatever errand they have."""
    id, _ = await desk.says("my secret")
    call = parse_command("/export jsonl")
    assert isinstance(call, Call)
    reply = await desk.asks("/export jsonl")
    assert isinstance(reply.errand, Export)
    assert reply.errand.session_id == id
    theirs = desk.inbound("/export jsonl", BOB, GROUP)
    await finish_command_job(desk.store.database, reply.errand, theirs)

    assert desk.factory.tamper("SELECT parts FROM deliveries WHERE parts IS NOT NULL") == []


@both
async def test_a_stranger_reaches_no_session_of_another(desk: Desk) -> None:
    """Neither by title, nor by id, nor by number, nor by search, nor by export."""
    id, _ = await desk.says("my secret plan")
    ways = (f"/resume {id}", "/resume my secret plan", "/resume 1", "/sessions secret", "/sessions")
    for way in (*ways, "/resume", "/export", "/status", "/queue", "/undo", "/retry", "/branch"):
        text = (await desk.asks(way, BOB, GROUP, AccessLevel.ADMIN)).text
        assert "secret" not in text.replace("“my secret plan”", "")
        assert id not in text.replace(way, "").replace(f"({id})", "")
    assert (await desk.store.sessions.get(id)).is_open
    assert (
        await desk.store.database.read(
            list_own_sessions, GROUP, BOB, profile=MAIN_PROFILE, most=queries.PAGE
        )
    ) == []
