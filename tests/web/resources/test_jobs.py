"""Jobs over HTTP: the owner's are everybody's, a member's are their own."""

import json

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.platforms.simulated import Simulated
from threadline.store import Store

DAILY = {"prompt": "What is new?", "schedule": "every day 9:00", "name": "News"}
TO_BOSS = {**DAILY, "target": "telegram:boss"}


@on(FAST, POSTGRES)
async def test_a_job_is_made_changed_rested_run_and_deleted(store: Store) -> None:
    """Each step shows a new revision, and needs the one before where something is edited."""
    async with calling(store, Simulated("telegram")) as call:
        made = await call.owner.post("/api/jobs", json=TO_BOSS)
        assert made.status_code == 201
        job = made.json()
        assert (job["name"], job["maker"], job["paused_at"]) == ("News", None, None)
        path = f"/api/jobs/{job['id']}"
        read = await call.owner.get(path)
        assert read.json() == job

        seen = {"If-Match": read.headers["etag"]}
        changed = await call.owner.patch(path, json={"name": "Old news"}, headers=seen)
        assert (changed.status_code, changed.json()["name"]) == (200, "Old news")
        assert changed.headers["etag"] != seen["If-Match"]

        paused = await call.owner.post(f"{path}/pause")
        assert paused.json()["paused_at"] is not None
        resumed = await call.owner.post(f"{path}/resume")
        assert resumed.json()["paused_at"] is None

        started = await call.owner.post(f"{path}/run")
        assert (started.status_code, started.json()["state"]) == (202, "running")
        (run,) = (await call.owner.get(f"{path}/runs")).json()["items"]
        assert (run["turn"], run["state"]) == (started.json()["turn"], "waiting")
        (listed,) = (await call.owner.get("/api/jobs")).json()["items"]
        assert (job["last_run"], listed["last_run"]) == (None, run)

        gone = await call.owner.delete(path, headers={"If-Match": "*"})
        assert gone.status_code == 204
        assert (await call.owner.get(path)).status_code == 404


@on(FAST)
async def test_a_job_without_a_name_is_called_by_its_first_words(store: Store) -> None:
    """So it is when it is made, and when its name is taken away, by what it asks then."""
    async with calling(store, Simulated("telegram")) as call:
        path = f"/api/jobs/{(await call.owner.post('/api/jobs', json=TO_BOSS)).json()['id']}"
        anything = {"If-Match": "*"}
        named = await call.owner.patch(path, json={"name": ""}, headers=anything)
        both = {"name": "", "prompt": "What is old?"}
        again = await call.owner.patch(path, json=both, headers=anything)
        kept = await call.owner.patch(path, json={"prompt": "And now?"}, headers=anything)

    names = [one.json()["name"] for one in (named, again, kept)]
    assert names == ["What is new?", "What is old?", "What is old?"]


@on(FAST)
async def test_nobody_overwrites_a_job_that_they_have_not_seen(store: Store) -> None:
    """Without a revision it is asked for, and an old one is stale; nothing is changed."""
    async with calling(store, Simulated("telegram")) as call:
        path = f"/api/jobs/{(await call.owner.post('/api/jobs', json=TO_BOSS)).json()['id']}"
        before = (await call.owner.get(path)).json()
        stale = {"If-Match": '"of yesterday"'}
        for method in ("PATCH", "DELETE"):
            without = await call.owner.request(method, path, json={"name": "x"})
            old = await call.owner.request(method, path, json={"name": "x"}, headers=stale)
            assert (without.status_code, old.status_code) == (428, 412)
        assert (await call.owner.get(path)).json() == before


@on(FAST)
async def test_the_same_key_makes_one_job(store: Store) -> None:
    """For another job the key is a mistake."""
    async with calling(store, Simulated("telegram")) as call:
        key = {"Idempotency-Key": "news-1"}
        answers = [await call.owner.post("/api/jobs", json=TO_BOSS, headers=key) for _ in "ab"]
        assert answers[0].json() == answers[1].json()
        assert len((await call.owner.get("/api/jobs")).json()["items"]) == 1
        other = await call.owner.post("/api/jobs", json={**TO_BOSS, "name": "B"}, headers=key)
        assert other.status_code == 409


