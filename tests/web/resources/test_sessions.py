"""Sessions over the API: listed, begun, changed, and forgotten, each by whoever may."""

import httpx
import pytest

from tests.databases import FAST, POSTGRES, on
from tests.web.browser import make_token
from tests.web.resources.callers import Callers, calling
from threadline.core.account import AccountRole, TokenScope
from threadline.core.message import Role, say
from threadline.store import Store

ANY = {"If-Match": "*"}


async def titles(callers: Callers, who: str, query: str = "") -> list[str]:
    """List the titles that somebody finds."""
    answer = await getattr(callers, who).get(f"/api/sessions{query}")
    assert answer.status_code == 200, answer.text
    return [row["session"]["title"] for row in answer.json()["items"]]


@on(FAST, POSTGRES)
async def test_a_conversation_begins_with_its_first_words(store: Store) -> None:
    """Before them nothing is stored; after them there is a session, a message and a turn."""
    async with calling(store) as callers:
        nothing = await callers.owner.post("/api/sessions", json={"text": "  "})
        before = await titles(callers, "owner")
        begun = await callers.owner.post("/api/sessions", json={"text": "hello", "title": "First"})
        id = begun.json()["session_id"]
        queue = await callers.owner.get(f"/api/sessions/{id}/queue")
        turn = await callers.owner.get(f"/api/turns/{begun.json()['turn_id']}")

    assert nothing.status_code == 422
    assert before == []
    assert (begun.status_code, begun.json()["outcome"]) == (201, "queued")
    assert [one["parts"][0]["text"] for one in queue.json()["items"]] == ["hello"]
    assert turn.json()["state"] == "queued"
    assert (await store.sessions.get(id)).title == "First"


@on(FAST, POSTGRES)
async def test_each_conversation_has_a_place_of_its_own(store: Store) -> None:
    """Two first messages are two conversations; the same one, sent again, is one."""
    async with calling(store) as callers:
        first = await callers.owner.post("/api/sessions", json={"text": "hello"})
        second = await callers.owner.post("/api/sessions", json={"text": "hello"})
        key = {"Idempotency-Key": "again"}
        third = await callers.owner.post("/api/sessions", json={"text": "hello"}, headers=key)
        fourth = await callers.owner.post("/api/sessions", json={"text": "hello"}, headers=key)
        other = await callers.owner.post("/api/sessions", json={"text": "bye"}, headers=key)
        theirs = await callers.member.post("/api/sessions", json={"text": "hello"}, headers=key)

    ids = [one.json()["session_id"] for one in (first, second, third, theirs)]
    assert len(set(ids)) == 4
    assert fourth.json() == third.json()
    assert fourth.headers["idempotent-replay"] == "true"
    assert other.status_code == 409


@on(FAST, POSTGRES)
async def test_a_list_is_read_page_by_page(store: Store) -> None:
    """Each page goes on where the one before ended, until there is no next one."""
    async with calling(store) as callers:
        for number in range(5):
            await callers.talk("owner", f"number {number}")
        found: list[str] = []
        after = ""
        while True:
            page = (await callers.owner.get(f"/api/sessions?most=2{after}")).json()
            found += [row["session"]["title"] for row in page["items"]]
            if page["next"] is None:
                break
            after = f"&after={page['next']}"
        garbage = await callers.owner.get("/api/sessions?after=garbage")

    assert found == [f"number {n}" for n in (4, 3, 2, 1, 0)]
    assert garbage.status_code == 422


@on(FAST, POSTGRES)
async def test_a_member_finds_only_what_is_theirs(store: Store) -> None:
    """Of anybody else's session not even its existence is told."""
    async with calling(store) as callers:
        mine = await callers.talk("member", "mine")
        secret = await callers.talk("owner", "secret")
        own = await titles(callers, "member")
        theirs = await titles(callers, "other")
        everything = await titles(callers, "owner")
        paths = ["", "/messages", "/streaming", "/cuts", "/turns", "/queue", "/lineage"]
        paths += ["/stitched", "/minimap", "/rounds", "/forgetting", "/messages/1"]
        hidden = [
            (await callers.member.get(f"/api/sessions/{secret}{path}")).status_code
            for path in paths
        ]
        shown = [
            (await callers.member.get(f"/api/sessions/{mine}{path}")).status_code for path in paths
        ]
        asks = await callers.member.get("/api/sessions?person=1")

    assert (own, theirs) == (["mine"], [])
    assert sorted(everything) == ["mine", "secret"]
    assert hidden == [404] * len(paths)
    assert shown == [200] * len(paths)
    assert asks.status_code == 403


