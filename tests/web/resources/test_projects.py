"""Projects over the API: an owner's order."""

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.store import Store


@on(FAST, POSTGRES)
async def test_a_project_is_made_changed_and_deleted(store: Store) -> None:
    """Each change is by whoever has seen it; its sessions outlive it."""
    async with calling(store) as callers:
        made = await callers.owner.post("/api/projects", json={"name": "Garden", "color": "green"})
        url = f"/api/projects/{made.json()['key']}"
        twice = await callers.owner.post("/api/projects", json={"name": "Garden"})
        id = await callers.talk("owner")
        await store.move([id], made.json()["key"])
        tag = {"If-Match": (await callers.owner.get(url)).headers["etag"]}
        blind = await callers.owner.patch(url, json={"name": "Orchard"})
        renamed = await callers.owner.patch(url, json={"name": "Orchard"}, headers=tag)
        stale = await callers.owner.patch(url, json={"color": "red"}, headers=tag)
        listed = (await callers.owner.get("/api/projects")).json()["items"]
        gone = await callers.owner.delete(url, headers={"If-Match": renamed.headers["etag"]})
        session = await store.sessions.get(id)

    assert (made.status_code, twice.status_code) == (201, 409)
    assert (blind.status_code, renamed.status_code, stale.status_code) == (428, 200, 412)
    assert [(one["project"]["name"], one["sessions"]) for one in listed] == [("Orchard", 1)]
    assert (gone.status_code, session.project) == (204, None)


@on(FAST)
async def test_members_have_no_projects(store: Store) -> None:
    """They find none, and make none."""
    async with calling(store) as callers:
        made = await callers.owner.post("/api/projects", json={"name": "Garden"})
        listed = await callers.member.get("/api/projects")
        hidden = await callers.member.get(f"/api/projects/{made.json()['key']}")
        refused = await callers.member.post("/api/projects", json={"name": "Mine"})

    assert (listed.json()["items"], hidden.status_code, refused.status_code) == ([], 404, 403)
