"""What commands tell where others read along, and what they need not tell twice."""

import pytest
from msgspec.structs import replace

from tests.databases import DatabaseFactory
from tests.store.command_setup import GROUP, Desk, both, open_desk
from threadline.store.turns.live_reply import open_stream


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


@both
async def test_in_a_group_nobody_reads_what_is_spoken_of_in_private(desk: Desk) -> None:
    """There a list has the conversations of that chat only, and no other can be resumed."""
    private, _ = await desk.says("a secret disease")
    await desk.asks("/title My disease")
    await desk.says("hello all", at=GROUP)
    await desk.asks("/title Football", at=GROUP)
    elsewhere = replace(GROUP, chat="200")
    await desk.says("hello you", at=elsewhere)
    await desk.asks("/title Cinema", at=elsewhere)

    for asked in ("/sessions", "/resume", "/sessions disease"):
        shown = (await desk.asks(asked, at=GROUP)).text
        assert "disease" not in shown.replace("“disease”", "")
        assert "Cinema" not in shown
    assert "Football" in (await desk.asks("/sessions", at=GROUP)).text
    for named in (private, "disease"):
        reply = await desk.asks(f"/resume {named}", at=GROUP)
        assert reply.text.startswith(("No conversation in", "You have no conversation"))
    everything = (await desk.asks("/sessions")).text
    assert all(title in everything for title in ("My disease", "Football", "Cinema"))


@both
async def test_a_stop_is_told_once(desk: Desk) -> None:
    """Where the answer was growing it says so itself; else the command is answered."""
    id, _ = await desk.says("a story")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    assert (
        await desk.store.database.write(open_stream, claimed.lease, owner=desk.store.database.owner)
        is not None
    )
    assert (await desk.asks("/stop")).text == "Stopped."
    assert desk.owed() == []

    await desk.says("another story")
    assert await desk.store.turns.claim(id) is not None
    await desk.asks("/stop")
    assert desk.owed() == ["Stopped."]
