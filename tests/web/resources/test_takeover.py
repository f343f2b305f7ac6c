"""Takeovers over the API: an owner answers in the agent's place, and says so."""

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.store import Store

CHAT = Address(platform="telegram", kind=Kind.DM, chat="ada")


async def said(store: Store, text: str) -> str:
    """Let Ada say something; answer the session."""
    words = Inbound.text(text, address=CHAT, sender=Sender(id="ada"), at=store.now())
    id = (await store.receive(words)).session_id
    assert id is not None
    return id


@on(FAST, POSTGRES)
async def test_an_owner_takes_over_and_gives_back(store: Store) -> None:
    """The session tells since when and by whom, also in a list; to do it twice changes nothing."""
    async with calling(store) as callers:
        id = await said(store, "hello")
        path = f"/api/sessions/{id}/takeover"
        once = (await callers.owner.put(path)).json()
        twice = (await callers.owner.put(path)).json()
        (row,) = (await callers.owner.get("/api/sessions")).json()["items"]
        back = (await callers.owner.delete(path)).json()
        again = await callers.owner.delete(path)

    assert (once["taken_by"], once["taken_at"] is None) == ("owner", False)
    assert (twice["taken_at"], twice["revision"]) == (once["taken_at"], once["revision"])
    assert (row["session"]["taken_at"], row["needs_you"]) == (once["taken_at"], True)
    assert (back["taken_at"], back["taken_by"]) == (None, None)
    assert (again.status_code, again.json()["revision"]) == (200, back["revision"])


@on(FAST)
async def test_a_member_takes_nothing_over(store: Store) -> None:
    """Not even their own conversation; nor does anybody one that lives on no platform."""
    async with calling(store) as callers:
        begun = await callers.member.post("/api/sessions", json={"text": "hello"})
        path = f"/api/sessions/{begun.json()['session_id']}/takeover"
        refused = await callers.member.put(path)
        conflict = await callers.owner.put(path)

    assert (refused.status_code, conflict.status_code) == (403, 409)
    assert "platform" in conflict.json()["detail"]
