"""What belongs to no session is told in the feed as well."""

from threadline.core.address import Address, Kind, Sender
from threadline.core.event import EventKind, fold
from threadline.core.inbound import Inbound
from threadline.core.person import Identity
from threadline.sessions.store import Store

ADA = Sender(id="ada", name="Ada")
HOME = Address(platform="telegram", kind=Kind.DM, chat="ada")


async def test_the_feed_tells_of_access_homes_and_gateways(store: Store) -> None:
    """Whoever follows hears who asks and is let in, where home is, and who serves; no beats."""
    cursor = await store.feed_end()
    shown = await store.ask_pairing("telegram", ADA)
    assert shown is not None
    grant = await store.approve_pairing(shown.code)
    await store.revoke(grant.identity)
    assert not await store.revoke(grant.identity)
    await store.set_home(HOME)
    await store.enrol(host="here", pid=1, version="1", platforms={})
    await store.beat({})
    await store.leave()
    await store.leave()

    events = (await store.events(cursor)).events
    assert [event.kind for event in events] == [
        *[EventKind.ACCESS_CHANGED] * 3,
        EventKind.HOME_CHANGED,
        *[EventKind.GATEWAY_CHANGED] * 2,
    ]
    assert {event.session_id for event in events} == {None}
    assert fold({}, events) == {}


async def test_the_feed_tells_what_goes_with_somebody(store: Store) -> None:
    """A sender who is forgotten is let in no longer, and a chat of theirs is no home any more."""
    who = Identity(platform="telegram", id="ada")
    hello = Inbound.text("hello", address=HOME, sender=ADA, at=store.now(), message_id="1")
    await store.arrive(hello)
    await store.allow(who)
    await store.set_home(HOME)
    cursor = await store.feed_end()
    await store.forget_person(who)

    kinds = [event.kind for event in (await store.events(cursor)).events]
    assert kinds.count(EventKind.ACCESS_CHANGED) == 1
    assert kinds.count(EventKind.HOME_CHANGED) == 1
    assert await store.homes() == {}
