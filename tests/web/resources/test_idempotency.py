"""Requests with a key: whatever becomes of the first one, a second one makes nothing new."""

import asyncio

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.web.resources.callers import Callers, calling
from threadline.core.errors import Conflict, StorageError
from threadline.core.message import Role
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.accounts.idempotency import find_outcome
from threadline.web.resources.idempotency import IdempotentRequest

KEY = {"Idempotency-Key": "mine"}
HASH = "1" * 64


class Made(Struct, frozen=True, kw_only=True):
    """Something that was made."""

    name: str


async def said(store: Store, id: SessionId) -> list[str]:
    """Read what people said that is in sight."""
    return [line.text for line in await store.transcripts.read(id) if line.role is Role.USER]


async def three_turns(callers: Callers) -> SessionId:
    """Let the member say three things in one conversation."""
    id = await callers.talk("member", "one")
    for text in ("two", "three"):
        await callers.member.post(f"/api/sessions/{id}/messages", json={"text": text})
        claim = await callers.store.turns.claim()
        assert claim is not None
        await callers.store.turns.finish(claim.lease, [])
    return id


@on(FAST, POSTGRES)
async def test_many_at_once_make_one(store: Store) -> None:
    """All are answered alike, and one turn is taken back; one share, one branch, one job."""
    async with calling(store) as callers:
        id = await three_turns(callers)
        job = {"prompt": "What is new?", "schedule": "every day 9:00"}
        for path, wish in (
            (f"sessions/{id}/undo", {"turns": 1}),
            (f"sessions/{id}/redo", None),
            (f"sessions/{id}/messages/2/branches", {}),
            (f"sessions/{id}/messages/2/edits", {"text": "uno"}),
            ("shares", {"session": id}),
            ("jobs", job),
        ):
            head = {"Idempotency-Key": path}
            answers = await asyncio.gather(
                *(callers.member.post(f"/api/{path}", json=wish, headers=head) for _ in range(4))
            )
            assert len({(one.status_code, one.text) for one in answers}) == 1, path
            assert answers[0].is_success, answers[0].text
            replayed = ["idempotent-replay" in one.headers for one in answers]
            assert replayed.count(False) == 1, path
            if path.endswith("undo"):
                assert await said(store, id) == ["one", "two"]
        jobs = (await callers.member.get("/api/jobs")).json()["items"]

    assert await said(store, id) == ["one", "two", "three"]
    assert (len(await store.shares()), len(jobs)) == (1, 1)
    assert (await store.transcripts.lineage(id)).number_of_children == 2


@on(FAST, POSTGRES)
async def test_a_refused_message_can_be_sent_again(store: Store) -> None:
    """A full queue is 429 with a time to come back; the same key then stores the message once."""
    async with calling(store) as callers:
        id = await callers.talk("member", "one")
        store.rules = replace(store.rules, queue_cap=1)
        path = f"/api/sessions/{id}/messages"
        await callers.member.post(path, json={"text": "two"})
        wish = {"text": "three"}
        full = await callers.member.post(path, json=wish, headers=KEY)
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease, [])
        sent = await callers.member.post(path, json=wish, headers=KEY)
        again = await callers.member.post(path, json=wish, headers=KEY)
        queued = [line.text for line in await store.transcripts.waiting(id)]

    assert (full.status_code, int(full.headers["retry-after"]) >= 1) == (429, True)
    assert (sent.status_code, again.text) == (201, sent.text)
    assert queued == ["three"]


@on(FAST, POSTGRES)
async def test_a_secret_is_made_and_told_once(store: Store) -> None:
    """Asked again, one token lives, and its secret stands neither in the answer nor in the store.

    Whoever lost the first answer would else have a second token that nobody knows of.
    """
    async with calling(store) as callers:
        wish = {"name": "backup", "scopes": ["read"]}
        first, again = [
            await callers.owner.post("/api/tokens", json=wish, headers=KEY) for _ in range(2)
        ]
        tokens = (await callers.owner.get("/api/tokens")).json()["items"]
        outcome = await store.database.read(
            find_outcome, callers.accounts["owner"].key, KEY["Idempotency-Key"]
        )

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json() | {"token": None}
    assert [one["name"] for one in tokens].count("backup") == 1
    assert outcome is not None
    assert first.json()["token"] not in outcome.answer


@on(FAST)
async def test_what_takes_long_and_fails_can_be_asked_again(store: Store) -> None:
    """What raises was not done; what is cancelled may have been, and is not begun again at once."""
    owner, once = await store.owner_account(), IdempotentRequest(store, "key", HASH)

    async def fail() -> Made:
        raise Conflict("not now")

    async def hang() -> Made:
        await asyncio.Event().wait()
        raise AssertionError

    async def make() -> Made:
        return Made(name="it")

    with pytest.raises(Conflict, match="not now"):
        await once.answer_slowly(owner, fail)
    first = await once.answer_slowly(owner, make)
    again = await once.answer_slowly(owner, fail)
    assert (first.body, again.status_code) == (again.body, 201)

    cut_off = IdempotentRequest(store, "other", HASH)
    task = asyncio.create_task(cut_off.answer_slowly(owner, hang))
    while await store.database.read(find_outcome, owner.key, "other") is None:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    with pytest.raises(Conflict, match="under way"):
        await cut_off.answer_slowly(owner, make)


@on(FAST)
async def test_what_was_done_is_not_told_as_a_failure(database_factory: DatabaseFactory) -> None:
    """If its answer cannot be kept it is given all the same: to fail would have it done again."""
    database = await database_factory()
    store = Store(database)
    owner = await store.owner_account()

    async def make() -> Made:
        await database.close()
        return Made(name="it")

    answer = await IdempotentRequest(store, "key", HASH).answer_slowly(owner, make)
    assert (answer.status_code, answer.body) == (201, b'{"name":"it"}')
    with pytest.raises(StorageError):
        await store.owner_account()
