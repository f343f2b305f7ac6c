"""What belongs to no session is told in the feed as well."""

from threadline.core.address import Address, Kind, Sender
from threadline.core.event import EventKind, fold
from threadline.core.gateway_status import PlatformHealth, PlatformState
from threadline.core.inbound import Inbound
from threadline.core.person import Identity
from threadline.store import Store, gateways
from threadline.store.gateways import note_settings, register_gateway, unregister_gateway

ADA = Sender(id="ada", name="Ada")
HOME = Address(platform="telegram", kind=Kind.DM, chat="ada")


async def test_the_feed_tells_of_access_homes_and_gateways(store: Store) -> None:
    """Whoever follows hears who asks and is let in, where home is, and who serves, and how."""
    cursor = await store.feed.end()
    shown = await store.people.request_pairing("telegram", ADA)
    assert shown is not None
    grant = await store.people.approve_pairing(shown.code)
    await store.people.revoke(grant.identity)
    assert not await store.people.revoke(grant.identity)
    await store.deliveries.set_home(HOME)
    well = PlatformHealth(state=PlatformState.UP, since=store.now())
    ill = PlatformHealth(state=PlatformState.DOWN, since=store.now(), error="no route")
    await store.database.write(
        register_gateway,
        owner=store.database.owner,
        host="here",
        pid=1,
        version="1",
        url=None,
        platforms={"telegram": well},
    )
    await gateways.beat(store.database, {"telegram": well})
    await gateways.beat(store.database, {"telegram": ill})
    await gateways.beat(store.database, {"telegram": ill})
    await store.database.write(unregister_gateway, owner=store.database.owner)
    await store.database.write(unregister_gateway, owner=store.database.owner)

    events = (await store.feed.read(cursor)).events
    assert [event.kind for event in events] == [
        *[EventKind.ACCESS_CHANGED] * 3,
        EventKind.HOME_CHANGED,
        *[EventKind.GATEWAY_CHANGED] * 3,
    ]
    assert {event.session_id for event in events} == {None}
    assert fold({}, events) == {}


async def test_the_feed_tells_what_goes_with_somebody(store: Store) -> None:
    """A sender who is forgotten is let in no longer, and a chat of theirs is no home any more."""
    who = Identity(platform="telegram", id="ada")
    hello = Inbound.text("hello", address=HOME, sender=ADA, at=store.now(), message_id="1")
    await store.receive(hello)
    await store.people.allow(who)
    await store.deliveries.set_home(HOME)
    cursor = await store.feed.end()
    await store.people.delete(who)

    kinds = [event.kind for event in (await store.feed.read(cursor)).events]
    assert kinds.count(EventKind.ACCESS_CHANGED) == 1
    assert kinds.count(EventKind.HOME_CHANGED) == 1
    assert await store.deliveries.homes() == {}


async def test_the_feed_tells_of_people(store: Store) -> None:
    """Whoever shows a list of them hears when two become one, have another name, and part."""
    one, other = (Identity(platform="telegram", id=id) for id in ("ada", "eve"))
    for who in (one, other):
        place = Address(platform="telegram", kind=Kind.DM, chat=who.id)
        hello = Inbound.text("hello", address=place, sender=Sender(id=who.id), at=store.now())
        await store.receive(hello)
    cursor = await store.feed.end()

    person = await store.join(one, other)
    await store.rename_person(person.key, "Ada")
    await store.part(other)
    assert await store.part(other) is None

    events = (await store.feed.read(cursor)).events
    assert [event.kind for event in events] == [EventKind.PERSON_CHANGED] * 3
    assert {(event.session_id, event.subject) for event in events} == {(None, person.key)}


async def test_the_feed_tells_that_somebody_is_forgotten_who_was_several(store: Store) -> None:
    """The list of people is shorter then."""
    one, other = (Identity(platform="telegram", id=id) for id in ("ada", "eve"))
    for who in (one, other):
        place = Address(platform="telegram", kind=Kind.DM, chat=who.id)
        hello = Inbound.text("hello", address=place, sender=Sender(id=who.id), at=store.now())
        await store.receive(hello)
    await store.join(one, other)
    cursor = await store.feed.end()

    await store.people.delete(one)

    kinds = [event.kind for event in (await store.feed.read(cursor)).events]
    assert EventKind.PERSON_CHANGED in kinds
    assert await store.people.list() == []


async def test_the_feed_tells_of_settings(store: Store) -> None:
    """They stand in a file, but whoever shows them follows the feed."""
    cursor = await store.feed.end()
    await store.database.write(note_settings)

    (event,) = (await store.feed.read(cursor)).events
    assert (event.kind, event.session_id) == (EventKind.SETTINGS_CHANGED, None)