@on(FAST)
async def test_a_member_has_jobs_of_their_own_only(store: Store) -> None:
    """What others have is not there for them, and their answers go to nobody else."""
    async with calling(store, Simulated("telegram")) as call:
        owners = (await call.owner.post("/api/jobs", json=TO_BOSS)).json()
        mine = await call.member.post("/api/jobs", json=DAILY)
        assert mine.status_code == 201
        own = mine.json()
        assert (await call.member.get("/api/jobs")).json()["items"] == [own]
        assert (await call.other.get("/api/jobs")).json()["items"] == []
        assert len((await call.owner.get("/api/jobs")).json()["items"]) == 2

        everything = {"If-Match": "*"}
        for client, id in ((call.member, owners["id"]), (call.other, own["id"])):
            path = f"/api/jobs/{id}"
            asked = [
                await client.get(path),
                await client.get(f"{path}/runs"),
                await client.patch(path, json={"name": "mine"}, headers=everything),
                await client.delete(path, headers=everything),
                *[await client.post(f"{path}/{verb}") for verb in ("pause", "resume", "run")],
            ]
            assert {one.status_code for one in asked} == {404}
        for target in ("telegram:boss", "all", "local", "origin,telegram:boss"):
            made = await call.member.post("/api/jobs", json={**DAILY, "target": target})
            assert made.status_code == 403, target
            path = f"/api/jobs/{own['id']}"
            moved = await call.member.patch(path, json={"target": target}, headers=everything)
            assert moved.status_code == 403, target


@on(FAST)
async def test_who_may_only_read_makes_no_job(store: Store) -> None:
    """A token with the scope read sees them; without any token nothing is told."""
    async with calling(store) as call:
        assert (await call.reader.get("/api/jobs")).status_code == 200
        assert (await call.reader.post("/api/jobs", json=DAILY)).status_code == 403
        for method, path in (("GET", ""), ("POST", ""), ("GET", "/1"), ("DELETE", "/1")):
            answer = await call.nobody.request(method, f"/api/jobs{path}", json=DAILY)
            assert answer.status_code == 401


@on(FAST)
async def test_a_job_that_cannot_be_is_refused(store: Store) -> None:
    """Whatever is wrong about it, the answer says so, and nothing is made."""
    odd: list[dict[str, object]] = [
        {},
        {**TO_BOSS, "prompt": " "},
        {**TO_BOSS, "schedule": "never"},
        {**TO_BOSS, "timezone": "../../etc/passwd"},
        {**TO_BOSS, "target": "mars:1"},
        {**TO_BOSS, "mirror": "maybe"},
        {**TO_BOSS, "prompt": "x" * 100_001},
        {**TO_BOSS, "name": "\ud800"},
        {**TO_BOSS, "unknown": 1},
    ]
    async with calling(store, Simulated("telegram")) as call:
        for wish in odd:
            body = json.dumps(wish)
            headers = {"Content-Type": "application/json"}
            answer = await call.owner.post("/api/jobs", content=body, headers=headers)
            assert answer.status_code == 422, wish
        assert (await call.owner.get("/api/jobs")).json()["items"] == []
        for id in ("0", "x", "99999999999999999999"):
            assert (await call.owner.get(f"/api/jobs/{id}")).status_code == 422


@on(FAST)
async def test_a_schedule_is_tried_before_a_job_is_made(store: Store) -> None:
    """It is told when it comes next, by its own clock; what cannot be a schedule is refused."""
    async with calling(store) as call:

        async def times(schedule: str, timezone: str = "UTC") -> list[str]:
            query = {"schedule": schedule, "timezone": timezone}
            answer = await call.member.get("/api/jobs/times", params=query)
            found: list[str] = answer.json()["items"]
            return found

        daily = await times("every day 9:00")
        assert [moment[11:16] for moment in daily] == ["09:00"] * 3
        assert daily == sorted(set(daily))
        tokyo = await times("0 9 * * *", "Asia/Tokyo")
        assert [moment[11:16] for moment in tokyo] == ["00:00"] * 3
        assert len(await times("at 2199-01-01T00:00")) == 1
        assert await times("at 2001-01-01T00:00") == []
        mars = {"schedule": "every day 9:00", "timezone": "Mars"}
        for odd in ({"schedule": "never"}, {"schedule": "0 0 30 2 *"}, mars, {}):
            assert (await call.owner.get("/api/jobs/times", params=odd)).status_code == 422
        assert (await call.owner.get("/api/jobs")).json()["items"] == []
