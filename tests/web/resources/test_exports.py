"""Exports and imports over HTTP: as much as one may see, as files that do no harm."""

import json

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.web.resources.callers import calling
from threadline.core.session import SessionId
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store

PHONE = "+49 30 1234567"


@on(FAST, POSTGRES)
async def test_a_session_is_written_in_each_format(store: Store) -> None:
    """For its people; another member is not told that it exists."""
    async with calling(store) as call:
        id = await call.talk("member", "remember the bridge")
        for ending, media_type in (
            ("md", "text/markdown"),
            ("html", "text/html"),
            ("jsonl", "application/x-ndjson"),
        ):
            asked = f"/api/exports/sessions/{id}?format={ending}"
            answer = await call.member.get(asked)
            assert "remember the bridge" in answer.text
            assert answer.headers["content-type"].partition(";")[0] == media_type
            assert answer.headers["content-disposition"].startswith(
                f'attachment; filename="{id}.{ending}"'
            )
            assert "sandbox" in answer.headers["content-security-policy"]
            statuses = [(await one.get(asked)).status_code for one in (call.other, call.nobody)]
            assert statuses == [404, 401]


@on(FAST)
async def test_a_redacted_export_names_nobody(store: Store) -> None:
    """Numbers and names are placeholders in all formats."""
    async with calling(store) as call:
        id = await call.talk("member", f"call me: {PHONE}")
        for ending in ("md", "html", "jsonl"):
            asked = f"/api/exports/sessions/{id}?format={ending}"
            assert PHONE in (await call.member.get(asked)).text
            redacted = (await call.member.get(f"{asked}&redact=true")).text
            assert PHONE not in redacted
            assert "mia" not in redacted


@on(FAST)
async def test_a_history_holds_what_somebody_may_see(store: Store) -> None:
    """A member's holds their own sessions; whatever else is asked for is the owner's."""
    async with calling(store) as call:
        await call.talk("member", "the member's words")
        await call.talk("other", "somebody else's words")
        own = (await call.member.get("/api/exports/history")).text
        assert ("the member's words" in own, "somebody else's words" in own) == (True, False)
        for extent in ("all", "profile"):
            whole = (await call.owner.get(f"/api/exports/history?extent={extent}")).text
            assert "the member's words" in whole
            assert "somebody else's words" in whole
        for extent in ("all", "project&project=x", "person&person=local:owner"):
            asked = await call.member.get(f"/api/exports/history?extent={extent}")
            assert asked.status_code == 403
        unclear = await call.owner.get("/api/exports/history?extent=person")
        assert unclear.status_code == 422
        assert (await call.nobody.get("/api/exports/history")).status_code == 401


@on(FAST)
async def test_a_members_history_names_no_project_of_others(store: Store) -> None:
    """Projects are the owner's; those without a session of the member were in the file too."""
    async with calling(store) as call:
        await call.talk("member", "the member's words")
        await store.make_project("Divorce")
        own = await call.member.get("/api/exports/history")
        whole = await call.owner.get("/api/exports/history")

    assert ("Divorce" in own.text, "Divorce" in whole.text) == (False, True)


@on(FAST)
async def test_what_is_known_or_forgotten_is_not_imported(store: Store) -> None:
    """Twice is once, and what was forgotten stays so."""
    async with calling(store) as call:
        id = await call.talk("owner", "take me along")
        lines = (await call.owner.get(f"/api/exports/sessions/{id}?format=jsonl")).content
        known = await call.owner.post("/api/imports", content=lines)
        assert (known.json()["added"], known.json()["skipped"]) == (0, 1)
        await store.sessions.delete(SessionId(id))
        gone = await call.owner.post("/api/imports", content=lines)
        assert (gone.json()["added"], gone.json()["forgotten"]) == (0, 1)


@on(FAST)
async def test_history_moves_to_another_installation(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A dry run changes nothing; the import itself is written into the audit log."""
    async with calling(store) as call:
        id = await call.talk("owner", "take me along")
        lines = (await call.owner.get("/api/exports/history")).content
    elsewhere = SqliteDatabase(tmp_path_factory.mktemp("b") / "threadline.db", durable=False)
    await elsewhere.open()
    try:
        async with calling(Store(elsewhere)) as call:
            asked = f"/api/exports/sessions/{id}"
            dry = await call.owner.post("/api/imports?dry_run=true", content=lines)
            assert (dry.json()["added"], (await call.owner.get(asked)).status_code) == (1, 404)
            assert await call.store.audit() == []
            torn = await call.owner.post("/api/imports", content=lines[:-100])
            assert (torn.status_code, await call.store.audit()) == (422, [])
            done = await call.owner.post("/api/imports", content=lines)
            assert done.status_code == 200
            assert "take me along" in (await call.owner.get(asked)).text
            acts = [entry.act for entry in await call.store.audit()]
            assert acts == ["session.exported", "history.imported"]
    finally:
        await elsewhere.close()


@on(FAST)
async def test_garbage_is_no_history(store: Store) -> None:
    """Nothing is stored of it, and the answer names what is wrong."""
    odd = [b"", b"{}", b"\0\0\0", b"PK\3\4", b"[" * 100_000, b'{"type":"header"}\n', b"\xff\xfe"]
    async with calling(store) as call:
        for data in odd:
            answer = await call.owner.post("/api/imports", content=data)
            assert answer.status_code == 422, data[:20]
            assert answer.headers["content-type"] == "application/problem+json"
        assert await store.profiles() == []


@on(FAST, POSTGRES)
async def test_a_member_learns_nothing_of_how_the_owner_keeps_it(
    database_factory: DatabaseFactory,
) -> None:
    """Neither the project that their session is in, nor how far others read, nor a hidden base.

    All of it once stood in the file that a member was given.
    """
    store = Store(await database_factory())
    async with calling(store) as call:
        hidden, mine = await call.talk("owner"), await call.talk("member")
        project = await store.make_project("Divorce")
        await store.move([mine], project.key)
        for who in ("owner", "member"):
            await store.mark_read(mine, call.accounts[who].sender.id or "")
        branch = await store.transcripts.branch(hidden)
        theirs = f"(SELECT sender_key FROM sessions WHERE id = '{mine}')"
        database_factory.tamper(
            f"UPDATE sessions SET sender_key = {theirs} WHERE id = '{branch.id}'"
        )
        asked = f"/api/exports/sessions/{mine}?format=jsonl"
        own, whole = (await call.member.get(asked)).text, (await call.owner.get(asked)).text
        pages = [
            (await call.member.get(f"/api/exports/sessions/{branch.id}?format={ending}")).text
            for ending in ("md", "html")
        ]
        full = (await call.owner.get(f"/api/exports/sessions/{branch.id}?format=md")).text

    assert ("Divorce" in own, "Divorce" in whole) == (False, True)
    records = [json.loads(line) for line in own.splitlines()]
    (session,) = [one for one in records if "last_seq" in one]
    readers = [mark["reader"] for mark in session["marks"]]
    assert readers == [call.accounts["member"].sender.id]
    assert whole.count('"reader"') == 2
    assert [hidden[-8:] in page for page in (*pages, full)] == [False, False, True]
    assert ["shares its first" in page for page in (*pages, full)] == [False, False, True]
