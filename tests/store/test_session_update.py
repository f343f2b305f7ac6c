"""Changing by whoever has seen it: two who saw the same do not overwrite each other."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec import structs

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, DM, Desk, both, open_desk
from threadline.core.errors import Invalid, NotFound, Stale
from threadline.core.event import EventKind
from threadline.core.job import NewJob
from threadline.core.project import ProjectColor
from threadline.core.revision import Seen
from threadline.core.session import BusyMode, ModelChoice, ProjectKey, TitleSource
from threadline.core.session_patch import SessionPatch
from threadline.store.inbound.deduplication import find_arrival
from threadline.store.jobs.jobs import JobChange
from threadline.store.sessions.session_settings import set_title

MODEL = ModelChoice(model="openai:gpt-5")


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def race(change: Callable[[str], Awaitable[object]]) -> tuple[list[object], list[Stale]]:
    """Let four change the same thing at once; answer what came of it, and who was too late."""
    came = await asyncio.gather(*map(change, "abcd"), return_exceptions=True)
    late = [one for one in came if isinstance(one, Stale)]
    return [one for one in came if not isinstance(one, Stale)], late


def everything(project: ProjectKey) -> SessionPatch:
    """Want all at once that can be wanted of a session."""
    return SessionPatch(
        title="Roses",
        is_pinned=True,
        is_archived=True,
        project=project,
        model=MODEL,
        busy_mode=BusyMode.STEER,
        personality="gardener",
        tools=("dig",),
        workspace="/srv",
    )


@both
async def test_one_of_those_who_change_a_session_wins(desk: Desk) -> None:
    """The others learn that it is not as they saw it any more."""
    id, _ = await desk.says("hello")
    seen = frozenset({(await desk.store.sessions.get(id)).etag})

    won, late = await race(
        lambda name: desk.store.sessions.update(id, SessionPatch(title=name), seen=seen)
    )

    assert (won, len(late)) == ([await desk.store.sessions.get(id)], 3)
    assert {one.id for one in late} == {id}


@both
async def test_one_of_those_who_change_a_project_wins(desk: Desk) -> None:
    """What counts is its name and its colour."""
    project = await desk.store.make_project("Garden")
    seen = frozenset({project.revision})

    won, late = await race(
        lambda name: desk.store.change_project(project.key, name=name, seen=seen)
    )

    assert (won, len(late)) == ([await desk.store.project(project.key)], 3)
    with pytest.raises(Stale):
        await desk.store.delete_project(project.key, seen=seen)
    await desk.store.change_project(project.key, name="Garden")
    await desk.store.delete_project(project.key, seen=seen)


@both
async def test_one_of_those_who_change_a_job_wins(desk: Desk) -> None:
    """That it ran meanwhile is no change of it."""
    job = await desk.store.jobs.create(
        NewJob(prompt="news?", schedule="every day 9:00", target="local")
    )
    seen = frozenset({job.revision})

    won, late = await race(
        lambda name: desk.store.jobs.update(job.id, JobChange(name=name), seen=seen)
    )

    after = await desk.store.jobs.get(job.id)
    assert (won, len(late)) == ([after], 3)
    with pytest.raises(Stale):
        await desk.store.jobs.delete(job.id, seen=seen)
    assert await desk.store.jobs.delete(job.id, seen=frozenset({after.revision})) == after


@both
async def test_a_session_that_went_on_is_not_forgotten(desk: Desk) -> None:
    """Whoever wants it gone has not seen what was said since."""
    id, _ = await desk.says("hello")
    seen = frozenset({(await desk.store.sessions.get(id)).etag})
    await desk.answers(id)

    with pytest.raises(Stale):
        await desk.store.sessions.delete(id, seen=seen)

    now: Seen = frozenset({(await desk.store.sessions.get(id)).etag})
    await desk.store.sessions.delete(id, seen=now)
    with pytest.raises(NotFound):
        await desk.store.sessions.get(id)
    with pytest.raises(NotFound):
        await desk.store.sessions.delete(id, seen=now)


@both
async def test_what_the_agent_does_makes_no_edit_stale(desk: Desk) -> None:
    """A whole turn and a title by a model may come between reading a session and renaming it."""
    id, _ = await desk.says("hello")
    seen = frozenset({(await desk.store.sessions.get(id)).etag})

    await desk.answers(id)
    await desk.store.database.write(set_title, id, "Greetings", source=TitleSource.MODEL)
    changed = await desk.store.sessions.update(id, SessionPatch(title="Roses"), seen=seen)

    assert changed.title == "Roses"
    with pytest.raises(Stale):
        await desk.store.sessions.update(id, SessionPatch(title="Tulips"), seen=seen)


@both
async def test_every_edit_makes_another_edit_stale(desk: Desk) -> None:
    """Whatever a client can change is guarded, each setting by itself."""
    id, _ = await desk.says("hello")
    project = await desk.store.make_project("Garden")
    wanted = everything(project.key)

    for field in structs.fields(SessionPatch):
        seen = frozenset({(await desk.store.sessions.get(id)).etag})
        one = SessionPatch(**{field.name: getattr(wanted, field.name)})
        await desk.store.sessions.update(id, one, seen=seen)
        with pytest.raises(Stale):
            await desk.store.sessions.update(id, SessionPatch(title="Tulips"), seen=seen)


@both
async def test_all_that_is_wanted_is_done_or_nothing(desk: Desk) -> None:
    """One wish that cannot be fulfilled undoes those before it."""
    id, _ = await desk.says("hello")
    before = await desk.store.sessions.get(id)
    project = await desk.store.make_project("Garden", ProjectColor.GREEN)

    for odd in (
        SessionPatch(is_pinned=True, title=" "),
        SessionPatch(is_pinned=True, project=ProjectKey(99)),
    ):
        with pytest.raises((Invalid, NotFound)):
            await desk.store.sessions.update(id, odd)
    assert await desk.store.sessions.get(id) == before

    changed = await desk.store.sessions.update(id, everything(project.key))
    assert (changed.title, changed.project, changed.choice) == ("Roses", project.key, MODEL)
    assert (changed.personality, changed.tools, changed.workspace) == ("gardener", ("dig",), "/srv")
    assert None not in (changed.pinned_at, changed.archived_at)
    back = SessionPatch(is_pinned=False, project=None, model=None, busy_mode=None, tools=None)
    after = await desk.store.sessions.update(id, back)
    assert (after.pinned_at, after.project, after.choice, after.tools) == (None, None, None, None)
    assert (after.title, after.personality) == ("Roses", "gardener")


@both
async def test_a_conversation_begins_as_it_is_wanted(desk: Desk) -> None:
    """The first turn already has its model; a wish that cannot be keeps the words out, too."""
    project = await desk.store.make_project("Garden")
    first = desk.inbound("hello", ALICE, DM)
    wanted = SessionPatch(title="Roses", project=project.key, model=MODEL)

    with pytest.raises(NotFound):
        await desk.store.begin(first, SessionPatch(project=ProjectKey(99)))
    assert await desk.store.database.read(find_arrival, first) is None

    begun = await desk.store.begin(first, wanted)
    assert begun.session_id is not None
    claimed = await desk.store.turns.claim(begun.session_id)
    assert claimed is not None
    session = await desk.store.sessions.update(begun.session_id, SessionPatch(title="Tulips"))
    again = await desk.store.begin(first, wanted)

    assert (session.project, session.choice) == (project.key, MODEL)
    assert session.titled_by is TitleSource.PERSON
    assert (again.is_repeated, again.session_id) == (True, begun.session_id)
    assert (await desk.store.sessions.get(begun.session_id)).title == "Tulips"


@both
async def test_a_wish_is_told_once_and_only_if_something_is_different(desk: Desk) -> None:
    """Whoever shows the session reads it again once; what is so already makes no tag stale."""
    id, _ = await desk.says("hello")
    project = await desk.store.make_project("Garden")
    wanted = everything(project.key)
    cursor = await desk.store.feed.end()
    changed = await desk.store.sessions.update(id, wanted)
    again = await desk.store.sessions.update(id, wanted)
    await desk.store.sessions.update(id, SessionPatch(title="Roses"))
    await desk.store.sessions.update(id, SessionPatch(model=MODEL))
    await desk.store.sessions.update(id, SessionPatch(busy_mode=BusyMode.STEER))
    await desk.store.sessions.update(id, SessionPatch(personality="gardener"))
    await desk.store.sessions.update(id, SessionPatch(tools=("dig",)))
    await desk.store.sessions.update(id, SessionPatch(workspace="/srv"))

    events = (await desk.store.feed.read(cursor)).events
    assert [(event.kind, event.session_id) for event in events] == [(EventKind.SESSION_CHANGED, id)]
    assert again == changed
    await desk.store.sessions.update(id, SessionPatch(model=None, busy_mode=None, tools=None))
    assert len((await desk.store.feed.read(cursor)).events) == 2


@both
async def test_words_alone_begin_a_conversation(desk: Desk) -> None:
    """Where nothing is wanted of its session, nothing about it is told but that it began."""
    cursor = await desk.store.feed.end()
    await desk.store.begin(desk.inbound("hello", ALICE, DM), SessionPatch())

    kinds = [event.kind for event in (await desk.store.feed.read(cursor)).events]
    assert EventKind.SESSION_OPENED in kinds
    assert EventKind.SESSION_CHANGED not in kinds


@pytest.mark.parametrize(
    "odd",
    [
        {"title": 7},
        {"is_pinned": "yes"},
        {"is_archived": None},
        {"project": "x"},
        {"project": 0},
        {"model": "gpt"},
        {"busy_mode": "later"},
        {"personality": "x" * 300},
        {"tools": "dig"},
        {"workspace": "../here"},
    ],
    ids=str,
)
def test_what_no_session_can_have_is_not_wanted(odd: dict[str, object]) -> None:
    """It is told at once, and not by the database."""
    with pytest.raises(Invalid):
        SessionPatch(**odd)  # type: ignore[arg-type]
