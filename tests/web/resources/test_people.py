"""People, pairing, platforms and profiles over HTTP: the owner's business alone."""

import json
from itertools import product

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import Callers, calling
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import SendOutcome
from threadline.core.gateway_status import ServerHealth, ServerState
from threadline.core.inbound import Inbound
from threadline.platforms.simulated import Simulated
from threadline.store import Store, gateways
from threadline.store.gateways import register_gateway

JSON = {"Content-Type": "application/json"}
OWNERS = (
    ("GET", "/api/people"),
    ("GET", "/api/people/senders"),
    ("GET", "/api/people/forgettings"),
    ("POST", "/api/people/forgettings/plan"),
    ("POST", "/api/people/forgettings"),
    ("POST", "/api/people/join"),
    ("POST", "/api/people/part"),
    ("GET", "/api/people/1"),
    ("PATCH", "/api/people/1"),
    ("GET", "/api/pairing/waiting"),
    ("POST", "/api/pairing/approve"),
    ("GET", "/api/pairing/grants"),
    ("POST", "/api/pairing/grants"),
    ("DELETE", "/api/pairing/grants?sender=telegram:1"),
    ("GET", "/api/platforms"),
    ("GET", "/api/platforms/homes"),
    ("GET", "/api/platforms/dead"),
    ("GET", "/api/deliveries/lost"),
    ("POST", "/api/imports"),
)


async def speak(call: Callers, *ids: str) -> None:
    """Let some people write from a chat."""
    for id in ids:
        await call.store.receive(
            Inbound.text(
                "hello",
                address=Address(platform="telegram", kind=Kind.DM, chat=id),
                sender=Sender(id=id, name=id.title()),
                at=call.store.now(),
                message_id=id,
            )
        )


@on(FAST)
async def test_only_an_owner_administers(store: Store) -> None:
    """Nobody is told to log in; a member and a token without the scope are refused."""
    async with calling(store) as call:
        for method, path in OWNERS:
            asked = {}
            for name in ("nobody", "member", "reader"):
                client = getattr(call, name)
                asked[name] = (await client.request(method, path, json={})).status_code
            assert asked == {"nobody": 401, "member": 403, "reader": 403}, path


@on(FAST, POSTGRES)
async def test_senders_are_joined_renamed_and_parted(store: Store) -> None:
    """One person of two senders, and two again."""
    async with calling(store) as call:
        await speak(call, "ada", "eve")
        wish = {"one": "telegram:ada", "other": "telegram:eve"}
        person = (await call.owner.post("/api/people/join", json=wish)).json()
        assert [one["sender"] for one in person["senders"]] == ["telegram:ada", "telegram:eve"]

        path = f"/api/people/{person['key']}"
        seen = {"If-Match": f'"{person["revision"]}"'}
        blind = await call.owner.patch(path, json={"name": "Ada L."})
        named = await call.owner.patch(path, json={"name": "Ada L."}, headers=seen)
        stale = await call.owner.patch(path, json={"name": "Eve"}, headers=seen)
        assert (blind.status_code, stale.status_code) == (428, 412)
        assert named.json()["name"] == "Ada L."
        assert (await call.owner.get(path)).json() == named.json()
        assert (await call.owner.get("/api/people")).json()["items"] == [named.json()]

        parted = await call.owner.post("/api/people/part", json={"sender": "telegram:eve"})
        assert parted.json()["parted"] is True
        again = await call.owner.post("/api/people/part", json={"sender": "telegram:eve"})
        assert again.json() == {"parted": False, "ended": []}
        acts = [entry.act for entry in await store.audit()]
        assert acts == ["person.parted", "person.renamed", "person.joined"]


