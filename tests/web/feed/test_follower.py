from datetime import timedelta

from threadline.core.account import Account, AccountKey, AccountRole
from threadline.core.event import Cursor
from threadline.testing.clock import A_MONDAY
from threadline.web.authentication import Caller
from threadline.web.feed.follower import FeedFollower, FollowerFilter

SOON = timedelta(milliseconds=1)
HERE = Cursor("0.7")


def follower(backlog: int = 100) -> FeedFollower:
    """Make somebody who follows."""
    account = Account(
        key=AccountKey(1), name="owner", role=AccountRole.OWNER, profile=None, made_at=A_MONDAY
    )
    visitor = Caller(account=account, scopes=frozenset())
    return FeedFollower(FollowerFilter(visitor=visitor, asker=visitor.asker()), backlog)


async def test_what_waits_is_taken_at_once() -> None:
    """However many frames wait, they are one piece, in order."""
    one = follower()
    one.offer(b"a")
    one.offer(b"b")
    await one.wait(timedelta(days=1))

    assert one.take(HERE) == b"ab"


async def test_silence_is_broken_by_a_sign_of_life() -> None:
    """It holds the place, so that nobody goes back further than they have to."""
    one = follower()
    await one.wait(SOON)

    assert one.take(HERE) == b": all is well\nid: 0.7\n\n"


async def test_a_line_that_is_too_long_is_dropped_once() -> None:
    """Whoever is too slow gets one reload in place of everything, and then what comes after it."""
    one = follower(backlog=10)
    for _ in range(100):
        one.offer(b"123456")
    assert one.take(HERE) == b'event: reload\nid: 0.7\ndata: {"cursor":"0.7"}\n\n'
    one.offer(b"news")

    assert one.take(HERE) == b"news"


async def test_the_end_comes_after_what_waits() -> None:
    """The first reason counts, and nothing is sent after it."""
    one = follower()
    one.offer(b"last words ")
    one.end("logged out")
    one.end("shutdown")
    await one.wait(timedelta(days=1))

    assert one.is_over
    assert one.take(HERE) == b'last words event: bye\ndata: {"why":"logged out"}\n\n'
