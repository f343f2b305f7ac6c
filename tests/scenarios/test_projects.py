"""What people do with their sessions: pins, the archive, projects, drafts and marks."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from tests.scenarios.session_setup import NOBODY, begin, row_of
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.project import ProjectColor, ProjectKind
from threadline.core.route import MAIN_PROFILE
from threadline.core.session import ProjectKey, SessionId, Worktree
from threadline.core.session_list import ListSection, SessionFilter
from threadline.core.session_patch import SessionPatch
from threadline.store.projects import scheduled_project
from threadline.store.sessions.drafts import read_draft
from threadline.store.sessions.session_settings import last_workspace, set_worktree
from threadline.testing.feed_checker import FeedWitness
from threadline.testing.scenario import Scenario


async def test_pins_stand_first_and_the_archive_hides(house: Scenario) -> None:
    """A pinned session leads; once archived it shows only there, and comes back as it was."""
    store = house.store
    old = await begin(store, "old")
    await house.time_passes(minutes=1)
    new = await begin(store, "new")
    await house.rests()

    async def shown(shelf: ListSection = ListSection.SIDEBAR) -> list[SessionId]:
        return [
            row.session.id for row in (await store.sessions.list(SessionFilter(shelf=shelf))).rows
        ]

    assert await shown() == [new, old]
    await store.pin([old])
    assert await shown() == [old, new]
    await store.archive([old])
    assert (await shown(), await shown(ListSection.ARCHIVED)) == ([new], [old])
    await store.unarchive([old])
    assert await shown() == [old, new]
    await store.unpin([old])
    assert await shown() == [new, old]


async def test_each_of_many_is_answered_for(house: Scenario) -> None:
    """One id that does not exist keeps nobody else from being archived."""
    store = house.store
    ids = [await begin(store, f"chat{n}") for n in range(45)]
    await house.rests()
    asked = [*ids[:20], NOBODY, *ids[20:], ids[0]]

    outcomes = await store.archive(asked)

    assert [outcome.id for outcome in outcomes] == asked
    assert [outcome.id for outcome in outcomes if outcome.error] == [NOBODY]
    assert (await store.counts()).archived == 45
    for wrong in ("20260101_000000_00000000", [*ids, "x"], ["../etc"], ids * 40):
        with pytest.raises(Invalid):
            await store.unarchive(wrong)  # type: ignore[arg-type]
    assert (await store.counts()).archived == 45


async def test_everything_that_is_arranged_is_told(house: Scenario) -> None:
    """The feed tells each change, once; what was so already tells nothing."""
    store = house.store
    id = await begin(store, "ann")
    await house.rests()
    project = await store.make_project("Garden")
    witness = FeedWitness(store)
    await witness.verify([id])
    tree = Worktree(path="/w", branch="b", repository="/r", at=store.now())
    acts: list[Callable[[], Awaitable[object]]] = [
        lambda: store.pin([id]), lambda: store.unpin([id]), lambda: store.archive([id]),
        lambda: store.unarchive([id]), lambda: store.move([id], project.key),
        lambda: store.move([id], None),
        lambda: store.sessions.update(id, SessionPatch(personality="pirate")),
        lambda: store.sessions.update(id, SessionPatch(tools=("web", "files"))),
        lambda: store.sessions.update(id, SessionPatch(workspace="/home/a")),
        lambda: store.database.write(set_worktree, id, tree), lambda: store.mark_read(id),
        lambda: store.mark_unread(id),
    ]  # fmt: skip
    for act in acts:
        await act()
        events = await witness.verify([id])
        assert [event.kind for event in events] == [EventKind.SESSION_CHANGED]
    for act in (acts[1], acts[3], acts[5], acts[11]):
        await act()
        assert not await witness.verify([id])

    session = await store.sessions.get(id)
    assert (session.personality, session.tools) == ("pirate", ("web", "files"))
    assert (session.workspace, session.worktree) == ("/home/a", tree)


async def test_a_project_lives_and_ends_without_its_sessions(house: Scenario) -> None:
    """Made, renamed, coloured, filled, deleted: the sessions stay, and belong to none."""
    store = house.store
    ids = [await begin(store, f"chat{n}") for n in range(30)]
    await house.rests()
    garden = await store.make_project(" The\u202e  Garden ", ProjectColor.GREEN)
    await store.move(ids, garden.key)

    renamed = await store.change_project(garden.key, name="Yard")
    await store.change_project(garden.key, color=ProjectColor.PINK)
    (listed,) = await store.projects()

    assert (garden.name, renamed.name) == ("The Garden", "Yard")
    assert (listed.project.color, listed.sessions) == (ProjectColor.PINK, 30)
    assert (await row_of(store, ids[0])).project_name == "Yard"
    await store.delete_project(garden.key)
    assert await store.projects() == []
    assert (await store.counts()).total == 30
    assert (await store.sessions.get(ids[7])).project is None
    with pytest.raises(NotFound):
        await store.project(garden.key)


async def test_project_names_are_the_only_ones(house: Scenario) -> None:
    """Two of one name cannot be, in one profile, also when both are made at once."""
    store = house.store
    made = await asyncio.gather(
        *(store.make_project("Twin") for _ in range(4)), return_exceptions=True
    )
    other = await store.make_project("Twin", profile="work")
    third = await store.make_project("Third")

    assert sum(isinstance(one, Conflict) for one in made) == 3
    assert other.profile == "work"
    with pytest.raises(Conflict, match="already"):
        await store.change_project(third.key, name="Twin")
    for bad in ("", " \u200b ", "a\0b", 7):
        with pytest.raises(Invalid):
            await store.make_project(bad)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        await store.make_project("x", "mauve")  # type: ignore[arg-type]
    for key in (0, -1, "1", True):
        with pytest.raises(Invalid):
            await store.delete_project(key)  # type: ignore[arg-type]


async def test_scheduled_runs_have_a_project_of_their_own(house: Scenario) -> None:
    """It is made when it is first asked for, once, and cannot be renamed or deleted."""
    store = house.store
    one, other = await asyncio.gather(
        *(store.database.write(scheduled_project, profile=MAIN_PROFILE) for _ in range(2))
    )

    assert one == other
    assert (one.name, one.kind) == ("Scheduled", ProjectKind.SCHEDULED)
    with pytest.raises(Refused):
        await store.change_project(one.key, name="Mine")
    with pytest.raises(Refused):
        await store.delete_project(one.key)
    with pytest.raises(Conflict):
        await store.make_project("scheduled")
    assert (await store.change_project(one.key, color=ProjectColor.RED)).color is ProjectColor.RED


async def test_a_project_is_of_one_profile(house: Scenario) -> None:
    """A session cannot be put into a project of another profile, nor into none that exists."""
    store = house.store
    mine, theirs = await begin(store, "ann"), await begin(store, "bob", profile="work")
    await house.rests()
    work = await store.make_project("Work", profile="work")

    refused, moved = await store.move([mine, theirs], work.key)

    assert "no such project" in (refused.error or "")
    assert (moved.error, (await store.sessions.get(theirs)).project) == (None, work.key)
    (gone,) = await store.move([mine], ProjectKey(999))
    assert gone.error
    assert (await store.sessions.get(mine)).project is None


async def test_the_feed_tells_of_projects(house: Scenario) -> None:
    """Whoever follows hears of a project, though it belongs to no session."""
    store = house.store
    begin_at = await store.feed.end()
    project = await store.make_project("Garden")
    await store.change_project(project.key, name="Yard")
    await store.delete_project(project.key)

    following = store.feed.follow(begin_at)
    events = [await anext(following) for _ in range(3)]
    await following.aclose()

    assert {event.kind for event in events} == {EventKind.PROJECT_CHANGED}
    assert [(event.session_id, event.subject) for event in events] == [(None, project.key)] * 3


async def test_drafts_stay_on_their_device(house: Scenario) -> None:
    """Unsent words are kept for each device and place until they are sent."""
    store = house.store
    id = await begin(store, "ann")
    await house.rests()
    await store.put_draft("phone", "half a thou", id=id)
    await store.put_draft("phone", "half a thought", id=id)
    await store.put_draft("phone", "a new one")
    await store.put_draft("laptop", "")

    phone = await store.drafts("phone")

    assert {(draft.session_id, draft.text) for draft in phone} == {
        (id, "half a thought"), (None, "a new one"),
    }  # fmt: skip
    assert await store.drafts("laptop") == []
    assert await store.drafts("phone", profile="work") == []
    assert (await row_of(store, id, device="phone")).has_draft
    assert not (await row_of(store, id, device="laptop")).has_draft
    await store.put_draft("phone", "", id=id)
    assert await store.database.read(read_draft, "phone", id=id, profile=MAIN_PROFILE) is None
    assert (
        await store.database.read(read_draft, "phone", id=None, profile=MAIN_PROFILE)
    ) is not None


async def test_a_draft_can_be_too_much(house: Scenario) -> None:
    """More than 64 kB, half characters, no device or a session that is not there are refused."""
    store = house.store
    for text in ("x" * 65537, "é" * 40000, "a\0b", "\ud800", 7):
        with pytest.raises(Invalid):
            await store.put_draft("phone", text)  # type: ignore[arg-type]
    for device in ("", "d" * 256, None):
        with pytest.raises(Invalid):
            await store.put_draft(device, "x")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await store.put_draft("phone", "x", id=NOBODY)
    await store.put_draft("phone", "é" * 32768)

    assert [len(draft.text) for draft in await store.drafts("phone")] == [32768]


async def test_marks_go_forward_unless_asked(house: Scenario) -> None:
    """A mark is each reader's own, never beyond the end, and goes back only on purpose."""
    store = house.store
    id = await begin(store, "ann")
    await house.rests()
    last = (await store.sessions.get(id)).last_seq

    assert await store.mark_read(id, "ann", seq=1) == 1
    assert (await row_of(store, id, reader="ann")).is_unread
    assert await store.mark_read(id, "ann", seq=10**9) == last
    assert await store.mark_read(id, "ann", seq=1) == last
    assert not (await row_of(store, id, reader="ann")).is_unread
    assert (await row_of(store, id, reader="bob")).is_unread
    assert await store.mark_unread(id, "ann", seq=1) == 0
    assert (await row_of(store, id, reader="ann")).is_unread
    for seq in (-1, "1", True, 2**63):
        with pytest.raises(Invalid):
            await store.mark_read(id, "ann", seq=seq)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await store.mark_read(NOBODY)


