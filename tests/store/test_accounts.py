"""Accounts: who may use the web app, and how they prove it."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.store.command_setup import both
from threadline.core.account import (
    LINK_LASTS,
    LOGIN_LASTS,
    LOGINS_LIMIT,
    Account,
    AccountKey,
    AccountRole,
    LoginKey,
    PasskeyKey,
    TokenKey,
    TokenScope,
)
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.event import EventKind, fold
from threadline.store import Store
from threadline.store.accounts.accounts import list_accounts
from threadline.testing.clock import FakeClock

A_MOMENT = timedelta(seconds=1)


def hashed(n: int) -> str:
    """Make what stands for the hash of a secret."""
    return f"{n:064x}"


async def test_the_owner_is_there_as_soon_as_somebody_asks(store: Store) -> None:
    """Ten who ask at once are answered the same account."""
    owners = await asyncio.gather(*(store.owner_account() for _ in range(10)))

    assert len({owner.key for owner in owners}) == 1
    assert (owners[0].name, owners[0].role) == ("owner", AccountRole.OWNER)
    assert [account.key for account in await store.database.read(list_accounts)] == [owners[0].key]


@both
async def test_accounts_are_made_renamed_and_ended(store: Store) -> None:
    """Names are kept apart and clean; an ended account frees its name, and stays readable."""
    owner = await store.owner_account()
    ada = await store.make_account("  Ada\u200b \n Lovelace ", profile="work")
    assert (ada.name, ada.role, ada.profile) == ("Ada Lovelace", AccountRole.MEMBER, "work")
    for taken in ("Ada Lovelace", "owner", "Owner"):
        with pytest.raises(Conflict):
            await store.make_account(taken)
    with pytest.raises(Refused):
        await store.make_account("another", AccountRole.OWNER)
    for wrong in ("", " \u200b ", "\ud800"):
        with pytest.raises(Invalid):
            await store.make_account(wrong)
    assert (await store.rename_account(ada.key, "Countess")).name == "Countess"
    assert (await store.rename_account(owner.key, "Charles")).name == "Charles"
    assert (await store.owner_account()).key == owner.key
    with pytest.raises(Conflict):
        await store.rename_account(ada.key, "owner")
    assert (await store.rename_account(owner.key, "owner")).name == "owner"
    with pytest.raises(Refused):
        await store.end_account(owner.key)

    await store.end_account(ada.key)

    assert [account.key for account in await store.database.read(list_accounts)] == [owner.key]
    assert (await store.account(ada.key)).ended_at is not None
    for gone in (ada.key, AccountKey(999)):
        with pytest.raises(NotFound):
            await store.end_account(gone)
        with pytest.raises(NotFound):
            await store.rename_account(gone, "somebody")
        with pytest.raises(NotFound):
            await store.set_password(gone, "x")
    assert (await store.make_account("Countess")).key != ada.key


@both
async def test_ending_an_account_ends_everything_that_logs_in(store: Store) -> None:
    """Its login, token, link, passkey and password are worth nothing from then on."""
    ada = await store.make_account("ada")
    await store.begin_login(ada.key, hashed(1), "a browser")
    await store.make_token(ada.key, "script", [TokenScope.READ], hashed(2))
    await store.make_link(ada.key, hashed(3))
    await store.add_passkey(ada.key, "phone", credential=b"c", public_key=b"p")
    await store.set_password(ada.key, "$argon2id$")

    await store.end_account(ada.key)

    assert await store.find_login(hashed(1)) is None
    assert await store.find_token(hashed(2)) is None
    assert await store.find_passkey(b"c") is None
    assert await store.password_hash_of("ada") is None
    with pytest.raises(Refused):
        await store.use_link(hashed(3), hashed(4), "a browser")
    for began in (store.begin_login(ada.key, hashed(5), "x"), store.make_link(ada.key, hashed(6))):
        with pytest.raises(NotFound):
            await began


@both
async def test_a_password_is_found_by_name(store: Store) -> None:
    """Only its hash is kept, and only while there is one."""
    ada = await store.make_account("ada")
    assert await store.password_hash_of("ada") is None
    await store.set_password(ada.key, "$argon2id$one")

    found = await store.password_hash_of(" ada ")
    assert found is not None
    assert (found[0].key, found[0].has_password, found[1]) == (ada.key, True, "$argon2id$one")
    assert await store.password_hash_of("ADA") is None
    await store.set_password(ada.key, None)

    assert await store.password_hash_of("ada") is None
    assert not (await store.account(ada.key)).has_password


async def test_of_many_who_use_one_link_one_is_logged_in(open_store: OpenStore) -> None:
    """Also from two processes at once: the others are refused, and have no login."""
    one, other = await open_store(), await open_store()
    owner = await one.owner_account()
    await one.make_link(owner.key, hashed(1))

    tried = [
        store.use_link(hashed(1), hashed(10 + n), f"browser {n}")
        for n, store in enumerate([one, other] * 4)
    ]
    came = await asyncio.gather(*tried, return_exceptions=True)

    assert sum(isinstance(outcome, Refused) for outcome in came) == len(tried) - 1
    (login,) = await one.logins(owner.key)
    assert login in came


@both
async def test_a_link_is_over_soon_and_is_used_once(open_store: OpenStore) -> None:
    """One that was used, is over or never was is refused with the same words."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.make_link(owner.key, hashed(1))
    await store.make_link(owner.key, hashed(2))
    await store.use_link(hashed(1), hashed(10), "a browser")
    clock.advance(LINK_LASTS)

    said = set()
    for n in (1, 2, 3):
        with pytest.raises(Refused) as refused:
            await store.use_link(hashed(n), hashed(20 + n), "a browser")
        said.add(str(refused.value))

    assert len(said) == 1
    assert len(await store.logins(owner.key)) == 1


