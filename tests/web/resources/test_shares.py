"""Shares: a page for anybody who knows its address, in which nothing runs and nobody is named."""

import base64
import hashlib
import re

import httpx

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.core.account import ShareId
from threadline.core.message import MediaKind
from threadline.core.session_patch import SessionPatch
from threadline.store import Store

PHONE = "+49 30 1234567"
SCRIPT = '<script>alert(1)</script><style>*{background:url("http://evil")}</style>'


@on(FAST, POSTGRES)
async def test_a_share_is_read_by_anybody_until_it_is_revoked(store: Store) -> None:
    """Without a login; afterwards it looks as if it had never been."""
    async with calling(store) as call:
        id = await call.talk("member", f"my number is {PHONE}", answer="noted")
        made = await call.member.post("/api/shares", json={"session": id})
        assert made.status_code == 201
        share = made.json()
        page = await call.nobody.get(share["path"])
        assert (page.status_code, "noted" in page.text) == (200, True)
        assert PHONE not in page.text
        assert "mia" not in page.text

        gone = await call.member.delete(f"/api/shares/{share['id']}")
        assert gone.status_code == 204
        revoked = await call.nobody.get(share["path"])
        unknown = await call.nobody.get("/s/" + "A" * 32)
        odd = await call.nobody.get("/s/%00")
        assert {one.status_code for one in (revoked, unknown, odd)} == {404}
        assert len({one.text for one in (revoked, unknown, odd)}) == 1
        assert len({str(sorted(one.headers.items())) for one in (revoked, unknown, odd)}) == 1
        acts = [entry.act for entry in await store.audit()]
        assert acts == ["share.revoked", "share.made"]


@on(FAST)
async def test_a_share_does_not_change(store: Store) -> None:
    """What is said later is not in it, nor is another title."""
    async with calling(store) as call:
        id = await call.talk("owner", "first words")
        share = (await call.owner.post("/api/shares", json={"session": id})).json()
        before = (await call.nobody.get(share["path"])).content
        await store.sessions.update(id, SessionPatch(title="A new title"))
        assert (await call.nobody.get(share["path"])).content == before


@on(FAST)
async def test_nothing_runs_in_a_shared_page(store: Store) -> None:
    """Words stay words; the one style that is allowed is ours, by its hash."""
    async with calling(store) as call:
        file = await store.attachments.put(b"\x89PNG", "image/png", MediaKind.IMAGE, SCRIPT)
        id = await call.talk("owner", SCRIPT, file, answer=SCRIPT)
        await store.sessions.update(id, SessionPatch(title="</title></style>" + SCRIPT))
        share = (await call.owner.post("/api/shares", json={"session": id})).json()
        page = await call.nobody.get(share["path"])
        assert "<script" not in page.text
        assert page.text.count("<style>") == 1
        assert "data:image" not in page.text

        policy = page.headers["content-security-policy"]
        (style,) = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in policy
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "script-src" not in policy
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert "noindex" in page.headers["x-robots-tag"]
        assert page.headers["cache-control"] == "no-store"
        assert "set-cookie" not in page.headers


@on(FAST)
async def test_a_member_shares_what_is_theirs(store: Store) -> None:
    """Others' sessions and shares are not there for them; the owner sees and revokes all."""
    async with calling(store) as call:
        mine, others = await call.talk("member"), await call.talk("other")
        assert (await call.member.post("/api/shares", json={"session": others})).status_code == 404
        one = (await call.member.post("/api/shares", json={"session": mine})).json()
        two = (await call.other.post("/api/shares", json={"session": others})).json()

        async def listed(name: str, query: str = "") -> list[str]:
            answer = await getattr(call, name).get(f"/api/shares{query}")
            return [share["id"] for share in answer.json()["items"]]

        assert await listed("member") == [one["id"]]
        assert await listed("owner") == [two["id"], one["id"]]
        assert await listed("owner", f"?session={mine}") == [one["id"]]
        assert (await call.member.get(f"/api/shares?session={others}")).status_code == 404
        assert (await call.member.delete(f"/api/shares/{two['id']}")).status_code == 404
        assert (await call.member.delete("/api/shares/unknown")).status_code == 404
        assert (await call.reader.delete(f"/api/shares/{one['id']}")).status_code == 403
        assert (await call.nobody.get("/api/shares")).status_code == 401
        assert (await call.owner.delete(f"/api/shares/{two['id']}")).status_code == 204
        assert (await call.nobody.get(two["path"])).status_code == 404
        assert (await call.nobody.get(one["path"])).status_code == 200


@on(FAST, POSTGRES)
async def test_shares_are_listed_page_by_page(store: Store) -> None:
    """Each comes once, also those of one moment; what is another's takes no place on a page."""
    async with calling(store) as call:
        mine, others = await call.talk("member"), await call.talk("other")
        for n in range(3):
            await store.make_share(mine, ShareId(f"mine-{n}"), "ä")
            await store.make_share(others, ShareId(f"others-{n}"), PHONE)

        async def listed(caller: httpx.AsyncClient) -> list[list[str]]:
            pages, after = list[list[str]](), ""
            while after is not None:
                query = {"most": 2} | ({"after": after} if after else {})
                page = (await caller.get("/api/shares", params=query)).json()
                pages.append([share["id"] for share in page["items"]])
                after = page["next"]
            return pages

        assert await listed(call.member) == [["mine-2", "mine-1"], ["mine-0"]]
        everybodys = await listed(call.owner)
        assert [len(page) for page in everybodys] == [2, 2, 2]
        assert len({id for page in everybodys for id in page}) == 6
        bad = await call.owner.get("/api/shares", params={"after": "yesterday-x"})
        assert bad.status_code == 422
        (first, *_) = (await call.member.get("/api/shares")).json()["items"]
        assert first["size"] == len("ä".encode())


@on(FAST)
async def test_the_same_key_shares_once(store: Store) -> None:
    """A repeated request answers with the page that was made."""
    async with calling(store) as call:
        id = await call.talk("owner")
        key = {"Idempotency-Key": "share-1"}
        one, two = [
            await call.owner.post("/api/shares", json={"session": id}, headers=key) for _ in "ab"
        ]
        assert one.json() == two.json()
        assert len(await store.shares()) == 1


@on(FAST)
async def test_a_forgotten_session_takes_its_shares_along(store: Store) -> None:
    """Nobody reads on where what was said is gone."""
    async with calling(store) as call:
        id = await call.talk("owner")
        share = (await call.owner.post("/api/shares", json={"session": id})).json()
        await store.sessions.delete(id)
        assert (await call.nobody.get(share["path"])).status_code == 404
