"""Races over the API: of two changes that saw the same, one is done and one is stale."""

import asyncio
from collections.abc import Mapping

import httpx
import pytest

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import Callers, calling
from threadline.core.person import Identity
from threadline.store import Store

JOB = {"prompt": "What is new?", "schedule": "every day 9:00", "target": "local"}


async def find(callers: Callers, thing: str) -> str:
    """Make something that can be changed, and answer where it is."""
    if thing == "sessions":
        return f"/api/sessions/{await callers.talk('owner')}"
    if thing == "people":
        for name in ("member", "other"):
            await callers.talk(name)
        ids = (callers.accounts[name].sender.id for name in ("member", "other"))
        one, other = (Identity(platform="local", id=id) for id in ids if id is not None)
        return f"/api/people/{(await callers.store.join(one, other)).key}"
    wish = JOB if thing == "jobs" else {"name": "Garden"}
    made = (await callers.owner.post(f"/api/{thing}", json=wish)).json()
    return f"/api/{thing}/{made['id' if thing == 'jobs' else 'key']}"


async def together(
    client: httpx.AsyncClient, url: str, *wishes: Mapping[str, str]
) -> list[httpx.Response]:
    """Change a thing several times at once, each time as it is now."""
    seen = {"If-Match": (await client.get(url)).headers["etag"]}
    return await asyncio.gather(*(client.patch(url, json=wish, headers=seen) for wish in wishes))


@on(FAST, POSTGRES)
@pytest.mark.parametrize("thing", ["sessions", "projects", "jobs", "accounts", "people"])
async def test_one_change_wins(store: Store, thing: str) -> None:
    """What is there afterwards is what the winner wanted, and its tag is the one that was told."""
    field = "title" if thing == "sessions" else "name"
    async with calling(store) as callers:
        url = await find(callers, thing)
        answers = await together(callers.owner, url, *({field: word} for word in "abcdef"))
        after = await callers.owner.get(url)

    (won,) = [one for one in answers if one.status_code == 200]
    assert sorted(one.status_code for one in answers) == [200, *[412] * 5]
    assert (after.json(), after.headers["etag"]) == (won.json(), won.headers["etag"])