@on(FAST)
async def test_strangers_are_turned_away(store: Store) -> None:
    """Nobody gets a 401 that says how to log in, and a reader may change nothing."""
    async with calling(store) as callers:
        id = await callers.talk("owner")
        nobody = await callers.nobody.get(f"/api/sessions/{id}")
        reader = await callers.reader.patch(f"/api/sessions/{id}", json={}, headers=ANY)

    assert (nobody.status_code, nobody.json()["status"]) == (401, 401)
    assert nobody.headers["www-authenticate"].startswith("Bearer")
    assert nobody.headers["content-type"] == "application/problem+json"
    assert reader.status_code == 403


@on(FAST, POSTGRES)
async def test_a_message_in_between_stops_a_deletion_but_no_edit(store: Store) -> None:
    """The tag that was read before the agent answered still renames; it no longer deletes."""
    async with calling(store) as callers:
        url = f"/api/sessions/{await callers.talk('owner')}"
        seen = {"If-Match": (await callers.owner.get(url)).headers["etag"]}
        sent = await callers.owner.post(f"{url}/messages", json={"text": "One more thing."})
        kept = await callers.owner.delete(url, headers=seen)
        renamed = await callers.owner.patch(url, json={"title": "Roses"}, headers=seen)
        gone = await callers.owner.delete(url, headers={"If-Match": renamed.headers["etag"]})

    codes = [one.status_code for one in (sent, kept, renamed, gone)]
    assert codes == [201, 412, 200, 200]


@on(FAST, POSTGRES)
async def test_a_session_is_changed_by_whoever_has_seen_it(store: Store) -> None:
    """Without a revision it is refused, with an old one it is stale, with this one it is done."""
    async with calling(store) as callers:
        id = await callers.talk("owner")
        url = f"/api/sessions/{id}"
        tag = (await callers.owner.get(url)).headers["etag"]
        blind = await callers.owner.patch(url, json={"title": "a"})
        seen = {"If-Match": tag}
        done = await callers.owner.patch(url, json={"title": "b"}, headers=seen)
        stale = await callers.owner.patch(url, json={"title": "c"}, headers=seen)
        again = {"If-Match": done.headers["etag"]}
        later = await callers.owner.patch(url, json={"is_pinned": True}, headers=again)

    assert (blind.status_code, done.status_code, stale.status_code) == (428, 200, 412)
    assert (done.json()["title"], done.json()["titled_by"]) == ("b", "person")
    assert later.json()["title"] == "b"
    assert later.json()["pinned_at"] is not None


@on(FAST, POSTGRES)
async def test_all_choices_of_a_session_can_be_changed(store: Store) -> None:
    """What is named is changed, null takes a choice back, and what is not named stays."""
    async with calling(store) as callers:
        id = await callers.talk("owner")
        project = await store.make_project("Garden")
        wish = {
            "title": "Roses",
            "is_archived": True,
            "project": project.key,
            "model": {"model": "openai:gpt-5", "base_url": "http://127.0.0.1:9/v1"},
            "busy_mode": "steer",
            "personality": "a gardener",
            "tools": ["dig"],
            "workspace": "/srv/garden",
        }
        url = f"/api/sessions/{id}"
        changed = (await callers.owner.patch(url, json=wish, headers=ANY)).json()
        undone = dict.fromkeys(("project", "model", "personality", "tools", "workspace"))
        taken_back = (await callers.owner.patch(url, json=undone, headers=ANY)).json()

    assert changed["title"] == "Roses"
    assert changed["archived_at"] is not None
    assert (changed["project"], changed["tools"]) == (project.key, ["dig"])
    assert changed["model"]["base_url"] == "http://127.0.0.1:9/v1"
    assert (changed["personality"], changed["workspace"]) == ("a gardener", "/srv/garden")
    assert all(taken_back[name] is None for name in undone)
    assert taken_back["title"] == "Roses"