@on(FAST)
async def test_senders_are_listed_page_by_page(store: Store) -> None:
    """The next page begins where this one ended, and the last one says so."""
    async with calling(store) as call:
        await speak(call, "ada", "bob", "eve")
        first = (await call.owner.get("/api/people/senders?most=2")).json()
        rest = (await call.owner.get(f"/api/people/senders?after={first['next']}")).json()
        names = [one["name"] for one in (*first["items"], *rest["items"])]
        assert (names, rest["next"]) == (["Ada", "Bob", "Eve"], None)


@on(FAST)
async def test_a_place_that_no_page_named_is_refused(store: Store) -> None:
    """Garbage is a mistake of the caller, not of the server."""
    paths = ("/api/people", "/api/people/senders", "/api/deliveries/lost", "/api/jobs")
    async with calling(store) as call:
        for path, place in product(paths, ["x", "-1", "9" * 30, "1;DROP", "\u0663"]):
            answer = await call.owner.get(path, params={"after": place})
            assert answer.status_code == 422, (path, place)
        beyond = await call.owner.get("/api/deliveries/lost?after=999999999999999999-1")
        assert beyond.status_code == 422


@on(FAST, POSTGRES)
async def test_a_person_is_forgotten_after_a_look_at_the_plan(store: Store) -> None:
    """The plan changes nothing; the certificate holds no name, nor does the audit."""
    async with calling(store) as call:
        await speak(call, "ada")
        wish = {"sender": "telegram:ada"}
        plan = (await call.owner.post("/api/people/forgettings/plan", json=wish)).json()
        assert (len(plan["sessions"]), plan["senders"]) == (1, 1)
        assert (await call.owner.get("/api/people/senders")).json()["items"]

        done = (await call.owner.post("/api/people/forgettings", json=wish)).json()
        assert done["state"] == "done"
        assert (await call.owner.get("/api/people/senders")).json()["items"] == []
        listed = (await call.owner.get("/api/people/forgettings")).json()["items"]
        assert listed == [done]
        (entry,) = await store.audit()
        assert (entry.act, entry.subject) == ("person.forgotten", str(done["id"]))


@on(FAST)
async def test_a_sender_that_is_none_is_refused(store: Store) -> None:
    """Whatever is written in their place."""
    paths = ("/api/people/part", "/api/people/forgettings/plan", "/api/pairing/grants")
    odd = ["nobody", ":", "a:", ":b", "\u0000:x", "\ud800:x", "x" * 700]
    async with calling(store) as call:
        for path, sender in product(paths, odd):
            body = json.dumps({"sender": sender})
            answer = await call.owner.post(path, content=body, headers=JSON)
            assert answer.status_code == 422, (path, sender)
            assert answer.headers["content-type"] == "application/problem+json"


@on(FAST, POSTGRES)
async def test_a_stranger_is_let_in_by_code(store: Store) -> None:
    """They wait, are approved once, and are shown the door again."""
    async with calling(store) as call:
        shown = await store.people.request_pairing("telegram", Sender(id="ada", name="Ada"))
        assert shown is not None
        (waiting,) = (await call.owner.get("/api/pairing/waiting")).json()["items"]
        assert waiting["sender"] == "telegram:ada"
        assert shown.code not in str(waiting)

        wrong = await call.owner.post("/api/pairing/approve", json={"code": "22222222"})
        assert wrong.status_code == 403
        key = {"Idempotency-Key": "let-ada-in"}
        wish = {"code": shown.code}
        answers = [
            await call.owner.post("/api/pairing/approve", json=wish, headers=key) for _ in range(2)
        ]
        assert [one.status_code for one in answers] == [201, 201]
        assert answers[0].json() == answers[1].json()
        (grant,) = (await call.owner.get("/api/pairing/grants")).json()["items"]
        assert grant == answers[0].json()

        gone = await call.owner.delete("/api/pairing/grants", params={"sender": "telegram:ada"})
        assert gone.status_code == 204
        again = await call.owner.delete("/api/pairing/grants", params={"sender": "telegram:ada"})
        assert again.status_code == 404
        acts = {entry.act for entry in await store.audit()}
        assert acts == {"pairing.approved", "pairing.revoked"}


