"""Paging: whatever grows is read page by page, and each thing stands on one page."""

import httpx

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import Callers, calling
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.delivery import SendOutcome
from threadline.core.inbound import Inbound
from threadline.core.job import NewJob
from threadline.core.message import Role, say
from threadline.core.person import Identity
from threadline.store import Store

MANY = 3


async def _furnish(callers: Callers) -> list[str]:
    """Make some of everything, and answer where it is listed."""
    store = callers.store
    job = await store.jobs.create(NewJob(prompt="?", schedule="every day 9:00"))
    for n in range(MANY):
        await store.make_account(f"Ada {n}", by=callers.accounts["owner"].actor)
        await store.jobs.create(NewJob(prompt=f"{n}?", schedule="every day 9:00"))
        await store.jobs.run(job.id)
        for name in ("zoe", "eve"):
            await _lose(store, f"{name}{n}")
        one, other = (Identity(platform="matrix", id=f"{name}{n}") for name in ("zoe", "eve"))
        await store.join(one, other)
        await store.sessions.delete(await callers.talk("member"))
        await _wonder(callers)
    lists = ["accounts", "approvals", "audit", "jobs", f"jobs/{job.id}/runs"]
    return [*lists, "people", "people/forgettings", "platforms/dead"]


async def _lose(store: Store, chat: str) -> None:
    """Let an answer never arrive."""
    there = Address(platform="matrix", kind=Kind.DM, chat=chat)
    said = Inbound.text("hi", address=there, sender=Sender(id=chat), at=store.now())
    arrival = await store.receive(said)
    while (claim := await store.turns.claim()) is not None:
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    (parcel,) = [
        one
        for one in await store.deliveries.lease(["matrix"])
        if one.delivery.session_id == arrival.session_id
    ]
    await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "gone")


async def _wonder(callers: Callers) -> None:
    """Let an agent ask the member something."""
    await callers.member.post("/api/sessions", json={"text": "do it"})
    claim = await callers.store.turns.claim()
    assert claim is not None
    await callers.store.turns.wait(
        claim.lease, Question(text="May I?", tools=("look",), reads_only=True)
    )


async def _pages(client: httpx.AsyncClient, path: str, most: int) -> list[list[object]]:
    pages, query = list[list[object]](), {"most": str(most)}
    while True:
        page = (await client.get(f"/api/{path}", params=query)).json()
        pages.append(page["items"])
        if page["next"] is None:
            return pages
        query["after"] = page["next"]


@on(FAST, POSTGRES)
async def test_every_list_that_grows_is_read_page_by_page(store: Store) -> None:
    """One at a time is the same as all at once, in the same order."""
    async with calling(store) as callers:
        for path in await _furnish(callers):
            (everything,) = await _pages(callers.owner, path, 200)
            one_by_one = await _pages(callers.owner, path, 1)
            bad = await callers.owner.get(f"/api/{path}", params={"after": "yesterday"})

            assert len(everything) >= MANY, path
            assert one_by_one == [[one] for one in everything], path
            assert bad.status_code == 422, path


@on(FAST)
async def test_questions_of_others_hide_none(store: Store) -> None:
    """However many others are asked later, a member finds what they are asked themselves."""
    async with calling(store) as callers:
        await _wonder(callers)
        (own,) = (await callers.member.get("/api/approvals")).json()["items"]
        await store.make_account("Ada")
        for _ in range(MANY):
            await callers.other.post("/api/sessions", json={"text": "do it"})
            claim = await store.turns.claim()
            assert claim is not None
            await store.turns.wait(
                claim.lease, Question(text="May I?", tools=("look",), reads_only=True)
            )
        page = (await callers.member.get("/api/approvals", params={"most": "1"})).json()

    assert (page["items"], page["next"]) == ([own], None)
