"""Events: a screen that folds them knows what a new snapshot would show, in whatever order."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from threadline.core.event import Cursor, Event, EventKind, SessionSnapshot, fold
from threadline.core.session import SessionId

ID = SessionId("20260501_000000_00000000")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def event(kind: EventKind, revision: int, subject: int | None = None) -> Event:
    """Make an event."""
    return Event(
        cursor=Cursor(f"0.{revision}"),
        kind=kind,
        session_id=ID,
        revision=revision,
        subject=subject,
        at=NOW,
    )


STORY = [
    event(EventKind.SESSION_OPENED, 1),
    event(EventKind.TURN_QUEUED, 2, 7),
    event(EventKind.MESSAGE_ADDED, 3, 1),
    event(EventKind.TURN_RUNNING, 4, 7),
    event(EventKind.MESSAGE_ADDED, 5, 2),
    event(EventKind.TURN_DONE, 6, 7),
    event(EventKind.DELIVERY_PENDING, 7, 3),
    event(EventKind.SESSION_CHANGED, 8),
    event(EventKind.MESSAGE_CHANGED, 9, 1),
    event(EventKind.SESSION_ENDED, 10),
]


def test_a_story_folds_into_its_end() -> None:
    """After all events a screen shows the last state of each thing."""
    glimpse = fold({}, STORY)[ID]
    assert glimpse.shown() == {"session": "ended", "turn 7": "done", "delivery 3": "pending"}
    assert (glimpse.revision, glimpse.last_seq) == (10, 2)


@given(st.permutations(STORY), st.lists(st.sampled_from(STORY)))
def test_order_and_repetition_do_not_matter(order: list[Event], again: list[Event]) -> None:
    """Events that come in another order, or twice, lead to the same picture."""
    assert fold({}, [*order, *again]) == fold({}, STORY)


@given(st.integers(0, len(STORY)))
def test_news_that_a_snapshot_already_showed_change_nothing(seen: int) -> None:
    """A snapshot may be ahead of the feed: what it knew is skipped."""
    snapshot = fold({}, STORY[:seen])
    assert fold(snapshot, STORY) == fold({}, STORY)


def test_every_kind_names_a_thing_and_its_state() -> None:
    """The name of a kind is a noun and what it has become."""
    assert all(kind.noun and kind.state for kind in EventKind)
    assert SessionSnapshot().shown() == {}