@on(FAST)
async def test_somebody_is_let_in_without_a_code_in_one_profile(store: Store) -> None:
    """The other profile knows nothing of it."""
    async with calling(store) as call:
        wish = {"sender": "telegram:7", "name": "Seven"}
        made = await call.owner.post("/api/pairing/grants?profile=work", json=wish)
        assert (made.status_code, made.json()["name"]) == (201, "Seven")
        assert (await call.owner.get("/api/pairing/grants")).json()["items"] == []
        work = await call.owner.get("/api/pairing/grants?profile=work")
        assert work.json()["items"] == [made.json()]


@on(FAST)
async def test_platforms_tell_how_they_are(store: Store) -> None:
    """What they can do, who serves, where unasked words go, and where nothing can be sent."""
    async with calling(store, Simulated("telegram")) as call:
        home = Address(platform="telegram", kind=Kind.DM, chat="9", chat_name="Me")
        await store.deliveries.set_home(home)
        await store.database.write(
            register_gateway,
            owner=store.database.owner,
            host="h",
            pid=1,
            version="1",
            url=None,
            platforms={},
        )
        health = ServerHealth(state=ServerState.UP, since=store.now(), tools=13)
        await gateways.beat(store.database, {}, servers={"notes": health})
        await store.deliveries.create(Address(platform="telegram", kind=Kind.DM, chat="x"), "hi")
        (parcel,) = await store.deliveries.lease()
        await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "blocked")

        told = (await call.owner.get("/api/platforms")).json()
        (platform,) = told["platforms"]
        assert (platform["name"], platform["home"]["chat"]) == ("telegram", "9")
        assert platform["can"]["text_limit"] > 0
        assert [one["host"] for one in told["gateways"]] == ["h"]
        (server,) = told["gateways"][0]["servers"]
        assert (server["name"], server["state"], server["tools"]) == ("notes", "up", 13)
        assert told["load"]["owed"] == 0
        homes = (await call.owner.get("/api/platforms/homes")).json()["items"]
        assert [(one["platform"], one["place"]["name"]) for one in homes] == [("telegram", "Me")]
        (dead,) = (await call.owner.get("/api/platforms/dead")).json()["items"]
        assert (dead["place"]["chat"], dead["why"]) == ("x", "blocked")
        (lost,) = (await call.owner.get("/api/deliveries/lost")).json()["items"]
        assert (lost["state"], lost["error"]) == ("failed", "blocked")


@on(FAST)
async def test_deliveries_of_a_session_are_seen_by_its_people(store: Store) -> None:
    """Another member is not told that it exists."""
    async with calling(store) as call:
        await speak(call, "ada")
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease, [])
        id = await call.talk("member")
        for client, status in ((call.member, 200), (call.owner, 200), (call.other, 404)):
            answer = await client.get("/api/deliveries", params={"session": id})
            assert answer.status_code == status
        stray = await call.member.get("/api/deliveries", params={"session": claim.turn.session_id})
        assert stray.status_code == 404
        assert (await call.member.get("/api/deliveries")).status_code == 422


@on(FAST)
async def test_profiles_are_told_as_far_as_they_concern_somebody(store: Store) -> None:
    """An owner sees those in use; who belongs to one sees that one."""
    async with calling(store) as call:
        await store.receive(
            Inbound.text(
                "hello",
                address=Address(platform="telegram", kind=Kind.DM, chat="1"),
                sender=Sender(id="1"),
                at=store.now(),
                message_id="1",
                profile="work",
            )
        )
        for client, names in ((call.owner, ["main", "work"]), (call.member, ["main"])):
            items = (await client.get("/api/profiles")).json()["items"]
            assert [one["name"] for one in items] == names
        assert (await call.nobody.get("/api/profiles")).status_code == 401
