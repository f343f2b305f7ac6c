"""Turns over the API: stopped, taken back, and allowed to go on."""

from tests.databases import FAST, POSTGRES, on
from tests.web.browser import make_token
from tests.web.resources.callers import Callers, calling
from threadline.core.account import TokenScope
from threadline.core.agent import Question
from threadline.core.approval import Approval, PermissionDuration
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.store import Store


async def question(
    callers: Callers, who: str, *, reads_only: bool = True
) -> tuple[SessionId, TurnId]:
    """Let an agent ask somebody for leave to use a tool."""
    begun = await getattr(callers, who).post("/api/sessions", json={"text": "do it"})
    claim = await callers.store.turns.claim()
    assert claim is not None
    asked = Question(text="May I dig?", tools=("dig",), reads_only=reads_only)
    await callers.store.turns.wait(claim.lease, asked)
    return begun.json()["session_id"], claim.turn.id


@on(FAST, POSTGRES)
async def test_a_member_waits_for_an_approver(store: Store) -> None:
    """Their turn says so; they cannot approve it, and the owner can."""
    async with calling(store) as callers:
        id, turn = await question(callers, "member", reads_only=False)
        shown = (await callers.member.get(f"/api/sessions/{id}/turns")).json()["items"][0]
        own = (await callers.member.get("/api/approvals")).json()["items"]
        yes = {"approval": "approved", "asked_at": shown["asked_at"]}
        refused = await callers.member.post(f"/api/approvals/{turn}", json=yes)
        listed = (await callers.owner.get("/api/approvals")).json()["items"]
        given = await callers.owner.post(f"/api/approvals/{turn}", json=yes)

    assert (shown["awaits"], own) == ("approver", [])
    assert (refused.status_code, "waits for an approver" in refused.text) == (403, True)
    assert [one["id"] for one in listed] == [turn]
    assert given.status_code == 200
    assert [entry.act for entry in await store.audit()][:1] == ["tool.approved"]


@on(FAST, POSTGRES)
async def test_a_turn_is_stopped(store: Store) -> None:
    """What runs is stopped for good; what waits can be taken back; others' turns are not found."""
    async with calling(store) as callers:
        begun = (await callers.member.post("/api/sessions", json={"text": "one"})).json()
        url = f"/api/sessions/{begun['session_id']}"
        await store.turns.claim()
        waiting = (await callers.member.post(f"{url}/messages", json={"text": "two"})).json()
        hidden = await callers.other.post(f"/api/turns/{begun['turn_id']}/stop")
        key = (await callers.member.get(f"{url}/queue")).json()["items"][0]["key"]
        taken = await callers.member.delete(f"{url}/queue/{key}")
        again = await callers.member.delete(f"{url}/queue/{key}")
        stopped = await callers.member.post(f"{url}/stop")
        nothing = await callers.member.post(f"{url}/stop")
        turns = (await callers.member.get(f"{url}/turns")).json()["items"]
        lines = (await callers.member.get(f"{url}/messages")).json()["items"]
        reply = (await callers.member.get(f"/api/turns/{begun['turn_id']}/reply")).json()

    assert hidden.status_code == 404
    assert (taken.json()["turn_id"], again.status_code) == (waiting["turn_id"], 404)
    assert (stopped.json()["turn_id"], nothing.json()["turn_id"]) == (begun["turn_id"], None)
    assert {turn["state"] for turn in turns} == {"stopped"}
    assert "two" not in str([line["parts"] for line in lines]), "it was taken back"
    assert reply["items"][0]["parts"][0]["kind"] == "stopped"