@both
async def test_whoever_comes_back_stays_logged_in(open_store: OpenStore) -> None:
    """The end slides on, and whoever stays away for too long has to log in again."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    login = await store.begin_login(owner.key, hashed(1), "Fire\r\nfox\u202e")
    assert login.device == "Fire fox"
    clock.advance(timedelta(seconds=59))
    await store.find_login(hashed(1))
    assert (await store.logins(owner.key))[0].seen_at == login.seen_at

    for _ in range(3):
        clock.advance(LOGIN_LASTS - timedelta(minutes=1))
        assert await store.find_login(hashed(1)) is not None
    (seen,) = await store.logins(owner.key)
    assert (seen.seen_at, seen.expires_at) == (clock(), clock() + LOGIN_LASTS)

    clock.advance(LOGIN_LASTS)
    assert await store.find_login(hashed(1)) is None
    assert await store.logins(owner.key) == []


@both
async def test_logins_are_ended_by_their_own_account_only(store: Store) -> None:
    """One, or all but the one in use; those of others are not even there."""
    owner, ada = await store.owner_account(), await store.make_account("ada")
    logins = [await store.begin_login(owner.key, hashed(n), "x") for n in range(1, 4)]
    with pytest.raises(NotFound):
        await store.end_login(logins[0].key, ada.key)
    await store.end_login(logins[0].key, owner.key)
    with pytest.raises(NotFound):
        await store.end_login(logins[0].key, owner.key)
    assert await store.find_login(hashed(1)) is None

    assert await store.end_logins(ada.key) == 0
    assert await store.end_logins(owner.key, but=logins[2].key) == 1
    assert [login.key for login in await store.logins(owner.key)] == [logins[2].key]
    assert await store.end_logins(owner.key) == 1


@both
async def test_an_account_has_only_so_many_logins(open_store: OpenStore) -> None:
    """One more logs out the browser that was not seen for longest."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    for n in range(LOGINS_LIMIT + 1):
        clock.advance(A_MOMENT)
        await store.begin_login(owner.key, hashed(n), f"browser {n}")

    assert len(await store.logins(owner.key)) == LOGINS_LIMIT
    assert await store.find_login(hashed(0)) is None
    assert await store.find_login(hashed(1)) is not None


