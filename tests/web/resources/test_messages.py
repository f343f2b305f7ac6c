"""Messages over the API: pages of a transcript, words for it, and what is out of sight."""

from tests.databases import FAST, POSTGRES, on
from tests.store.people_setup import answers, says
from tests.web.resources.callers import Callers, calling
from threadline.core.address import Address, Kind, Sender
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.store import Store

ALICE = Sender(id="42", name="Alice")
CHAT = Address(platform="telegram", kind=Kind.DM, chat="42")


async def long_talk(callers: Callers, lines: int = 10) -> SessionId:
    """Let the owner have a conversation of some lines."""
    id = await callers.talk("owner", "line 1")
    await callers.store.transcripts.record(
        id, [say(Role.ASSISTANT, f"more {number}") for number in range(lines)]
    )
    return id


async def seqs(callers: Callers, id: SessionId, query: str) -> list[int]:
    """Read which lines a page holds."""
    answer = await callers.owner.get(f"/api/sessions/{id}/messages?{query}")
    assert answer.status_code == 200, answer.text
    return [line["seq"] for line in answer.json()["items"]]


async def carried(store: Store) -> str:
    """Carry out what is owed next, and tell what it says."""
    [parcel] = await store.deliveries.lease()
    await store.deliveries.record_sent(parcel.delivery)
    return parcel.text


@on(FAST, POSTGRES)
async def test_a_transcript_is_read_from_any_place(store: Store) -> None:
    """Its end, what is before and after a line, and what is around it; always in order."""
    async with calling(store) as callers:
        id = await long_talk(callers)
        end = await seqs(callers, id, "most=3")
        before = await seqs(callers, id, "before=5&most=2")
        after = await seqs(callers, id, "after=5&most=2")
        around = await seqs(callers, id, "around=7&most=5")
        beginning = await callers.owner.get(f"/api/sessions/{id}/messages?before=3&most=50")
        both = await callers.owner.get(f"/api/sessions/{id}/messages?before=3&after=1")

    assert end == [11, 12, 13]
    assert (before, after, around) == ([3, 4], [6, 7], [5, 6, 7, 8, 9])
    assert beginning.json()["before"] is None
    assert both.status_code == 422