@on(FAST, POSTGRES)
async def test_a_question_is_answered_once(store: Store) -> None:
    """Whoever comes second is told so, and the turn goes on with the first answer."""
    async with calling(store) as callers:
        id, turn = await question(callers, "member")
        asked = (await callers.member.get("/api/approvals")).json()["items"]
        others = (await callers.other.get("/api/approvals")).json()["items"]
        asked_at = asked[0]["asked_at"]
        url, yes = f"/api/approvals/{turn}", {"approval": "approved", "asked_at": asked_at}
        yes["extent"] = "session"
        blind = await callers.member.post(url, json={"approval": "approved"})
        old = {**yes, "asked_at": "2026-01-31T18:45:00.000000Z"}
        other = await callers.member.post(url, json=old)
        hidden = await callers.other.post(url, json=yes)
        forever = await callers.member.post(url, json={**yes, "extent": "always"})
        given = await callers.member.post(url, json={**yes, "words": "but gently"})
        late = await callers.owner.post(url, json={**yes, "approval": "denied"})
        leave = await callers.member.get(f"/api/allowances?session={id}")

    assert [(one["id"], one["asks"]) for one in asked] == [(turn, ["dig"])]
    assert others == []
    assert (blind.status_code, other.status_code) == (422, 409)
    assert "asks something else" in other.json()["detail"]
    assert (hidden.status_code, forever.status_code) == (404, 403)
    assert (given.status_code, given.json()["state"]) == (200, "queued")
    assert late.status_code == 409
    assert [(one["tool"], one["extent"]) for one in leave.json()["items"]] == [("dig", "session")]
    assert (await store.turns.get(turn)).answer == "approved: but gently"


@on(FAST, POSTGRES)
async def test_leave_is_taken_back(store: Store) -> None:
    """The owner gives it for always and takes it back; a member does not even see it.

    Neither does a token of the owner give it that may not administer.
    """
    async with calling(store) as callers:
        _, turn = await question(callers, "owner")
        (asked,) = (await callers.owner.get("/api/approvals")).json()["items"]
        wish = {"approval": "approved", "extent": "always", "asked_at": asked["asked_at"]}
        writer = await make_token(store, TokenScope.READ, TokenScope.WRITE)
        less = await callers.owner.post(f"/api/approvals/{turn}", json=wish, headers=writer)
        await callers.owner.post(f"/api/approvals/{turn}", json=wish)
        given = (await callers.owner.get("/api/allowances")).json()["items"]
        url = f"/api/allowances/{given[0]['key']}"
        seen = (await callers.member.get("/api/allowances")).json()["items"]
        hidden = await callers.member.delete(url)
        taken = await callers.owner.delete(url)
        again = await callers.owner.delete(url)

    assert less.status_code == 403
    assert (given[0]["session_id"], given[0]["by_name"]) == (None, "owner")
    assert (seen, hidden.status_code) == ([], 404)
    assert (taken.status_code, again.status_code) == (200, 404)


@on(FAST, POSTGRES)
async def test_a_token_that_may_not_administer_approves_no_change(store: Store) -> None:
    """A token of the owner is a member's then: by the API and in words, and in the audit log.

    A token with the scope `write` approved a member's command, of which it could read nothing.
    """
    writer = await make_token(store, TokenScope.READ, TokenScope.WRITE)
    admin = await make_token(store, *TokenScope)
    async with calling(store) as callers:
        id, turn = await question(callers, "member", reads_only=False)
        (asked,) = (await callers.owner.get("/api/approvals")).json()["items"]
        yes = {"approval": "approved", "asked_at": asked["asked_at"]}
        listed = (await callers.owner.get("/api/approvals", headers=writer)).json()["items"]
        url, said = f"/api/sessions/{id}/messages", {"text": "approved"}
        api = await callers.owner.post(f"/api/approvals/{turn}", json=yes, headers=writer)
        words = await callers.owner.post(url, json=said, headers=writer)
        waiting = (await store.turns.get(turn)).state
        given = await callers.owner.post(url, json=said, headers=admin)
        audit = (await callers.owner.get("/api/audit")).json()["items"]

    assert (api.status_code, words.json()["outcome"], waiting) == (403, "queued", "waiting")
    assert listed == []
    assert given.json()["outcome"] == "answered"
    (entry,) = [one for one in audit if one["act"] == "tool.approved"]
    assert entry["token"] == 2


@on(FAST)
async def test_leave_of_others_tells_nothing(store: Store) -> None:
    """Whoever tries numbers learned the ids of others' conversations from the answers."""
    async with calling(store) as callers:
        _, turn = await question(callers, "other")
        await store.approvals.decide(
            Viewer.owner(), turn, Approval.APPROVED, extent=PermissionDuration.SESSION
        )
        (given,) = await store.approvals.list_permissions()
        theirs = await callers.member.delete(f"/api/allowances/{given.key}")
        nobodys = await callers.member.delete("/api/allowances/999")

    assert (theirs.status_code, theirs.json()["id"]) == (404, str(given.key))
    assert theirs.json() | {"id": "999"} == nobodys.json()
    assert [one.key for one in await store.approvals.list_permissions()] == [given.key]