@both
async def test_tokens_have_scopes_and_an_end(open_store: OpenStore) -> None:
    """A member's never administers; one that is over or revoked is found no more."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner, ada = await store.owner_account(), await store.make_account("ada")
    scopes = frozenset({TokenScope.READ, TokenScope.ADMIN})
    until = clock() + timedelta(days=1)
    token = await store.make_token(owner.key, "backup", scopes, hashed(1), until)
    assert (token.scopes, token.expires_at, token.used_at) == (scopes, until, None)
    with pytest.raises(Refused):
        await store.make_token(ada.key, "x", [TokenScope.ADMIN], hashed(2))
    for wrong in ([], ["everything"]):
        with pytest.raises(Invalid):
            await store.make_token(ada.key, "x", wrong, hashed(2))  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        await store.make_token(ada.key, "x", [TokenScope.READ], hashed(2), clock())

    assert await store.find_token(hashed(1)) is not None
    assert (await store.tokens(owner.key))[0].used_at == clock()
    clock.advance(timedelta(days=1))
    assert await store.find_token(hashed(1)) is None
    with pytest.raises(NotFound):
        await store.end_token(token.key, ada.key)
    await store.end_token(token.key, owner.key)
    assert await store.tokens(owner.key) == []


@both
async def test_passkeys_are_counted_and_belong_to_one(store: Store) -> None:
    """A count that does not rise shows a copy; one that never counts is taken as it is."""
    owner, ada = await store.owner_account(), await store.make_account("ada")
    key = await store.add_passkey(
        owner.key, "phone", credential=b"\0\xff", public_key=b"\1", sign_count=3
    )
    with pytest.raises(Conflict):
        await store.add_passkey(ada.key, "phone", credential=b"\0\xff", public_key=b"\1")
    still = await store.add_passkey(ada.key, "laptop", credential=b"l", public_key=b"\2")
    found = await store.find_passkey(b"\0\xff")
    assert found is not None
    assert (found.account.key, found.public_key, found.sign_count) == (owner.key, b"\1", 3)

    await store.use_passkey(key.key, 4)
    with pytest.raises(Refused):
        await store.use_passkey(key.key, 4)
    await store.use_passkey(still.key, 0)
    await store.use_passkey(still.key, 0)

    with pytest.raises(NotFound):
        await store.delete_passkey(key.key, ada.key)
    await store.delete_passkey(key.key, owner.key)
    assert await store.passkeys(owner.key) == []
    assert await store.find_passkey(b"\0\xff") is None


@both
async def test_tries_are_counted_until_they_are_forgiven(open_store: OpenStore) -> None:
    """Each guesser by themselves, within a span; what was right counts for nobody."""
    clock, span = FakeClock(), timedelta(minutes=15)
    store = await open_store(clock=clock)
    first = await store.count_try({"ada": 3, "here": 9}, span)
    assert first is not None
    assert first.keys() == {"ada", "here"}
    clock.advance(timedelta(minutes=1))
    for _ in range(2):
        assert await store.count_try({"ada": 3, "here": 9}, span) is not None
    assert await store.count_try({"ada": 3, "here": 9}, span) is None
    assert await store.count_try({"ada": 3}, timedelta(minutes=1)) is not None, "the first is old"

    await store.forgive(first, "ada")
    assert await store.count_try({"ada": 1, "here": 3}, span) is not None
    assert await store.count_try({"here": 3}, span) is None, "of the address one try was right"
    clock.advance(span)
    assert await store.count_try({"ada": 1, "here": 1}, span) is not None


async def test_tries_from_many_processes_are_counted_together(open_store: OpenStore) -> None:
    """However many try at once and wherever, no more get through than may."""
    stores = [await open_store() for _ in range(3)]
    tries = await asyncio.gather(
        *(
            store.count_try({f"name {n % 2}": 5, "here": 6}, timedelta(minutes=15))
            for n, store in enumerate(stores * 6)
        )
    )
    assert sum(one is not None for one in tries) == 6


@both
async def test_no_secret_is_taken_for_its_hash(store: Store) -> None:
    """What is not a hash is refused, and the error does not repeat it."""
    owner = await store.owner_account()
    for secret in ("tl_very-secret", hashed(1).upper() + "A", hashed(1) + "\n", ""):
        for tried in (
            store.make_link(owner.key, secret),
            store.begin_login(owner.key, secret, "x"),
            store.make_token(owner.key, "x", [TokenScope.READ], secret),
            store.find_login(secret),
            store.find_token(secret),
        ):
            with pytest.raises(Invalid) as refused:
                await tried
            assert secret == "" or secret not in str(refused.value)


@both
async def test_the_feed_tells_of_accounts(store: Store) -> None:
    """Whatever a screen of accounts shows is told, without a session and without a secret."""
    cursor = await store.feed.end()
    ada = await store.make_account("ada")
    await store.rename_account(ada.key, "ada")
    await store.rename_account(ada.key, "countess")
    login = await store.begin_login(ada.key, hashed(1), "x")
    await store.find_login(hashed(1))
    await store.end_login(login.key, ada.key)
    token = await store.make_token(ada.key, "x", [TokenScope.READ], hashed(2))
    await store.end_token(token.key, ada.key)
    await store.end_account(ada.key)

    events = (await store.feed.read(cursor)).events
    assert [event.kind for event in events] == [EventKind.ACCOUNT_CHANGED] * 7
    assert {(event.session_id, event.subject) for event in events} == {(None, ada.key)}
    assert fold({}, events) == {}


@both
async def test_nothing_is_known_by_keys_of_nobody(store: Store) -> None:
    """Garbage is refused, and what is not there is not found."""
    owner = await store.owner_account()
    with pytest.raises(NotFound):
        await store.account(AccountKey(77))
    with pytest.raises(NotFound):
        await store.end_login(LoginKey(77), owner.key)
    with pytest.raises(NotFound):
        await store.end_token(TokenKey(77), owner.key)
    with pytest.raises(NotFound):
        await store.delete_passkey(PasskeyKey(77), owner.key)
    with pytest.raises(Refused):
        await store.use_passkey(PasskeyKey(77), 1)
    for wrong in (0, -1, 2**70, True, "1", None):
        with pytest.raises(Invalid):
            await store.account(wrong)  # type: ignore[arg-type]


@both
async def test_members_speak_for_themselves(store: Store) -> None:
    """Each account has a chat and a name of its own, and sees what is said there alone."""
    owner, ada = await store.owner_account(), await store.make_account("ada")
    assert speaker(owner) == ("owner", "terminal", True)
    assert speaker(ada) == (f"account-{ada.key}", f"account-{ada.key}", False)


def speaker(account: Account) -> tuple[str | None, str, bool]:
    """Tell as whom and where somebody speaks, and whether they see everything."""
    return account.sender.id, account.chat, account.asker().sees_all