@on(FAST)
async def test_one_line_can_be_read(store: Store) -> None:
    """A line that there is none of is not found, and neither are its revisions."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "hello")
        found = await callers.owner.get(f"/api/sessions/{id}/messages/2")
        revisions = await callers.owner.get(f"/api/sessions/{id}/messages/2/revisions")
        nothing = await callers.owner.get(f"/api/sessions/{id}/messages/99")

    assert found.json()["parts"] == [{"type": "text", "text": "hello"}]
    assert revisions.json() == {"items": [], "next": None}
    assert nothing.status_code == 404


@on(FAST, POSTGRES)
async def test_words_are_said_once(store: Store) -> None:
    """The same request with the same key queues one turn; without a key each is its own."""
    async with calling(store) as callers:
        id = await callers.talk("owner")
        url, key = f"/api/sessions/{id}/messages", {"Idempotency-Key": "k"}
        first = await callers.owner.post(url, json={"text": "once"}, headers=key)
        second = await callers.owner.post(url, json={"text": "once"}, headers=key)
        third = await callers.owner.post(url, json={"text": "once"})
        queue = (await callers.owner.get(f"/api/sessions/{id}/queue")).json()["items"]

    assert (first.status_code, second.json()) == (201, first.json())
    assert third.json()["turn_id"] != first.json()["turn_id"]
    assert [one["parts"][0]["text"] for one in queue] == ["once", "once"]


@on(FAST, POSTGRES)
async def test_the_owner_speaks_into_a_platforms_conversation(store: Store) -> None:
    """Asked, the agent answers there; answered by the owner, their words are delivered there."""
    async with calling(store) as callers:
        id = await says(store, ALICE, "hello", at=CHAT)
        await answers(store, "hi Alice")
        url = f"/api/sessions/{id}/messages"
        own = {"text": "I am the owner", "speech": "answer"}
        answered = await callers.owner.post(url, json=own)
        asked = await callers.owner.post(url, json={"text": "and you?"})
        hidden = await callers.member.post(url, json={"text": "psst"})
        owed = [await carried(store), await carried(store)]
        page = (await callers.owner.get(url)).json()["items"]

    assert (answered.status_code, asked.status_code, hidden.status_code) == (201, 201, 404)
    assert asked.json()["outcome"] == "queued"
    assert owed == ["hi Alice", "I am the owner"]
    spoken = [(line["role"], line["sender_name"]) for line in page]
    assert spoken[-1] == ("assistant", "owner")


@on(FAST)
async def test_a_member_does_not_speak_for_the_agent(store: Store) -> None:
    """That is the owner's, also in a member's own conversation."""
    async with calling(store) as callers:
        id = await callers.talk("member")
        wish = {"text": "I am the agent", "speech": "answer"}
        refused = await callers.member.post(f"/api/sessions/{id}/messages", json=wish)

    assert refused.status_code == 403


@on(FAST, POSTGRES)
async def test_undo_redo_retry_and_branches(store: Store) -> None:
    """Each answers what it did; an edit is a branch before the line that reads differently."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "first words")
        url = f"/api/sessions/{id}"
        undone = await callers.owner.post(f"{url}/undo", json={})
        cut = (await callers.owner.get(f"{url}/cuts")).json()["items"]
        redone = await callers.owner.post(f"{url}/redo")
        nothing = await callers.owner.post(f"{url}/redo")
        edited = await callers.owner.post(f"{url}/messages/2/edits", json={"text": "other words"})
        branch = await callers.owner.post(f"{url}/messages/3/branches", json={"title": "Fork"})
        retried = await callers.owner.post(f"{url}/retry")
        busy = await callers.owner.post(f"{url}/undo", json={})
        kin = (await callers.owner.get(f"{url}/lineage")).json()

    assert undone.json()["texts"] == ["first words"]
    assert [one["kind"] for one in cut] == ["undone"]
    assert (redone.status_code, nothing.status_code) == (200, 409)
    assert edited.json()["session"]["parent_id"] == id
    assert (branch.json()["title"], branch.json()["base_id"]) == ("Fork", id)
    assert (retried.status_code, busy.status_code) == (201, 409)
    children = {child["id"]: child["base_seq"] for child in kin["children"]}
    assert children == {
        edited.json()["session"]["id"]: edited.json()["session"]["base_seq"],
        branch.json()["id"]: 3,
    }


@on(FAST)
async def test_an_undo_that_is_sent_again_undoes_once(store: Store) -> None:
    """A request that was answered into the void may be repeated without fear."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "one")
        url, key = f"/api/sessions/{id}", {"Idempotency-Key": "undo"}
        await callers.owner.post(f"{url}/messages", json={"text": "two"})
        await answers(store, "yes")
        first = await callers.owner.post(f"{url}/undo", json={}, headers=key)
        again = await callers.owner.post(f"{url}/undo", json={}, headers=key)
        cuts = (await callers.owner.get(f"{url}/cuts")).json()["items"]

    assert first.json() == again.json()
    assert first.json()["texts"] == ["two"]
    assert len(cuts) == 1


@on(FAST)
async def test_a_compaction_is_undone(store: Store) -> None:
    """The model reads the lines again, and a second time there is nothing to undo."""
    async with calling(store) as callers:
        id = await long_talk(callers)
        await callers.owner.post(f"/api/sessions/{id}/messages", json={"text": "go on"})
        await answers(store, "yes")
        await store.transcripts.compact(id, "They counted.", keep=1)
        shown = (await callers.owner.get(f"/api/sessions/{id}/cuts")).json()["items"]
        undone = await callers.owner.delete(f"/api/sessions/{id}/compaction")
        again = await callers.owner.delete(f"/api/sessions/{id}/compaction")
        nobody = await callers.owner.post(f"/api/sessions/{id}/compress", json={})

    assert [one["summary"] for one in shown] == ["They counted."]
    assert (undone.status_code, undone.json()["kind"]) == (200, "compacted")
    assert again.status_code == 409
    assert nobody.status_code == 409


@on(FAST, POSTGRES)
async def test_everything_that_was_said_can_be_found(store: Store) -> None:
    """A hit names its session and line; a member finds nothing of others."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "the magnolia blooms")
        await callers.talk("member", "no flowers here")
        found = await callers.owner.get("/api/search?text=magnol&is_typing=true")
        hidden = await callers.member.get("/api/search?text=magnolia")
        empty = await callers.owner.get("/api/search?text=-magnolia")
        beside = await callers.member.get(f"/api/search?text=magnolia&session={id}")

    hit = found.json()["items"][0]
    assert (hit["session_id"], hit["seq"]) == (id, 2)
    first, last = hit["snippet"]["ranges"][0]
    assert hit["snippet"]["text"][first:last] == "magnol"
    assert [one["session_id"] for one in found.json()["sessions"]] == [id]
    assert (hidden.json()["items"], hidden.json()["sessions"]) == ([], [])
    assert (empty.status_code, beside.status_code) == (422, 404)