@on(FAST)
async def test_words_can_answer_a_question(store: Store) -> None:
    """What somebody says while their turn waits is its answer, as in a chat."""
    async with calling(store) as callers:
        id, turn = await question(callers, "member")
        said = {"text": "yes, please"}
        answered = await callers.member.post(f"/api/sessions/{id}/messages", json=said)

    assert answered.json()["outcome"] == "answered"
    assert (await store.turns.get(turn)).answer == "yes, please"


@on(FAST)
async def test_a_running_turn_is_steered(store: Store) -> None:
    """Words that are meant to steer are given to the turn that runs."""
    async with calling(store) as callers:
        begun = (await callers.owner.post("/api/sessions", json={"text": "go"})).json()
        claim = await store.turns.claim()
        assert claim is not None
        wish = {"text": "a little to the left", "busy_mode": "steer"}
        url = f"/api/sessions/{begun['session_id']}/messages"
        await callers.owner.post(url, json=wish)
        before, last = await store.turns.take_steering(claim.lease)

    assert last == before + 1


@on(FAST, POSTGRES)
async def test_a_message_that_waits_is_changed(store: Store) -> None:
    """Again and again, by whoever said it, until its turn has come."""
    async with calling(store) as callers:
        begun = (await callers.member.post("/api/sessions", json={"text": "one"})).json()
        url = f"/api/sessions/{begun['session_id']}"
        await store.turns.claim()
        await callers.member.post(f"{url}/messages", json={"text": "two"})
        (waiting,) = (await callers.member.get(f"{url}/queue")).json()["items"]
        place, seen = f"{url}/queue/{waiting['key']}", {"If-Match": f'"{waiting["revision"]}"'}
        blind = await callers.member.put(place, json={"text": "three"})
        first = await callers.member.put(place, json={"text": "three"}, headers=seen)
        stale = await callers.member.put(place, json={"text": "drei"}, headers=seen)
        seen = {"If-Match": first.headers["etag"]}
        second = await callers.member.put(place, json={"text": "four"}, headers=seen)
        refused = await callers.owner.put(place, json={"text": "five"}, headers={"If-Match": "*"})
        hidden = await callers.other.put(place, json={"text": "six"}, headers={"If-Match": "*"})
        queue = (await callers.member.get(f"{url}/queue")).json()["items"]

    assert [one.json()["parts"][0]["text"] for one in (first, second)] == ["three", "four"]
    assert (blind.status_code, stale.status_code) == (428, 412)
    assert (refused.status_code, hidden.status_code) == (403, 404)
    assert [one["parts"][0]["text"] for one in queue] == ["four"]


@on(FAST, POSTGRES)
async def test_turns_are_read_page_by_page(store: Store) -> None:
    """Each page begins where the one before ended, so that none is missed; others find nothing."""
    async with calling(store) as callers:
        begun = (await callers.member.post("/api/sessions", json={"text": "one"})).json()
        url = f"/api/sessions/{begun['session_id']}"
        said = [begun["turn_id"]]
        for words in ("two", "three"):
            sent = await callers.member.post(f"{url}/messages", json={"text": words})
            said.append(sent.json()["turn_id"])
        whole = (await callers.member.get(f"{url}/turns")).json()
        first = (await callers.member.get(f"{url}/turns?most=2")).json()
        last = (await callers.member.get(f"{url}/turns?most=2&after={first['next']}")).json()
        hidden = await callers.other.get(f"{url}/turns?after={first['next']}")
        nowhere = await callers.member.get(f"{url}/turns?after=here")

    assert [turn["id"] for turn in whole["items"]] == said[::-1]
    assert [turn["id"] for turn in first["items"] + last["items"]] == said[::-1]
    assert (whole["next"], last["next"]) == (None, None)
    assert (hidden.status_code, nowhere.status_code) == (404, 422)
