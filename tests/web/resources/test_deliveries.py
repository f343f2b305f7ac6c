"""Deliveries over the API: what never arrived is tried again by those who may see it."""

from tests.databases import FAST, POSTGRES, on
from tests.web.resources.callers import calling
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import DeliveryId, SendOutcome
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.store import Store

CHAT = Address(platform="telegram", kind=Kind.DM, chat="ada")


async def lose(store: Store, outcome: SendOutcome) -> DeliveryId:
    """Let an answer to Ada be lost; answer its number."""
    said = Inbound.text("hi", address=CHAT, sender=Sender(id="ada"), at=store.now())
    await store.receive(said)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    (parcel,) = await store.deliveries.lease()
    await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "blocked")
    if outcome is SendOutcome.AMBIGUOUS:
        await store.deliveries.resend(parcel.delivery.id)
        (parcel,) = await store.deliveries.lease()
        await store.deliveries.record_failure(parcel.delivery, outcome, "no answer")
    return parcel.delivery.id


@on(FAST, POSTGRES)
async def test_a_lost_answer_is_tried_again(store: Store) -> None:
    """It is pending under its number; while it is, nobody can ask for it once more."""
    async with calling(store) as callers:
        id = await lose(store, SendOutcome.DEAD)
        (listed,) = (await callers.owner.get("/api/deliveries/lost")).json()["items"]
        again = await callers.owner.post(f"/api/deliveries/{id}/retry")
        twice = await callers.owner.post(f"/api/deliveries/{id}/retry")
        lost = (await callers.owner.get("/api/deliveries/lost")).json()["items"]

    assert (listed["id"], listed["is_doubtful"]) == (id, False)
    assert (again.status_code, again.json()["id"], again.json()["state"]) == (200, id, "pending")
    assert (twice.status_code, lost) == (409, [])


@on(FAST)
async def test_what_never_arrived_is_asked_for_by_its_state(store: Store) -> None:
    """Several states can be named; one that does not exist is a mistake."""
    async with calling(store) as callers:
        id = await lose(store, SendOutcome.DEAD)
        session = (await callers.owner.get("/api/deliveries/lost")).json()["items"][0]["session"]
        found = {
            states: (await callers.owner.get(f"/api/deliveries?session={session}{states}")).json()
            for states in ("", "&state=sent", "&state=failed&state=abandoned")
        }
        odd = await callers.owner.get(f"/api/deliveries?session={session}&state=late")

    listed = [[one["id"] for one in page["items"]] for page in found.values()]
    assert listed == [[id], [], [id]]
    assert odd.status_code == 422


@on(FAST)
async def test_what_may_have_arrived_says_so(store: Store) -> None:
    """Whoever tries again is told that it may be a repeat."""
    async with calling(store) as callers:
        id = await lose(store, SendOutcome.AMBIGUOUS)
        again = (await callers.owner.post(f"/api/deliveries/{id}/retry")).json()

    assert (again["state"], again["is_doubtful"]) == ("pending", True)


@on(FAST)
async def test_only_who_sees_it_tries_again(store: Store) -> None:
    """Members are not told that it exists, nor that words of no conversation do."""
    async with calling(store) as callers:
        id = await lose(store, SendOutcome.DEAD)
        words = await store.deliveries.create(CHAT, "psst")
        (parcel,) = await store.deliveries.lease()
        await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "blocked")
        answers = [
            (await client.post(f"/api/deliveries/{one}/retry")).status_code
            for client in (callers.member, callers.reader, callers.owner)
            for one in (id, words, 999)
        ]

    assert answers == [404, 404, 404, 403, 403, 403, 200, 409, 404]