@on(FAST, POSTGRES)
async def test_a_conversation_is_stitched_and_seen_from_afar(store: Store) -> None:
    """Continuations are one transcript, and the minimap counts who speaks."""
    async with calling(store) as callers:
        id = await callers.talk("owner", "at first")
        later = await store.transcripts.continue_session(id)
        await callers.owner.post(f"/api/sessions/{later.id}/messages", json={"text": "later"})
        await answers(store, "yes")
        url = f"/api/sessions/{later.id}"
        whole = (await callers.owner.get(f"{url}/stitched?most=200")).json()
        end = (await callers.owner.get(f"{url}/stitched?most=1")).json()
        before = (await callers.owner.get(f"{url}/stitched?before={end['before']}")).json()
        kin = (await callers.owner.get(f"/api/sessions/{id}/lineage")).json()
        map_ = (await callers.owner.get(f"/api/sessions/{id}/minimap")).json()["items"]

    texts = [line["parts"][0]["text"] for line in whole["items"]]
    assert [text for text in texts if text in {"at first", "later"}] == ["at first", "later"]
    assert before["items"] == whole["items"][:-1]
    assert (kin["first_id"], kin["latest_id"]) == (id, later.id)
    assert sum(one["user"] for one in map_) == 1


@on(FAST)
async def test_somebody_knows_their_own_words(store: Store) -> None:
    """What a member said here bears the sender that they are told to be."""
    async with calling(store) as callers:
        id = await callers.talk("member", "mine")
        me = (await callers.member.get("/api/me")).json()
        lines = (await callers.member.get(f"/api/sessions/{id}/messages")).json()["items"]

    said = [line["sender_id"] for line in lines if line["role"] == "user"]
    assert said == [me["sender_id"]]


@on(FAST, POSTGRES)
async def test_a_member_who_edits_the_owners_words_is_their_author(store: Store) -> None:
    """The edited message is the member's, and the conversation on the platform gets nothing."""
    async with calling(store) as callers:
        id = await callers.talk("member", "hello")
        asked = await callers.owner.post(
            f"/api/sessions/{id}/messages", json={"text": "by the owner"}
        )
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])
        edited = await callers.member.post(
            f"/api/sessions/{id}/messages/4/edits", json={"text": "forged"}
        )
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])
        lines = await store.transcripts.read(SessionId(edited.json()["session"]["id"]))

    assert (asked.status_code, edited.status_code) == (201, 201)
    (forged,) = [line for line in lines if line.text == "forged"]
    assert forged.sender_id == callers.accounts["member"].sender.id


@on(FAST, POSTGRES)
async def test_an_edit_on_a_screen_sends_nothing_to_the_platform(store: Store) -> None:
    """The owner edits a message of a chat: the reply is shown in the web app alone."""
    id = await says(store, ALICE, "hello", at=CHAT)
    await answers(store, "hi")
    assert await carried(store) == "hi"
    async with calling(store) as callers:
        edited = await callers.owner.post(
            f"/api/sessions/{id}/messages/2/edits", json={"text": "other words"}
        )
    await answers(store, "only here")

    assert edited.status_code == 201, edited.text
    assert await store.deliveries.lease() == []
