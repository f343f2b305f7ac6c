"""What `/sessions` and `/resume` list and find, on every database."""

from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, DM, GROUP, THREAD, Desk, both, open_desk
from tests.store.job_setup import HOURLY, start
from threadline.core.person import Viewer
from threadline.core.route import MAIN_PROFILE
from threadline.core.session import SessionId, TitleSource
from threadline.store import queries
from threadline.store.commands.navigate import LISTED
from threadline.store.sessions.session_list import list_own_sessions
from threadline.store.sessions.session_settings import set_title


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Open a desk with a fresh store."""
    return await open_desk(database_factory)


async def talk(desk: Desk, text: str) -> SessionId:
    """Hold a conversation of one message and its answer, then start a new one."""
    id, _ = await desk.says(text)
    await desk.answers(id)
    await desk.asks("/new")
    return id


async def run_jobs(desk: Desk, times: int) -> list[SessionId]:
    """Run an hourly job of Alice's some times."""
    store = desk.store
    job = await store.jobs.create(HOURLY, Viewer(address=DM, sender=ALICE))
    runs = []
    for _ in range(times):
        desk.clock.advance(timedelta(hours=1))
        await start(store, job)
        run = (await store.jobs.runs(job.id))[0]
        assert run.session_id is not None
        await desk.answers(run.session_id)
        runs.append(run.session_id)
    return runs


@both
@pytest.mark.parametrize("command", ["/sessions", "/resume"])
async def test_runs_of_jobs_leave_the_conversations_on_the_list(desk: Desk, command: str) -> None:
    """After more hourly runs than a list has lines, it still shows what people spoke of."""
    await talk(desk, "holidays")
    runs = await run_jobs(desk, LISTED + 1)

    shown = await desk.asks(command)
    found = await desk.asks(f"{command} News")

    assert "1. “holidays”" in shown.text
    assert "News" not in shown.text
    assert not found.choices
    reply = await desk.asks(f"/resume {runs[0]}")
    assert reply.text.startswith("Continuing “News”"), "by its id a run can still be read"


@both
async def test_a_chat_lists_what_the_sidebar_lists(desk: Desk) -> None:
    """Archived, scheduled and empty sessions and older links are on neither list."""
    store = desk.store
    shown, archived, continued = [await talk(desk, text) for text in ("one", "two", "three")]
    await store.archive([archived])
    later = (await store.transcripts.continue_session(continued)).id
    await run_jobs(desk, 1)

    own = [
        row.session.id
        for row in await store.database.read(
            list_own_sessions, DM, ALICE, profile=MAIN_PROFILE, most=queries.PAGE
        )
    ]

    assert own == [row.session.id for row in (await store.sessions.list()).rows]
    assert set(own) == {shown, later}
    # Pinned sessions are first in the sidebar; a chat numbers by activity.
    await store.pin([shown])
    assert {row.session.id for row in (await store.sessions.list()).rows} == set(own)
    assert [
        row.session.id
        for row in await store.database.read(
            list_own_sessions, DM, ALICE, profile=MAIN_PROFILE, most=queries.PAGE
        )
    ] == own


@both
async def test_conversations_of_one_chat_with_one_title_are_a_choice(desk: Desk) -> None:
    """Those that /new and /branch made share a root, and are still different conversations."""
    first = await talk(desk, "the garden fence")
    second, _ = await desk.says("the garden gate")
    await desk.answers(second)
    await desk.asks("/branch The garden wall")
    third, _ = await desk.says("or a wall?")
    await desk.answers(third)
    await desk.asks("/new")
    await talk(desk, "something else")

    reply = await desk.asks("/resume garden")

    assert reply.text.startswith("Several match “garden”:")
    assert [choice.says for choice in reply.choices] == [
        f"/resume {id}" for id in (third, second, first)
    ]
    assert (await desk.asks("/resume garden fence")).text.startswith("Continuing “the garden fen")


@both
async def test_the_links_of_a_continuation_are_one_match(desk: Desk) -> None:
    """A title that every link of a chain has leads to the newest link at once."""
    first = await talk(desk, "taxes")
    second = (await desk.store.transcripts.continue_session(first)).id
    third = (await desk.store.transcripts.continue_session(second)).id
    await talk(desk, "something else")

    assert (await desk.asks("/resume taxes")).text.startswith("Continuing “taxes”")
    assert (await desk.asks("/resume taxes")).text.startswith("You are there already: “taxes”")
    assert (await desk.says("and now?"))[0] == third


@both
async def test_an_older_link_leads_to_the_newest(desk: Desk) -> None:
    """`/resume` with the id of any link goes on where the conversation went on."""
    first = await talk(desk, "taxes")
    second = (await desk.store.transcripts.continue_session(first)).id
    third = (await desk.store.transcripts.continue_session(second)).id
    await desk.store.database.write(
        set_title, third, "Taxes, third part", source=TitleSource.PERSON
    )

    for link in (first, second, third):
        await talk(desk, "something else")
        reply = await desk.asks(f"/resume {link}")
        assert reply.text.startswith("Continuing “Taxes, third part”")
        assert (await desk.says("go on"))[0] == third


@both
async def test_in_a_group_an_id_of_that_chat_is_resumed(desk: Desk) -> None:
    """Also one that no list shows: an older link, or an archived conversation."""
    talks = []
    for text in ("football", "chess"):
        id, _ = await desk.says(text, at=THREAD)
        await desk.answers(id)
        await desk.asks("/new", at=THREAD)
        talks.append(id)
    football, chess = talks
    later = (await desk.store.transcripts.continue_session(football)).id
    await desk.store.archive([chess])

    assert "chess" not in (await desk.asks("/sessions", at=THREAD)).text
    assert "Continuing “chess”" in (await desk.asks(f"/resume {chess}", at=THREAD)).text
    assert "Continuing “football”" in (await desk.asks(f"/resume {football}", at=THREAD)).text
    assert (await desk.says("go on", at=THREAD))[0] == later
    private = await talk(desk, "a secret")
    refusal = await desk.asks(f"/resume {private}", at=GROUP)
    assert refusal.text.startswith("No conversation in this chat has this id")
