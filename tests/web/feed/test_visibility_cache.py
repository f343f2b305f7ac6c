import asyncio
import random
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.feed.feed_scenario import Hall, Visit, make_token
from tests.web.feed.test_feed import until
from threadline.core.account import TokenScope
from threadline.core.delivery import LOCAL
from threadline.core.errors import Invalid
from threadline.core.event import Cursor
from threadline.core.person import Identity, Viewer
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.accounts.accounts import list_accounts
from threadline.store.feed import FeedLost, parse_cursor
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Hangs, Streams
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.feed.follower import BACKLOG
from threadline.web.feed.visibility_cache import VisibilityCache
from threadline.web.request_limits import RequestGuard, lift_time_limit


@pytest.fixture
async def hall(open_store: OpenStore) -> AsyncIterator[Hall]:
    """Open a hall."""
    async with GatewayScenario(open_store) as house, Hall(house) as hall:
        yield hall


async def _joined(hall: Hall) -> tuple[Visit, SessionId, Identity]:
    """Let a member be the same person as somebody who chats."""
    account, member = await hall.member("bob")
    await hall.speaks(account, "hello from the web")
    alice = hall.house.guest("Alice")
    await alice.says("hello from the phone")
    here = Identity(platform=LOCAL, id=account.sender.id or "")
    there = Identity(platform="telegram", id="alice")
    await hall.house.store.join(here, there)
    return member, (await alice.session()).id, there


@on(FAST, POSTGRES)
async def test_what_is_out_of_sight_is_heard_no_more(hall: Hall) -> None:
    """A member who is parted from a sender loads anew, and hears nothing more of their words."""
    member, id, there = await _joined(hall)
    hall.house.agent.will(Streams("a secret"), Hangs())
    async with member.follows(sessions=[id], live=[id]) as frames:
        snapshot = await until(frames, "snapshot")
        await hall.house.guest("Alice").says("tell me")
        await until(frames, "delta", kind="text")
        await hall.house.store.part(there)
        await hall.feed.vigil.look()
        await until(frames, "reload")
        bye = await until(frames, "bye")
    async with member.follows(sessions=[id], live=[id]) as frames:
        assert (await until(frames, "snapshot")).data["sessions"] == {}
        assert [one.interest.live for one in hall.feed.followers] == [frozenset()]

    assert snapshot.data["sessions"].keys() == {id}
    assert bye.data["why"] == "out of sight"


async def test_what_was_believed_is_asked_again(hall: Hall) -> None:
    """After news of people or access nothing counts that was known of members before it."""
    member, id, there = await _joined(hall)
    await hall.house.store.part(there)
    hall.house.agent.will(Hangs())
    async with member.follows() as frames:
        await until(frames, "snapshot")
        (follower,) = hall.feed.followers
        asker = follower.interest.asker
        await hall.feed.sight.learn([asker], [id])
        hall.feed.sight.doubt()

        page = await hall.house.store.feed.read(Cursor("0.0"))
        mine = [event for event in page.events if event.session_id == id]
        assert hall.feed.sight.missing(asker, [id]) == {id}
        assert mine
        assert not any(hall.feed.sight.select(asker, mine))


async def test_a_token_whose_time_is_over_hears_nothing_more(hall: Hall) -> None:
    """It stays in the list of tokens, but nobody follows with it."""
    secret, store = new_secret(TOKEN_PREFIX), hall.house.store
    scopes, until_when = frozenset({TokenScope.READ}), store.now() + timedelta(hours=1)
    await store.make_token(
        hall.owner_account.key, "for long", scopes, hash_secret(secret), until_when
    )
    visit = await hall.visit(secret)
    async with visit.follows() as frames, hall.owner.follows() as others:
        await until(frames, "snapshot")
        await until(others, "snapshot")
        await hall.feed.vigil.look()
        assert not any(one.is_over for one in hall.feed.followers)
        await hall.house.time_passes(hours=2)
        await hall.feed.vigil.look()
        bye = await until(frames, "bye")
        await hall.house.guest("Alice").says("hello")
        await until(others, "event", kind="turn.done")

    assert bye.data["why"] == "logged out"


