"""The same for several sessions: each is answered for, and none hinders another."""

import pytest

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.core.session import SessionId
from threadline.store import Store

NOWHERE = SessionId("20200101_000000_00000000")


@on(FAST, POSTGRES)
@pytest.mark.parametrize("action", ["read", "forget", "pin", "archive"])
async def test_what_is_gone_hinders_no_other(store: Store, action: str) -> None:
    """Whatever is done with the rest, it is told of the one that it is not there."""
    async with calling(store) as callers:
        ids = [await callers.talk("member", f"n{n}") for n in range(2)]
        wish = {"ids": [ids[0], NOWHERE, ids[1]], "action": action}
        done = await callers.member.post("/api/batches", json=wish)
        unread = await callers.member.get("/api/sessions?is_unread=true")

    told = [(one["id"], one["error"]) for one in done.json()["outcomes"]]
    assert told == [(ids[0], None), (NOWHERE, "There is no such session"), (ids[1], None)]
    assert (unread.json()["items"] == []) is (action != "pin")


@on(FAST, POSTGRES)
async def test_a_session_that_goes_meanwhile_hinders_no_other(store: Store) -> None:
    """Between the look at them and the deed somebody else may have forgotten one."""
    async with calling(store) as callers:
        ids = [await callers.talk("member", f"n{n}") for n in range(3)]
        by = callers.accounts["member"]
        await store.sessions.delete(ids[1])
        read = await store.mark_all_read(ids, by.sender.id or "")
        plan = await store.forget_present(ids, by=by.actor)
        audit = await store.audit()

    assert [one.error is None for one in read] == [True, False, True]
    assert plan.sessions == (ids[0], ids[2])
    assert [entry.subject for entry in audit[::-1]] == [ids[0], ids[2]]


@on(FAST)
async def test_a_member_moves_nothing(store: Store) -> None:
    """Projects are an owner's: a member took sessions out of them by naming none."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        project = await store.make_project("Garden")
        moved = {"ids": [id], "action": "move", "project": project.key}
        mine = await callers.owner.post("/api/batches", json=moved)
        out = await callers.member.post("/api/batches", json={"ids": [id], "action": "move"})

    assert (mine.status_code, out.status_code) == (200, 403)
    assert (await store.sessions.get(id)).project == project.key
