"""The feed over HTTP: a snapshot, and everything that happens after it."""

from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Header, Query, Request
from fastapi.responses import Response

from threadline.core.event import Cursor
from threadline.core.session import SessionId, checked_session_id
from threadline.web.authentication import Caller
from threadline.web.feed.broadcaster import Feed
from threadline.web.feed.follower import FeedFollower, FollowerFilter
from threadline.web.feed.frames import EVENT_STREAM, RETRY
from threadline.web.feed.snapshot import SnapshotView, read_snapshot
from threadline.web.feed.sse_stream import FeedResponse, write_stream
from threadline.web.problems import TooOften
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of

router = Router(tags=["feed"])

SESSIONS_LIMIT = 100
LIVE_LIMIT = 8
FOLLOWERS_LIMIT = 50
"""How often a member may follow at a time."""

Sessions = Annotated[
    list[SessionId],
    Query(
        default_factory=list,
        description="Sessions whose state is sent at the start.",
        max_length=SESSIONS_LIMIT,
        examples=[["20260131_184500_0a1b2c3d"]],
    ),
]
LiveSessions = Annotated[
    list[SessionId],
    Query(
        default_factory=list,
        description="Sessions whose running turns are streamed word by word.",
        max_length=LIVE_LIMIT,
        examples=[["20260131_184500_0a1b2c3d"]],
    ),
]
After = Annotated[
    str | None,
    Query(description="A place in the feed: the `cursor` of a snapshot, the `id` of an event."),
]
LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", description="The same, as sent by a browser that reconnects."),
]

STREAM = (
    "event: snapshot\nid: 0.812\n"
    'data: {"cursor":"0.812","sessions":{}}\n\n'
    "event: event\nid: 0.813\n"
    'data: {"kind":"turn.running","session_id":"20260131_184500_0a1b2c3d",'
    '"revision":13,"subject":7,"at":"2026-01-31T18:45:00Z"}\n\n'
)


async def _feed(request: Request) -> Feed:
    return cast("Feed", request.app.state.feed)


FeedDep = Annotated[Feed, Depends(_feed)]
"""The feed of this process."""


@router.get("/snapshot", summary="Show sessions at one place in the feed")
async def read_state(
    store: StoreDep, visitor: Reading, sessions: Sessions, profile: OfProfile = None
) -> SnapshotView:
    """Return the state of sessions and a place in the feed from which to follow it.

    Sessions that do not exist, or that you may not see, are left out.
    """
    ids = [checked_session_id(id) for id in sessions]
    asker = visitor.asker(profile_of(visitor, profile))
    return SnapshotView.from_snapshot(await read_snapshot(store, asker, ids))


@router.get(
    "/feed",
    summary="Follow everything that happens",
    response_class=Response,
    responses={
        200: {
            "description": "A stream of server-sent events.",
            "content": {EVENT_STREAM: {"schema": {"type": "string"}, "example": STREAM}},
        }
    },
)
async def follow(
    *,
    feed: FeedDep,
    visitor: Reading,
    sessions: Sessions,
    live: LiveSessions,
    profile: OfProfile = None,
    after: After = None,
    last_event_id: LastEventId = None,
) -> Response:
    """Follow the feed, from a place in it or from now.

    The first event is `snapshot`, or `hello` if a place was named. Then comes an `event` for
    whatever becomes true, and a `delta` for what running turns of `live` sessions say. After
    `reload` something is missing, so load everything again; the stream itself continues. It ends
    with `bye`. To reconnect without missing anything, name the last id you saw.
    """
    asker = visitor.asker(profile_of(visitor, profile))
    heard = [checked_session_id(id) for id in live]
    ids = [checked_session_id(id) for id in sessions]
    seen = await feed.store.seen(asker, heard)
    _make_room(feed, visitor)
    follower = FeedFollower(FollowerFilter(visitor=visitor, asker=asker, live=seen))
    feed.expect(follower)
    place = last_event_id or after or None
    frames = write_stream(feed, follower, None if place is None else Cursor(place), ids)
    return FeedResponse(feed, follower, frames)


def _make_room(feed: Feed, visitor: Caller) -> None:
    """Refuse members who would take the place of others; an owner may do as they please."""
    if visitor.is_owner:
        return
    if feed.count(visitor.account.key) >= FOLLOWERS_LIMIT:
        raise TooOften("Too many open streams", after=timedelta(milliseconds=RETRY))
