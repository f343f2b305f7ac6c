"""Imported sessions: their transcript stays as it is, and they are continued as a branch."""

from collections.abc import Awaitable, Callable

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.gateway.inbox_setup import Front
from tests.web.resources.callers import calling
from threadline.core.address import Sender
from threadline.core.errors import ReadOnly
from threadline.core.inbound import Inbound
from threadline.core.message import Role, Text, say
from threadline.core.person import Viewer
from threadline.core.platform import ReceiveStatus
from threadline.core.session import Origin, SessionId
from threadline.core.session_patch import SessionPatch
from threadline.store import Store

pytestmark = on(FAST, POSTGRES)

OWNER = Sender(id="owner")
HELLO = Text(text="hello")

CHANGES: dict[str, Callable[[Store, SessionId, Inbound], Awaitable[object]]] = {
    "arrive": lambda store, _, said: store.receive(said),
    "ask_in": lambda store, id, said: store.ask_in(id, said),
    "answer_into": lambda store, id, _: store.answer_into(id, OWNER, (HELLO,)),
    "take_over": lambda store, id, _: store.take_over(id, OWNER),
    "record": lambda store, id, _: store.transcripts.record(id, [say(Role.ASSISTANT, "hello")]),
    "undo": lambda store, id, _: store.transcripts.undo(id),
    "redo": lambda store, id, _: store.transcripts.redo(id),
    "retry": lambda store, id, _: store.transcripts.retry(id),
    "edit": lambda store, id, _: store.transcripts.edit(id, 2, "other words", by=Viewer.owner()),
    "compact": lambda store, id, _: store.transcripts.compact(id, "It was said.", keep=1),
    "undo_compaction": lambda store, id, _: store.transcripts.undo_compaction(id),
}


async def imported(front: Front, factory: DatabaseFactory) -> SessionId:
    """Make a conversation of Alice that counts as imported."""
    arrivals = []
    for text in ("one", "two"):
        arrivals.append(await front.store.receive(front.said(text)))
        await front.answer("yes")
    id = arrivals[0].session_id
    assert id is not None
    factory.tamper("UPDATE sessions SET origin = 'import'")
    return id


@pytest.mark.parametrize("change", CHANGES)
async def test_an_imported_transcript_cannot_be_changed(
    open_store: OpenStore, database_factory: DatabaseFactory, change: str
) -> None:
    """Every verb that would change it is refused, names the session, and advises a branch."""
    front = Front(await open_store())
    id = await imported(front, database_factory)
    before = await front.store.transcripts.read(id)

    with pytest.raises(ReadOnly, match="Branch it") as raised:
        await CHANGES[change](front.store, id, front.said("more"))

    assert (raised.value.id, raised.value.status) == (id, 409)
    assert await front.store.transcripts.read(id) == before
    assert await front.store.transcripts.waiting(id) == []
    assert (await front.store.sessions.get(id)).is_read_only


async def test_an_imported_session_can_still_be_kept_in_order(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """Title, pin, archive, project, branch and forgetting work; the branch can be spoken in."""
    front = Front(await open_store())
    store, id = front.store, await imported(front, database_factory)

    await store.sessions.update(id, SessionPatch(title="Old times"))
    project = await store.make_project("History")
    for done in (
        await store.pin([id]),
        await store.move([id], project.key),
        await store.archive([id]),
    ):
        assert [one.error for one in done] == [None]
    branch = await store.transcripts.branch(id)
    arrival = await store.ask_in(branch.id, front.said("go on"))

    assert (branch.origin, branch.is_read_only) == (Origin.PERSON, False)
    assert arrival.session_id == branch.id
    await store.sessions.delete(id)


async def test_a_chat_that_resumes_an_imported_session_is_told(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """Messages and /undo are refused there with advice, and /branch goes on in a copy."""
    front = Front(await open_store())
    id = await imported(front, database_factory)
    await front.take("/new")
    await front.take(f"/resume {id}")
    await front.owed()

    refused = [await front.take(text) for text in ("hello", "/undo", "/retry", "/compress")]
    branched = await front.take("/branch")
    taken = await front.take("go on")

    assert refused[0].reception is ReceiveStatus.REFUSED
    assert refused[0].said == ReadOnly.chat
    assert all("Branch it (/branch)" in (one.said or "") for one in refused[1:])
    assert "branch" in (branched.said or "")
    assert taken.turn_id is not None


async def test_the_api_says_that_a_session_is_read_only(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """A message or an undo is 409 with a hint; renaming works."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "hello")
        database_factory.tamper("UPDATE sessions SET origin = 'import'")
        at = f"/api/sessions/{id}"
        sent = await callers.owner.post(f"{at}/messages", json={"text": "more"})
        undone = await callers.owner.post(f"{at}/undo", json={"turns": 1})
        commanded = await callers.owner.post(f"{at}/commands", json={"line": "/undo"})
        renamed = await callers.owner.patch(at, json={"title": "Old"}, headers={"If-Match": "*"})

    for refused in (sent, undone, commanded):
        assert (refused.status_code, refused.json()["title"]) == (409, "ReadOnly"), refused.text
        assert "Branch it" in refused.json()["hint"]
    assert renamed.is_success, renamed.text