@on(FAST, POSTGRES)
async def test_a_session_is_forgotten(store: Store) -> None:
    """The plan says what goes; then it is gone, the act is in the audit log, and no word is."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "a secret word")
        plan = await callers.owner.get(f"/api/sessions/{id}/forgetting")
        blind = await callers.owner.delete(f"/api/sessions/{id}")
        gone = await callers.owner.delete(f"/api/sessions/{id}", headers=ANY)
        after = await callers.owner.get(f"/api/sessions/{id}")
        audit = await store.audit()

    assert plan.json()["messages"] == 3  # the note of a first visit, too
    assert blind.status_code == 428
    assert (gone.status_code, gone.json()["state"]) == (200, "done")
    assert after.status_code == 404
    assert ("session.forgotten", id) in {(entry.act, entry.subject) for entry in audit}


@on(FAST, POSTGRES)
async def test_a_batch_answers_for_each(store: Store) -> None:
    """What may not be seen, or is no session, hinders no other."""
    async with calling(store) as callers:
        ids = [await callers.talk("member", f"n{n}") for n in range(2)]
        secret = await callers.talk("owner")
        wish = {"ids": [ids[0], secret, "nonsense", ids[1], ids[0]], "action": "archive"}
        done = await callers.member.post("/api/batches", json=wish)
        project = {"ids": ids, "action": "pin", "project": 1}
        odd = await callers.member.post("/api/batches", json=project)
        forget = {"ids": ids, "action": "forget"}
        gone = await callers.member.post("/api/batches", json=forget)
        left = await titles(callers, "member", "?shelf=all")

    outcomes = {one["id"]: one["error"] for one in done.json()["outcomes"]}
    assert [outcomes[id] for id in ids] == [None, None]
    assert outcomes[secret] == "There is no such session"
    assert "no session id" in outcomes["nonsense"]
    assert odd.status_code == 422
    assert gone.status_code == 200
    assert left == []


@on(FAST, POSTGRES)
async def test_marks_and_drafts_are_each_ones_own(store: Store) -> None:
    """What one has read, another has not; what a device began to write, no other account finds."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        await callers.member.put(f"/api/sessions/{id}/mark", json={})
        read = (await callers.member.get("/api/sessions?is_unread=true")).json()["items"]
        unread = (await callers.owner.get("/api/sessions?is_unread=true")).json()["items"]
        await callers.member.delete(f"/api/sessions/{id}/mark")
        again = (await callers.member.get("/api/sessions?is_unread=true")).json()["items"]
        draft = {"text": "begun"}
        place = f"/api/drafts?device=phone&session={id}"
        kept = await callers.member.put(place, json=draft)
        row = (await callers.member.get("/api/sessions?device=phone")).json()["items"][0]
        owners = (await callers.owner.get("/api/drafts?device=phone")).json()["items"]
        gone = await callers.member.delete(place)
        nothing = (await callers.member.get("/api/drafts?device=phone")).json()["items"]

    assert (len(read), len(unread), len(again)) == (0, 1, 1)
    assert [one["text"] for one in kept.json()["items"]] == ["begun"]
    assert row["has_draft"]
    assert row["last_speaker"] == {"role": "assistant", "name": None}
    assert row["has_failed_delivery"] is False
    assert (owners, gone.status_code, nothing) == ([], 204, [])


@on(FAST)
async def test_what_is_said_now_can_be_read(store: Store) -> None:
    """The words of a running turn are there before they are a message."""
    async with calling(store) as callers:
        begun = await callers.owner.post("/api/sessions", json={"text": "hello"})
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.checkpoint([(claim.lease, "I am about to")])
        url = f"/api/sessions/{begun.json()['session_id']}"
        streaming = (await callers.owner.get(f"{url}/streaming")).json()
        held = (await callers.owner.get("/api/sessions")).json()["items"][0]["held"]
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "I am about to answer")])
        rounds = (await callers.owner.get(f"{url}/rounds")).json()
        ended = await callers.owner.post(f"{url}/end")

    assert (streaming["text"], streaming["turn_id"]) == ("I am about to", claim.turn.id)
    assert (held, rounds) == ("running", {"rounds": 1})
    assert ended.json()["end_reason"] == "closed"


