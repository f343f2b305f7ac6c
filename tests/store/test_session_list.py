"""Lists of sessions: the order, what is hidden, every filter, and walks that miss nothing."""

import random
from collections.abc import AsyncIterator

import pytest

from tests.databases import DatabaseFactory
from tests.store.many_sessions import READER, make_crowd, make_filter, naive_list, settle
from threadline.core.errors import Invalid
from threadline.core.session import SessionId
from threadline.core.session_list import ListCursor, ListSection, SessionFilter, SessionRow
from threadline.store import Store

# fmt: off
CURSORS = [
    "", "p", "x.1.1", "p.1", "p.1.1.1", "p.a.b", "r.-.1", "r.1.-1", "p.9e9.1", " p.1.1", "p.1.1\n",
    "r.99999999999999999999.1", "p.9223372036854775808.1", "p.٣.1", "'; --",
]
# fmt: on


async def walk(
    store: Store, only: SessionFilter, most: int, profile: str = "main"
) -> AsyncIterator[SessionRow]:
    """Go through a list page by page."""
    after = None
    while True:
        page = await store.sessions.list(
            only, profile=profile, reader=READER, after=after, most=most
        )
        assert len(page.rows) <= most
        for row in page.rows:
            yield row
        after = page.next
        if after is None:
            return
        assert len(page.rows) == most


async def ids(store: Store, only: SessionFilter, most: int = 1000) -> list[SessionId]:
    """List the ids that a filter finds."""
    return [row.session.id async for row in walk(store, only, most)]


async def test_a_list_is_what_looking_at_everybody_would_find(
    database_factory: DatabaseFactory,
) -> None:
    """Any filter, walked in pages of any size, shows what a naive list shows, in its order."""
    store = Store(await database_factory())
    faces = make_crowd(150, seed=3)
    settle(database_factory, faces)
    chance = random.Random(4)
    found = 0
    for _ in range(120):
        only, profile = make_filter(chance), chance.choice(("main", "main", "other", "nobody"))
        rows = [row async for row in walk(store, only, chance.choice((1, 3, 10, 50)), profile)]

        assert [row.session.id for row in rows] == naive_list(faces, only, profile), only
        found += len(rows)
    assert found > 500


async def test_the_sidebar_is_the_list_without_a_filter(database_factory: DatabaseFactory) -> None:
    """Nothing archived, scheduled or empty is in it, and the pinned ones stand first."""
    store = Store(await database_factory())
    faces = make_crowd(80, seed=5)
    settle(database_factory, faces)

    page = await store.sessions.list(most=1000)

    assert [row.session.id for row in page.rows] == naive_list(faces, SessionFilter(), "main")
    assert page.next is None
    assert any(row.session.pinned_at for row in page.rows)


async def test_counts_agree_with_lists(database_factory: DatabaseFactory) -> None:
    """What a badge says is what a click on it shows."""
    store = Store(await database_factory())
    settle(database_factory, make_crowd(150, seed=6))

    counts = await store.counts(reader=READER)

    assert counts.total == len(await ids(store, SessionFilter())) > 10
    assert counts.unread == len(await ids(store, SessionFilter(is_unread=True))) > 0
    assert counts.pinned == len(await ids(store, SessionFilter(is_pinned=True))) > 0
    assert counts.archived == len(await ids(store, SessionFilter(shelf=ListSection.ARCHIVED))) > 0
    assert counts.scheduled == len(await ids(store, SessionFilter(shelf=ListSection.SCHEDULED))) > 0
    for platform, count in counts.by_platform.items():
        assert count == len(await ids(store, SessionFilter(platform=platform)))
    for project, count in counts.by_project.items():
        assert count == len(await ids(store, SessionFilter(project=project)))
    assert sum(counts.by_platform.values()) == counts.total


@pytest.mark.parametrize("cursor", CURSORS)
async def test_garbage_is_no_place_in_a_list(store: Store, cursor: str) -> None:
    """A cursor that no page gave is refused, and says so."""
    with pytest.raises(Invalid, match="no place in a list"):
        await store.sessions.list(after=ListCursor(cursor))


@pytest.mark.parametrize("cursor", [1, ("p", 1), b"p.1.1", ["p.1.1"]])
async def test_a_cursor_is_text(store: Store, cursor: object) -> None:
    """What is no text is no cursor, nor is the pair of numbers that it once was."""
    with pytest.raises(Invalid, match="page cannot be"):
        await store.sessions.list(after=cursor)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {"shelf": "attic"}, {"shelf": None}, {"platform": 7}, {"platform": "a\0b"},
        {"kind": "pub"}, {"origin": "moon"}, {"project": 0}, {"project": True}, {"person": -1},
        {"sender": "t1"}, {"is_pinned": 1}, {"is_unread": "yes"}, {"with_empty": None},
        {"active_since": 5}, {"title": "  "}, {"title": "x" * 300}, {"title": "\ud800"},
    ],
)  # fmt: skip
def test_a_filter_refuses_what_no_session_is(fields: dict[str, object]) -> None:
    """A filter with a wrong value says which one it is."""
    with pytest.raises(Invalid):
        SessionFilter(**fields)  # type: ignore[arg-type]
