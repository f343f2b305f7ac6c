"""Shared pages: made once, read by whoever knows the address, and gone when they should be."""

import asyncio

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.store.command_setup import both
from tests.store.people_setup import ALICE, BOB, GROUP, SHARED, says, talk
from threadline.core.account import KnownRequest, ShareId, TokenScope
from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.session_patch import SessionPatch
from threadline.store import Store
from threadline.store.accounts.accounts import list_accounts
from threadline.store.accounts.idempotency import find_outcome
from threadline.store.integrity import check_laws
from threadline.testing.feed_checker import FeedWitness

PAGE = "<!doctype html><p>hello</p>"
ONE, OTHER = ShareId("one"), ShareId("other")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@both
async def test_a_page_is_read_until_it_is_revoked(store: Store) -> None:
    """It stays as it was made, whatever is said later; revoked, nothing of it is kept."""
    id, owner = await talk(store, ALICE, "hello"), await store.owner_account()
    witness = FeedWitness(store)
    await witness.verify([id])
    share = await store.make_share(id, ONE, PAGE, by=owner.actor)
    assert (share.session_id, share.title, share.size) == (id, "hello", len(PAGE))
    await talk(store, ALICE, "more")
    await store.sessions.update(id, SessionPatch(title="another title"))

    assert await store.read_share(ONE) == PAGE
    assert (await store.shares(id))[0].title == "hello"
    assert await store.shares() == await store.shares(id)
    assert await store.revoke_share(ONE)
    assert not await store.revoke_share(ONE)

    assert await store.read_share(ONE) is None
    gone = await store.share(ONE)
    assert (gone.revoked_at is not None, gone.size) == (True, 0)
    events = await witness.verify([id])
    assert [event.kind for event in events].count(EventKind.SHARE_CHANGED) == 2


@both
async def test_an_address_is_given_once(store: Store) -> None:
    """Of two pages with one address one is refused, and neither takes the other's place."""
    id, other = await talk(store, ALICE, "hello"), await talk(store, BOB, "hi")
    made = await asyncio.gather(
        store.make_share(id, ONE, PAGE),
        store.make_share(other, ONE, "another page"),
        return_exceptions=True,
    )
    assert sorted(type(share).__name__ for share in made) == ["Conflict", "Share"]
    assert isinstance(made[0], Conflict) or isinstance(made[1], Conflict)
    await store.revoke_share(ONE)
    with pytest.raises(Conflict):
        await store.make_share(id, ONE, PAGE)


@both
async def test_what_is_not_shared_is_not_found(store: Store) -> None:
    """Neither pages nor sessions that are not there; the error does not repeat the address."""
    id = await talk(store, ALICE, "hello")
    assert await store.read_share(ONE) is None
    for asked in (store.share(ONE), store.revoke_share(ONE)):
        with pytest.raises(NotFound) as missing:
            await asked
        assert ONE not in str(missing.value)
    with pytest.raises(NotFound):
        await store.make_share(SessionId("20200101_000000_00000000"), ONE, PAGE)
    with pytest.raises(NotFound):
        await store.shares(SessionId("20200101_000000_00000000"))
    for bad in ("x" * 256, "\0"):
        with pytest.raises(Invalid):
            await store.read_share(ShareId(bad))
    assert await store.shares(id) == []


@both
async def test_pages_go_with_their_session(store: Store) -> None:
    """Also those of a branch that shows the same lines, and answers that tell of them."""
    owner = await store.owner_account()
    id = await talk(store, ALICE, "hello", "more")
    branch = (await store.transcripts.branch(id)).id
    other = await talk(store, BOB, "hi")
    for n, shared in enumerate((id, branch, other)):
        await store.make_share(shared, ShareId(f"share-{n}"), PAGE)
        request = KnownRequest(
            account=owner.key, key=f"k{n}", request_hash="1" * 64, session_id=shared
        )
        await store.claim_outcome(request, "mine")
        await store.keep_outcome(request, "mine", 201, f'{{"session": "{shared}"}}')

    certificate = await store.sessions.delete(id)

    assert certificate.counts["shares"] == 2
    pages = [await store.read_share(ShareId(f"share-{n}")) for n in range(3)]
    assert pages == [None, None, PAGE]
    kept = [await store.database.read(find_outcome, owner.key, f"k{n}") for n in range(3)]
    told = [outcome.answer for outcome in kept if outcome is not None]
    assert told == ["", "", f'{{"session": "{other}"}}']
    assert [share.session_id for share in await store.shares()] == [other]


@both
async def test_pages_go_with_what_somebody_said_there(open_store: OpenStore) -> None:
    """A page of a conversation of several goes as a whole when one of them is forgotten."""
    store = await open_store(rules=SHARED)
    group = await talk(store, ALICE, "hello", at=GROUP)
    await talk(store, BOB, "hi", at=GROUP)
    his = await talk(store, BOB, "alone")
    await store.make_share(group, ONE, PAGE)
    await store.make_share(his, OTHER, PAGE)

    await store.people.delete(Identity(platform="telegram", id="alice"))

    assert await store.read_share(ONE) is None
    assert await store.read_share(OTHER) == PAGE


@both
async def test_a_forgotten_member_has_no_account(store: Store) -> None:
    """It ends with all that logs in, and nothing is left of its name; the owner's stays."""
    owner, ada = await store.owner_account(), await store.make_account("Ada Lovelace")
    for n, account in enumerate((owner, ada)):
        await store.begin_login(account.key, f"{n:064x}", "a browser")
        await store.make_token(account.key, "script", [TokenScope.READ], f"{n:064x}")
        place, who = account.place("t"), account.sender
        await store.receive(Inbound.text("hello", address=place, sender=who, at=store.now()))
    await store.note_audit(ada.actor, "share.made", "x")

    certificate = await store.people.delete(Identity(platform="local", id=f"account-{ada.key}"))
    assert certificate.counts["accounts"] == 1
    assert [account.key for account in await store.database.read(list_accounts)] == [owner.key]
    assert "Ada" not in (await store.account(ada.key)).name
    assert "Ada" not in (await store.audit())[0].account
    assert await store.find_login(f"{1:064x}") is None

    certificate = await store.people.delete(Identity(platform="local", id="owner"))
    assert "accounts" not in certificate.counts
    assert await store.find_login(f"{0:064x}") is not None


@both
async def test_the_doctor_finds_what_should_be_worth_nothing(
    database_factory: DatabaseFactory,
) -> None:
    """A login of an ended account, and a page that was revoked and not emptied."""
    database = await database_factory()
    store = Store(database)
    ada, id = await store.make_account("ada"), await says(store, ALICE, "hello")
    await store.begin_login(ada.key, "1" * 64, "x")
    await store.make_share(id, ONE, PAGE)
    assert await database.read(check_laws) == []

    database_factory.tamper("UPDATE accounts SET ended_at = 1")
    database_factory.tamper("UPDATE shares SET revoked_at = 1")

    found = [finding.what for finding in await database.read(check_laws)]
    assert any(f"account {ada.key}: a login or a token" in what for what in found)
    assert any(f"{id}: a page that can be read" in what for what in found)