@on(FAST)
async def test_counts_are_an_owners(store: Store) -> None:
    """They look at everybody's sessions."""
    async with calling(store) as callers:
        await callers.talk("member")
        counts = await callers.owner.get("/api/sessions/counts")
        refused = await callers.member.get("/api/sessions/counts")

    assert counts.json()["by_platform"] == {"local": 1}
    assert refused.status_code == 403


@on(FAST)
async def test_a_profile_is_kept_to(store: Store) -> None:
    """An account of one profile finds nothing of another, and speaks in its own."""
    async with calling(store) as callers:
        work = await store.make_account("wanda", AccountRole.MEMBER, "work")
        id = await callers.talk("owner", "in main")
        headers = await make_token(store, TokenScope.READ, TokenScope.WRITE, account=work)
        begun = await callers.nobody.post("/api/sessions", json={"text": "hi"}, headers=headers)
        there = await store.sessions.get(begun.json()["session_id"])
        listed = await callers.nobody.get("/api/sessions", headers=headers)
        other = await callers.nobody.get("/api/sessions?profile=main", headers=headers)
        hidden = await callers.nobody.get(f"/api/sessions/{id}", headers=headers)

    assert there.profile == "work"
    assert [row["session"]["id"] for row in listed.json()["items"]] == [there.id]
    assert (other.status_code, hidden.status_code) == (404, 404)


@on(FAST)
@pytest.mark.parametrize(
    "wrong",
    [
        {"project": 99},
        {"workspace": "somewhere"},
        {"tools": [" "]},
        {"model": {"model": "m", "base_url": "https://me:secret@example.org"}},
    ],
)
async def test_a_wish_is_fulfilled_as_a_whole(store: Store, wrong: dict[str, object]) -> None:
    """If one thing cannot be had, nothing is changed."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "as it was")
        wish = {"title": "New", "is_pinned": True, **wrong}
        refused = await callers.owner.patch(f"/api/sessions/{id}", json=wish, headers=ANY)
        session = await store.sessions.get(id)

    assert refused.status_code in {404, 422}
    assert "secret" not in refused.text
    assert (session.title, session.pinned_at) == ("as it was", None)


@on(FAST, POSTGRES)
async def test_rows_are_read_by_their_ids(store: Store) -> None:
    """They are what the list shows, in the order asked for, put away or not; others' are not."""
    async with calling(store) as callers:
        mine, kept, theirs = [
            (await who.post("/api/sessions", json={"text": "hello"})).json()["session_id"]
            for who in (callers.member, callers.member, callers.owner)
        ]
        listed = (await callers.member.get("/api/sessions")).json()["items"]
        await store.archive([kept])
        asked = "&".join(
            f"ids={id}" for id in (kept, theirs, mine, kept, "20200101_000000_00000000")
        )
        member = await callers.member.get(f"/api/sessions?{asked}")
        owner = await callers.owner.get(f"/api/sessions?{asked}")
        other = await callers.other.get(f"/api/sessions?{asked}")
        both = await callers.member.get(f"/api/sessions?{asked}&shelf=archived")
        odd = await callers.member.get("/api/sessions?ids=1")
        many = await callers.member.get("/api/sessions?" + "&".join([f"ids={mine}"] * 201))

    def found(answer: httpx.Response) -> list[str]:
        return [row["session"]["id"] for row in answer.json()["items"]]

    assert (found(member), member.json()["next"]) == ([kept, mine], None)
    assert member.json()["items"][1] in listed
    assert found(owner) == [kept, theirs, mine]
    assert found(other) == []
    assert [one.status_code for one in (both, odd, many)] == [422, 422, 422]
