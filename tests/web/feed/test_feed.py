import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.feed.feed_scenario import Hall, make_token
from threadline.core.account import TokenScope
from threadline.core.session_patch import SessionPatch
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Hangs, Says, Streams, Thinks
from threadline.testing.stream_checker import Frame, StreamWitness, verify_feed


@pytest.fixture
async def hall(open_store: OpenStore) -> AsyncIterator[Hall]:
    """Open a hall."""
    async with GatewayScenario(open_store) as house, Hall(house) as hall:
        yield hall


async def all_until(frames: AsyncIterator[Frame], what: str, /, **data: object) -> list[Frame]:
    """Read on until a frame of this kind comes that tells this; answer it, and all before it."""
    heard = []
    async with asyncio.timeout(HANG_SECONDS):
        async for frame in frames:
            heard.append(frame)
            if frame.kind == what and all(frame.data.get(k) == v for k, v in data.items()):
                return heard
    raise AssertionError(f"the stream ended without {what} {data}")


async def until(frames: AsyncIterator[Frame], what: str, /, **data: object) -> Frame:
    """Read on until a frame of this kind comes that tells this."""
    return (await all_until(frames, what, **data))[-1]


@on(FAST, POSTGRES)
async def test_a_stream_begins_with_a_snapshot_and_tells_what_happens(hall: Hall) -> None:
    """Whoever follows without a place is told how things are, and then what becomes of them."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    id = (await alice.session()).id
    told = await hall.owner.snapshot(id)

    async with hall.owner.follows(sessions=[id]) as frames:
        snapshot = await until(frames, "snapshot")
        await alice.says("and again")
        done = await until(frames, "event", kind="turn.done")

    assert snapshot.data["sessions"] == told["sessions"]
    assert snapshot.id == snapshot.data["cursor"]
    assert (done.data["session_id"], done.id is None) == (id, False)


@on(FAST, POSTGRES)
async def test_whoever_comes_back_misses_nothing(hall: Hall) -> None:
    """After the last event id everything comes exactly once, and in order."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    id = (await alice.session()).id
    witness = StreamWitness(lambda: hall.owner.snapshot(id))
    await witness.begin()
    async with hall.owner.follows(witness.cursor) as frames:
        await alice.says("while I look")
        await witness.follow(frames)
    await alice.says("while I am away")
    await alice.says("for long")

    async with hall.owner.follows("garbage", last_event_id=witness.cursor) as frames:
        await witness.follow(frames)

    revisions = [event.revision for event in witness.events if event.session_id == id]
    assert revisions == list(range(revisions[0], revisions[0] + len(revisions)))
    assert witness.reloads == 0


@pytest.mark.parametrize(
    "place",
    [
        "garbage",
        "0",
        "-1.-1",
        "0.-5",
        "1e3.7",
        "٣.٤",
        "0.999999999",
        "99999999999999999.1",
        f"0.{2**63 - 1}",
        f"0.{2**63}",
        "9" * 200 + ".1",
        "7" * 4000,
        "0.1.2",
        "%00",
        "; DROP TABLE events",
    ],
)
async def test_a_place_that_never_was_is_answered_with_reload(hall: Hall, place: str) -> None:
    """Whatever somebody comes back with, the stream says to load anew, and then goes on."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    for follows in (
        hall.owner.follows(place),
        hall.owner.follows(last_event_id=place.encode("ascii", "replace").decode()),
    ):
        async with follows as frames:
            reload = await until(frames, "reload")
            await alice.says("go on")
            assert (await until(frames, "event", kind="turn.done")).id
        assert reload.id == reload.data["cursor"]


async def test_a_place_that_was_pruned_is_answered_with_reload(hall: Hall) -> None:
    """After a week nobody can say what was missed."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    await hall.house.time_passes(days=8)
    await alice.says("hello again")
    await hall.house.gateway.worker.keeper.sweep()

    async with hall.owner.follows("0.1") as frames:
        await until(frames, "reload")


