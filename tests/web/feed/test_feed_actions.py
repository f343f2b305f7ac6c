from collections.abc import AsyncIterator

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.feed.feed_scenario import Hall, Visit, make_token
from tests.web.feed.test_feed import until
from threadline.core.account import TokenScope
from threadline.core.message import Role
from threadline.core.session import SessionId
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.stream_checker import verify_feed

TOLD = [
    ("POST", "/sessions/{id}/messages", {"text": "from the web"}, "turn.done"),
    ("PATCH", "/sessions/{id}", {"title": "A title"}, "session.changed"),
    ("PATCH", "/sessions/{id}", {"is_pinned": True}, "session.changed"),
    ("PATCH", "/sessions/{id}", {"model": {"model": "openai:gpt-5"}}, "session.changed"),
    ("PATCH", "/sessions/{id}", {"busy_mode": "queue"}, "session.changed"),
    ("PATCH", "/sessions/{id}", {"personality": "pirate"}, "session.changed"),
    ("PATCH", "/sessions/{id}", {"tools": ["read"]}, "session.changed"),
    ("PUT", "/sessions/{id}/mark", {}, "session.changed"),
    ("DELETE", "/sessions/{id}/mark", None, "session.changed"),
    ("POST", "/sessions/{id}/undo", {}, "transcript.changed"),
    ("POST", "/sessions/{id}/redo", None, "transcript.changed"),
    ("POST", "/sessions/{id}/retry", None, "turn.done"),
    ("POST", "/batches", {"action": "unpin"}, "session.changed"),
    ("POST", "/batches", {"action": "archive"}, "session.changed"),
    ("POST", "/sessions/{id}/end", None, "session.ended"),
]
"""What is asked over HTTP of one conversation, one after the other, and what the feed tells."""

BESIDE = [
    ("POST", "/sessions/{id}/messages/{seq}/edits", {"text": "rather this"}, "session.opened"),
    ("POST", "/sessions/{id}/messages/{seq}/branches", {}, "session.opened"),
    ("POST", "/projects", {"name": "Garden"}, "project.changed"),
    ("DELETE", "/sessions/{id}", None, "session.forgotten"),
]
"""What makes something else, or leaves nothing of the conversation."""


@pytest.fixture
async def hall(open_store: OpenStore) -> AsyncIterator[Hall]:
    """Open a hall."""
    async with GatewayScenario(open_store) as house, Hall(house) as hall:
        yield hall


async def _writer(hall: Hall) -> Visit:
    """Let the owner come with a token that may do everything."""
    return await hall.visit(await make_token(hall.house.store, hall.owner_account, *TokenScope))


async def _ask(owner: Visit, id: SessionId, method: str, path: str, body: object) -> None:
    if path == "/batches" and isinstance(body, dict):
        body = {**body, "ids": [id]}
    answer = await owner.client.request(
        method, f"/api{path.format(id=id)}", json=body, headers={"If-Match": "*"}
    )
    assert answer.is_success, (method, path, answer.text)


@on(FAST, POSTGRES)
async def test_every_action_is_told(hall: Hall) -> None:
    """Old snapshot + events == new snapshot, for whatever is asked over HTTP."""
    alice, owner = hall.house.guest("Alice"), await _writer(hall)
    await alice.says("hello")
    await alice.says("and again")
    id = (await alice.session()).id
    for method, path, body, kind in TOLD:

        async def act(method: str = method, path: str = path, body: object = body) -> None:
            await _ask(owner, id, method, path, body)
            await hall.house.rests()

        events = await verify_feed(lambda: owner.snapshot(id), owner.follows, act)
        assert kind in {event.kind for event in events}, (method, path, body)


@pytest.mark.parametrize(("method", "path", "body", "kind"), BESIDE)
async def test_what_is_made_or_goes_is_told(
    hall: Hall, method: str, path: str, body: object, kind: str
) -> None:
    """What begins, or is gone, is an event for whoever shows a list."""
    alice, owner = hall.house.guest("Alice"), await _writer(hall)
    await alice.says("hello")
    id = (await alice.session()).id

    said = next(one for one in await alice.transcript() if one.role is Role.USER)

    async with owner.follows() as frames:
        await until(frames, "snapshot")
        await _ask(owner, id, method, path.replace("{seq}", str(said.seq)), body)
        assert (await until(frames, "event", kind=kind)).id
