"""Beginning a conversation over the API: with the model and the project that it shall have."""

from tests.databases import FAST, POSTGRES, on
from tests.web.api.callers import calling
from threadline.sessions.store import Store


@on(FAST, POSTGRES)
async def test_the_first_words_choose_their_model_and_project(store: Store) -> None:
    """All of it holds before the first turn begins."""
    async with calling(store) as callers:
        project = (await callers.owner.post("/api/projects", json={"name": "Garden"})).json()
        model = {"model": "openai:gpt-5", "provider": None, "base_url": "http://127.0.0.1:9/v1"}
        wish = {"text": "hello", "title": "Roses", "project": project["key"], "model": model}
        begun = (await callers.owner.post("/api/sessions", json=wish)).json()
        session = (await callers.owner.get(f"/api/sessions/{begun['session_id']}")).json()

    assert (session["project"], session["model"]) == (project["key"], model)
    assert (session["title"], session["titled_by"]) == ("Roses", "person")


@on(FAST, POSTGRES)
async def test_what_cannot_be_wanted_begins_nothing(store: Store) -> None:
    """Neither a project of nowhere, nor one for a member, nor an address that a member names."""
    async with calling(store) as callers:
        nowhere = await callers.owner.post("/api/sessions", json={"text": "a", "project": 99})
        theirs = await callers.member.post("/api/sessions", json={"text": "a", "project": 99})
        model = {"model": "a", "base_url": "http://127.0.0.1:9"}
        far = await callers.member.post("/api/sessions", json={"text": "a", "model": model})
        odd = {"model": "a", "base_url": "file://localhost/x"}
        file = await callers.owner.post("/api/sessions", json={"text": "a", "model": odd})
        named = await callers.member.post(
            "/api/sessions", json={"text": "b", "model": {"model": "small"}}
        )
        listed = (await callers.owner.get("/api/sessions")).json()["items"]

    assert [one.status_code for one in (nowhere, theirs, far, file)] == [404, 403, 403, 422]
    assert named.status_code == 201
    assert [row["session"]["title"] for row in listed] == ["b"]
