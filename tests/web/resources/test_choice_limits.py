"""Leave: what members, and programs of the owner, may not choose for a conversation."""

import httpx
import pytest

from tests.databases import FAST, OpenStore, on
from tests.web.browser import make_token
from tests.web.resources.callers import calling
from threadline.core.account import TokenScope
from threadline.core.settings import Settings
from threadline.store import Store

ANY = {"If-Match": "*"}


@on(FAST)
@pytest.mark.parametrize(
    "wish",
    [
        {"tools": ["shell"]},
        {"workspace": "/etc"},
        {"project": 1},
        {"project": None},
        {"model": {"model": "a", "base_url": "http://127.0.0.1:9"}},
    ],
)
async def test_a_member_cannot_reach_further(store: Store, wish: dict[str, object]) -> None:
    """Tools, folders and where a model is asked are for an owner, also at home."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        refused = await callers.member.patch(f"/api/sessions/{id}", json=wish, headers=ANY)
        named = {"title": "Mine", "model": {"model": "small"}}
        allowed = await callers.member.patch(f"/api/sessions/{id}", json=named, headers=ANY)

    assert refused.status_code == 403
    assert (allowed.status_code, allowed.json()["title"]) == (200, "Mine")


@on(FAST)
async def test_a_member_chooses_among_the_models_that_are_offered(open_store: OpenStore) -> None:
    """Where some are offered it is one of them, however it is asked for; an owner may take any.

    The same name of another provider is another model, and may have another price.
    """
    store = await open_store(rules=Settings(models=("open:mini", "open:small")))
    dear = [{"model": "large", "provider": "open"}, {"model": "mini", "provider": "gold"}]
    dear += [{"model": "mini"}, {"model": "open:mini"}]
    async with calling(store) as callers:
        url = f"/api/sessions/{await callers.talk('member')}"

        async def choose(model: dict[str, str] | None, client: httpx.AsyncClient) -> list[int]:
            first = {"text": "hi", "model": model}
            begun = await client.post("/api/sessions", json=first)
            changed = await client.patch(url, json={"model": model}, headers=ANY)
            return [begun.status_code, changed.status_code]

        refused = [await choose(model, callers.member) for model in dear]
        offered = await choose({"model": "mini", "provider": "open"}, callers.member)
        usual = await choose(None, callers.member)
        owners = await choose(dear[0], callers.owner)

    assert refused == [[403, 403]] * len(dear)
    assert (offered, usual, owners) == ([201, 200], [201, 200], [201, 200])


@on(FAST)
@pytest.mark.parametrize(
    "wish",
    [
        {"tools": ["shell"]},
        {"workspace": "/etc"},
        {"model": {"model": "a", "base_url": "http://127.0.0.1:9"}},
        {"model": {"model": "large"}},
    ],
)
async def test_a_token_that_writes_does_not_administer(
    open_store: OpenStore, wish: dict[str, object]
) -> None:
    """A program that the owner lets speak is given neither tools nor folders of theirs by that."""
    store = await open_store(rules=Settings(models=("open:mini",)))
    async with calling(store) as callers:
        id = await callers.talk("owner")
        writer = await make_token(store, TokenScope.READ, TokenScope.WRITE)
        url, shown = f"/api/sessions/{id}", {**ANY, **writer}
        refused = await callers.owner.patch(url, json=wish, headers=shown)
        named = await callers.owner.patch(url, json={"title": "Mine"}, headers=shown)

    assert (refused.status_code, named.status_code) == (403, 200)


@on(FAST)
async def test_members_are_not_told_of_projects(store: Store) -> None:
    """How an owner sorts conversations is told to nobody else, in no answer."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        await store.move([id], (await store.make_project("Difficult people")).key)
        one = (await callers.member.get(f"/api/sessions/{id}")).json()
        (row,) = (await callers.member.get("/api/sessions")).json()["items"]
        (known,) = (await callers.owner.get("/api/sessions")).json()["items"]

    assert (one["project"], row["session"]["project"], row["project_name"]) == (None, None, None)
    assert known["project_name"] == "Difficult people"