async def test_members_follow_only_so_often(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member cannot take the place of everybody else."""
    monkeypatch.setattr("threadline.web.resources.feed.FOLLOWERS_LIMIT", 1)
    _, member = await hall.member("bob")
    async with member.follows() as frames:
        await until(frames, "snapshot")
        answer = await member.client.get("/api/feed")

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")


async def test_members_who_come_all_at_once_follow_no_more_often(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is about to follow counts: else many requests at a time would pass the limit."""
    monkeypatch.setattr("threadline.web.resources.feed.FOLLOWERS_LIMIT", 2)
    _, member = await hall.member("bob")

    async def status() -> int:
        async with member.client.stream("GET", "/api/feed") as answer:
            told.append(answer.status_code)
            await everybody.wait()
        return answer.status_code

    told: list[int] = []
    everybody = asyncio.Event()
    asking = [asyncio.create_task(status()) for _ in range(12)]
    await hall.house.until(lambda: len(told) == 12, "all are answered")
    everybody.set()
    await asyncio.gather(*asking)

    assert sorted(told) == [200] * 2 + [429] * 10
    await hall.house.until(lambda: not hall.feed.followers, "they are gone")
    async with member.follows() as frames:
        await until(frames, "snapshot")


async def test_somebody_who_reads_nothing_costs_little(hall: Hall) -> None:
    """What waits for a connection that takes nothing is bounded; when it reads, it loads anew."""
    token = await make_token(hall.house.store, hall.owner_account)
    at = urlsplit(hall.url)
    quiet = socket.socket()
    quiet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    quiet.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(quiet, (at.hostname, at.port))
    head = f"GET /api/feed HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n"
    await loop.sock_sendall(quiet, head.encode())
    await hall.house.until(lambda: len(hall.feed.followers) == 1, "somebody follows")
    (follower,) = hall.feed.followers
    for _ in range(200):
        follower.offer(b": " + b"x" * 100_000 + b"\n\n")
        assert follower.waiting <= BACKLOG
        await asyncio.sleep(0)

    read = b""
    async with asyncio.timeout(HANG_SECONDS):
        while b"event: reload" not in read:
            read = read[-20:] + await loop.sock_recv(quiet, 1 << 20)
    quiet.close()
    await hall.house.until(lambda: not hall.feed.followers, "they are gone")


async def test_a_stream_outlasts_other_requests() -> None:
    """The time that a request may take does not end what somebody follows."""
    sent: list[Message] = []

    async def slow(scope: Scope, _: Receive, send: Send) -> None:
        lift_time_limit(scope)
        await asyncio.sleep(0.1)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    guard = RequestGuard(slow, request_time=timedelta(milliseconds=20))
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "scheme": "http"}
    await guard(scope, receive, send)

    assert [one["status"] for one in sent] == [200]


@on(FAST, POSTGRES)
async def test_a_place_that_the_feed_has_not_come_to_is_lost(store: Store) -> None:
    """A cursor of another database must not be waited for in silence."""
    xid, id = parse_cursor(await store.feed.end())

    assert not (await store.feed.read(Cursor(f"{xid}.{id}"))).events
    with pytest.raises(FeedLost):
        await store.feed.read(Cursor(f"{xid + 1_000_000}.{id}"))
    with pytest.raises(FeedLost):
        await store.feed.read(Cursor(f"{xid}.{id + 1}"))


@on(FAST, POSTGRES)
async def test_no_place_breaks_the_feed(store: Store) -> None:
    """Whatever is given as a place is a place, lost, or refused; the database never complains."""
    dice = random.Random(7)
    numbers = ["0", "1", "-1", "٣", "1e9", "0x1", "007", "", " 1", "+1", "9" * 30, str(2**63)]
    letters = "0123456789.-+eE \x00\n\ud800é%;'\""
    for _ in range(300):
        text = "".join(dice.choices(letters, k=dice.randrange(12)))
        place = dice.choice([text, f"{dice.choice(numbers)}.{dice.choice(numbers)}"])
        with suppress(FeedLost, Invalid):
            page = await store.feed.read(Cursor(place))
            assert parse_cursor(page.cursor) >= (0, 0)
    assert (await store.feed.read(Cursor("0.0"))).cursor


@on(FAST, POSTGRES)
async def test_many_askers_are_answered_in_one_read(hall: Hall) -> None:
    """Each is told of what is theirs, and the owner of everything that is there."""
    account, _ = await hall.member("bob")
    other, _ = await hall.member("carol")
    own = await hall.speaks(account, "mine")
    askers = [account.asker(), other.asker(), Viewer.owner(), Viewer.owner("elsewhere")]
    gone = SessionId("20260131_184500_0a1b2c3d")

    seen = await hall.house.store.seen_by(askers, [own, gone])

    assert [seen[asker] for asker in askers] == [{own}, set(), {own}, set()]


async def test_an_answer_from_before_a_doubt_counts_for_nothing(hall: Hall) -> None:
    """What the store is asked while somebody is parted may be old when it comes."""
    account, _ = await hall.member("bob")
    own, asker = await hall.speaks(account, "mine"), account.asker()
    sight = VisibilityCache(hall.house.store, lambda _: None)
    learning = asyncio.create_task(sight.learn([asker], [own]))
    await asyncio.sleep(0)
    sight.doubt()
    await learning

    assert sight.missing(asker, [own]) == {own}
    await sight.learn([asker], [own])
    assert sight.missing(asker, [own]) == set()


async def test_that_something_goes_out_of_sight_is_noticed_after_long(hall: Hall) -> None:
    """What was seen is remembered for as long as somebody follows, and nothing after that."""
    _, id, there = await _joined(hall)
    (account,) = [
        one for one in await hall.house.store.database.read(list_accounts) if one.name == "bob"
    ]
    asker, lost, now = account.asker(), list[Viewer](), 0.0
    sight = VisibilityCache(hall.house.store, lost.append, lambda: now)
    await sight.learn([asker], [id])
    now = 60.0
    sight.keep([asker])
    await hall.house.store.part(there)
    await sight.learn([asker], [id])
    assert lost == [asker]

    await hall.house.store.join(Identity(platform=LOCAL, id=account.sender.id or ""), there)
    await sight.learn([asker], [id])
    sight.keep([])
    await hall.house.store.part(there)
    await sight.learn([asker], [id])
    assert lost == [asker]