async def test_the_next_session_may_work_where_the_last_one_did(house: Scenario) -> None:
    """The folder of the session that was active last is offered, within the profile."""
    store = house.store
    first = await begin(store, "ann")
    await house.time_passes(minutes=1)
    second = await begin(store, "bob")
    await house.rests()
    assert await store.database.read(last_workspace, profile=MAIN_PROFILE) is None
    await store.sessions.update(second, SessionPatch(workspace="/srv/second"))
    await store.sessions.update(first, SessionPatch(workspace="C:\\work\\first"))

    assert await store.database.read(last_workspace, profile=MAIN_PROFILE) == "/srv/second"
    assert await store.database.read(last_workspace, profile="work") is None
    await store.sessions.update(second, SessionPatch(workspace=None))
    assert await store.database.read(last_workspace, profile=MAIN_PROFILE) == "C:\\work\\first"


async def test_paths_and_tools_are_looked_at(house: Scenario) -> None:
    """A path must say where it leads, and tools must have names; else nothing is changed."""
    store = house.store
    id = await begin(store, "ann")
    await house.rests()
    for path in ("relative", "", "/a/../b", "/a\0b", "C:\\a\\..\\b", "/" + "x" * 5000, 7):
        with pytest.raises(Invalid):
            await store.sessions.update(id, SessionPatch(workspace=path))  # type: ignore[arg-type]
    for tools in ("web", ["web", ""], ["a\0"], [7], ["t"] * 300, 7):
        with pytest.raises(Invalid):
            await store.sessions.update(id, SessionPatch(tools=tools))  # type: ignore[arg-type]
    naive = datetime(2026, 1, 1)
    for fields in ({"path": "x"}, {"branch": ""}, {"repository": "../r"}, {"at": naive}):
        given = {"path": "/w", "branch": "b", "repository": "/r", "at": datetime.now(UTC)}
        with pytest.raises(Invalid):
            Worktree(**{**given, **fields})  # type: ignore[arg-type]

    session = await store.sessions.get(id)
    assert (session.workspace, session.tools, session.worktree) == (None, None, None)
    await store.sessions.update(id, SessionPatch(tools=()))
    assert (await store.sessions.get(id)).tools == ()