async def test_whoever_missed_too_much_is_told_to_load_anew(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told thousands of old events one by one."""
    monkeypatch.setattr("threadline.web.feed.broadcaster.CATCH_UP", 5)
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    await alice.says("and again")

    async with hall.owner.follows("0.0") as frames:
        first = await until(frames, "reload")

    assert first.data["cursor"] == first.id


@on(FAST, POSTGRES)
async def test_words_are_heard_while_they_are_said(hall: Hall) -> None:
    """Deltas of one line join to what was said; a follower who comes later begins at its start."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    id = (await alice.session()).id
    hall.house.agent.will(Thinks("hm"), Streams("Once upon a time"), Hangs(), Says("The end."))

    async with hall.owner.follows(live=[id]) as frames:
        await until(frames, "snapshot")
        await alice.says("tell me")
        thought = await until(frames, "delta", kind="thought")
        said = await _hear(frames, "Once upon a time")
        async with hall.owner.follows(live=[id]) as later:
            late = await until(later, "delta", kind="text")
        await hall.house.agent_goes_on()
        await until(frames, "delta", kind="line")
        done = await until(frames, "event", kind="turn.done")

    assert thought.data["text"] == "hm"
    assert said[0].data["offset"] == 0
    assert all(frame.id is None for frame in said)
    assert (late.data["text"], late.data["offset"]) == ("Once upon a time", 0)
    assert done.id


async def _hear(frames: AsyncIterator[Frame], text: str) -> list[Frame]:
    """Hear deltas until they join to a text."""
    heard: list[Frame] = []
    while sum(len(frame.data["text"]) for frame in heard) < len(text):
        frame = await until(frames, "delta", kind="text")
        assert frame.data["offset"] == sum(len(one.data["text"]) for one in heard)
        heard.append(frame)
    assert "".join(frame.data["text"] for frame in heard) == text
    return heard


@on(FAST, POSTGRES)
async def test_words_of_another_process_are_heard(hall: Hall) -> None:
    """What another gateway's turn says is read from what it has stored."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    id = (await alice.session()).id
    hall.house.agent.will(Streams("From afar"), Hangs())
    await alice.says("tell me")
    await hall.house.gateway.worker.beat()
    async with (
        Hall(hall.house, await hall.house.open_another()) as elsewhere,
        elsewhere.owner.follows(live=[id]) as frames,
    ):
        heard = await _hear(frames, "From afar")
        await hall.house.agent_goes_on()
        await until(frames, "event", kind="turn.done")

    assert heard[0].data["session_id"] == id


async def test_whoever_is_too_slow_is_told_to_load_anew(hall: Hall) -> None:
    """What waits for a follower does not grow: it is dropped, and they are told so once."""
    alice = hall.house.guest("Alice")
    await alice.says("hello")
    async with hall.owner.follows() as frames:
        await until(frames, "snapshot")
        (follower,) = hall.feed.followers
        follower.offer(b": " + b"x" * 2_000_000 + b"\n\n")
        reload = await until(frames, "reload")
        await alice.says("go on")
        first = await anext(frames)

    assert reload.id is not None
    assert first.kind == "event"


async def test_members_hear_only_of_what_is_theirs(hall: Hall) -> None:
    """Of others a member hears neither events nor words, and nothing of the installation."""
    account, member = await hall.member("bob")
    alice = hall.house.guest("Alice")
    await alice.says("a secret")
    secret = (await alice.session()).id
    hall.house.agent.will(Streams("another secret"))

    async with member.follows(sessions=[secret], live=[secret]) as frames:
        snapshot = await until(frames, "snapshot")
        await alice.says("more secrets")
        await hall.house.store.make_project("theirs")
        own = await hall.speaks(account, "mine")
        heard = await all_until(frames, "event", kind="turn.done", session_id=own)

    assert {frame.kind for frame in heard} == {"event"}
    assert {frame.data["session_id"] for frame in heard} == {own}
    assert snapshot.data["sessions"] == {}
    assert (await member.snapshot(secret, own))["sessions"].keys() == {own}


@pytest.mark.parametrize("what", ["token", "account"])
async def test_whoever_is_shut_out_hears_nothing_more(hall: Hall, what: str) -> None:
    """What was revoked ends its streams by itself within seconds, or as soon as it is looked."""
    account, member = await hall.member("bob")
    async with member.follows() as frames:
        await until(frames, "snapshot")
        if what == "account":
            await hall.house.store.end_account(account.key)
            await hall.feed.vigil.look()
        else:
            (token,) = await hall.house.store.tokens(account.key)
            await hall.house.store.end_token(token.key, account.key)
        bye = await until(frames, "bye")
        assert [frame async for frame in frames] == []

    assert bye.data["why"] == "logged out"
    answer = await member.client.get("/api/feed")
    assert answer.status_code == 401


async def test_a_server_that_stops_says_so(hall: Hall) -> None:
    """At the end each stream ends with a word, and at once."""
    async with hall.owner.follows() as frames:
        await until(frames, "snapshot")
        hall.feed.close()
        bye = await until(frames, "bye")

    assert bye.data["why"] == "shutdown"


async def test_a_forgotten_session_is_told_to_whoever_saw_it(hall: Hall) -> None:
    """Owners are told which; a member who was away loads anew, as nobody knows whose it was."""
    account, member = await hall.member("bob")
    own = await hall.speaks(account, "mine")
    async with hall.owner.follows() as frames:
        place = (await until(frames, "snapshot")).id
        await hall.house.store.sessions.delete(own)
        gone = await until(frames, "event", kind="session.forgotten")
    async with member.follows(place) as theirs:
        await until(theirs, "reload")

    assert gone.data["session_id"] == own


async def test_nobody_follows_without_a_login(hall: Hall) -> None:
    """Neither without a token nor with one that may not read."""
    wrong = await hall.visit("tl_wrong")
    writer = await hall.visit(
        await make_token(hall.house.store, hall.owner_account, TokenScope.WRITE)
    )

    assert (await wrong.client.get("/api/feed")).status_code == 401
    assert (await writer.client.get("/api/feed")).status_code == 403


async def test_a_stream_passes_through_a_proxy(hall: Hall) -> None:
    """Its headers keep it from being stored, changed or held back."""
    async with hall.owner.client.stream("GET", "/api/feed") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert "no-store" in answer.headers["cache-control"]
        assert "content-length" not in answer.headers
        first = await anext(answer.aiter_lines())

    assert first == "retry: 2000"


async def test_whoever_goes_away_is_forgotten(hall: Hall) -> None:
    """Nothing is kept of a follower who is gone, and nothing is read for nobody."""
    async with hall.owner.follows() as frames:
        await until(frames, "snapshot")
        assert len(hall.feed.followers) == 1

    await hall.house.until(lambda: not hall.feed.followers, "the follower is gone")


@on(FAST, POSTGRES)
async def test_every_action_of_the_store_is_told(hall: Hall) -> None:
    """Old snapshot + events == new snapshot, for whatever is done to a conversation."""
    alice, store = hall.house.guest("Alice"), hall.house.store
    await alice.says("hello")
    id = (await alice.session()).id
    actions = [
        lambda: alice.says("and again"),
        lambda: store.sessions.update(id, SessionPatch(title="A title")),
        lambda: alice.says("/undo"),
        lambda: alice.says("/retry"),
        lambda: store.archive([id]),
    ]
    for act in actions:
        assert await verify_feed(lambda: hall.owner.snapshot(id), hall.owner.follows, act)
