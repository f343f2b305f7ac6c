"""Beginning a conversation over the API: with the model and the project that it shall have."""

from collections.abc import Sequence
from pathlib import Path

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.core.agent import Question
from threadline.core.message import Message
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.gateway.reload import describe_platforms
from threadline.gateway.request import make_request
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.local import Local
from threadline.store import Store


class Unsteered:
    """A turn that no one speaks to while it runs."""

    async def take_steering(self) -> Sequence[Message]:
        """Return nothing."""
        return ()

    async def ask(self, question: Question) -> str:
        """Refuse."""
        raise AssertionError("No one is asked here")


@on(FAST, POSTGRES)
async def test_the_agent_is_told_that_a_person_reads_in_the_web_app(
    store: Store, tmp_path: Path
) -> None:
    """The owner's and a member's conversations are chats that can be answered, not files."""
    around = describe_platforms({"local": Local(tmp_path)}, GatewaySettings(), Settings())
    async with calling(store) as callers:
        for caller in (callers.owner, callers.member):
            begun = (await caller.post("/api/sessions", json={"text": "hello"})).json()
            claim = await store.turns.claim(SessionId(begun["session_id"]))
            assert claim is not None
            request = await make_request(store.database, claim.turn, Unsteered(), around)

            assert "- Where: a direct chat in the web app\n" in request.instructions
            assert "can answer" in request.instructions
            for word in ("Nobody", "Markdown file", "arget", "origin"):
                assert word not in request.instructions


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
