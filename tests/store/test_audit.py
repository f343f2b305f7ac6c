"""Acts that are written down: in the transaction that does them, or they are not done."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import both, open_desk
from tests.store.people_setup import ALICE, BOB, dm, talk
from threadline.core.account import AccountKey, Actor, ShareId, TokenScope
from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.core.job import NewJob
from threadline.core.person import Identity, Viewer
from threadline.core.session_patch import SessionPatch
from threadline.store import Store
from threadline.store.jobs.jobs import JobChange

NOBODY = Actor(account=AccountKey(77))
"""Of whom no act can be written down, as there is no such account."""
ONE, OTHER = (Identity(platform="telegram", id=who) for who in ("alice", "bob"))


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@both
async def test_acts_are_written_down_and_read_backwards(store: Store) -> None:
    """Page by page, with the name of whoever acted; at the terminal nobody has a name."""
    ada = await store.make_account("ada")
    for n in range(5):
        await store.note_audit(ada.actor, "token.made", f"token\r\n {n}", "read")
    await store.note_audit(Actor(), "account.made", "ada")
    await store.rename_account(ada.key, "countess")

    first = await store.audit(most=2)
    assert [(entry.account, entry.act, entry.subject) for entry in first] == [
        ("", "account.made", "ada"),
        ("countess", "token.made", "token 4"),
    ]
    rest = await store.audit(before=first[-1].id)
    assert [entry.subject for entry in rest] == [f"token {n}" for n in (3, 2, 1, 0)]
    assert await store.audit(before=rest[-1].id) == []


async def acts(store: Store, by: Actor | None) -> AsyncIterator[Callable[[], Awaitable[object]]]:
    """Give every act that is written down, each possible after those before it."""
    shared, whole = await talk(store, ALICE, "hello"), await talk(store, BOB, "hi")
    ada = await store.make_account("ada")
    login = await store.begin_login(ada.key, "1" * 64, "x")
    token = await store.make_token(ada.key, "x", [TokenScope.READ], "2" * 64)
    key = await store.add_passkey(ada.key, "phone", credential=b"c", public_key=b"p")
    await store.make_share(shared, ShareId("made"), "page")
    shown = await store.people.request_pairing("telegram", ALICE)
    assert shown is not None
    equipped = SessionPatch(title="x", tools=("ls",), workspace="/tmp")
    new = NewJob(prompt="What is new?", schedule="every day 9:00")
    job = (await store.jobs.create(new, Viewer(address=dm(ALICE), sender=ALICE))).id
    yield lambda: store.sessions.update(shared, equipped, by=by)
    yield lambda: store.jobs.update(job, JobChange(name="News"), by=by)
    yield lambda: store.jobs.pause(job, by=by)
    await store.jobs.pause(job)
    yield lambda: store.jobs.resume(job, by=by)
    yield lambda: store.jobs.delete(job, by=by)
    yield lambda: store.make_account("Bob", by=by)
    yield lambda: store.rename_account(ada.key, "Ada L.", by=by)
    yield lambda: store.make_link(ada.key, "3" * 64, by=by)
    yield lambda: store.end_login(login.key, ada.key, by=by)
    await store.begin_login(ada.key, "4" * 64, "x")
    yield lambda: store.end_logins(ada.key, by=by)
    yield lambda: store.set_password(ada.key, "$argon2id$", by=by)
    yield lambda: store.set_password(ada.key, None, by=by)
    yield lambda: store.make_token(ada.key, "y", [TokenScope.READ], "5" * 64, by=by)
    yield lambda: store.end_token(token.key, ada.key, by=by)
    yield lambda: store.add_passkey(ada.key, "pc", credential=b"d", public_key=b"p", by=by)
    yield lambda: store.delete_passkey(key.key, ada.key, by=by)
    yield lambda: store.make_share(shared, ShareId("new"), "page", by=by)
    yield lambda: store.revoke_share(ShareId("made"), by=by)
    yield lambda: store.people.approve_pairing(shown.code, by=by)
    yield lambda: store.people.allow(OTHER, by=by)
    await store.people.allow(OTHER)
    yield lambda: store.people.revoke(OTHER, by=by)
    person = await store.join(ONE, OTHER)
    yield lambda: store.rename_person(person.key, "Both", by=by)
    yield lambda: store.part(OTHER, by=by)
    yield lambda: store.join(ONE, OTHER, by=by)
    yield lambda: store.sessions.delete(whole, by=by)
    yield lambda: store.end_account(ada.key, by=by)
    yield lambda: store.people.delete(ONE, by=by)


ACTS = [
    "session.equipped",
    "job.changed",
    "job.paused",
    "job.resumed",
    "job.deleted",
    "account.made",
    "account.renamed",
    "link.made",
    "login.ended",
    "login.ended",
    "password.set",
    "password.dropped",
    "token.made",
    "token.ended",
    "passkey.added",
    "passkey.deleted",
    "share.made",
    "share.revoked",
    "pairing.approved",
    "pairing.allowed",
    "pairing.revoked",
    "person.renamed",
    "person.parted",
    "person.joined",
    "session.forgotten",
    "account.ended",
    "person.forgotten",
]


@both
async def test_what_is_done_is_written_down_with_it(store: Store) -> None:
    """Every act has its entry, once, and whoever shows the list hears of it."""
    owner, cursor = await store.owner_account(), await store.feed.end()
    async for act in acts(store, owner.actor):
        await act()

    entries = await store.audit()
    assert [entry.act for entry in entries[::-1]] == ACTS
    assert {entry.account for entry in entries} == {"owner"}
    events = (await store.feed.read(cursor)).events
    noted = [event for event in events if event.kind is EventKind.AUDIT_NOTED]
    assert [event.subject for event in noted] == [entry.id for entry in entries[::-1]]
    assert {event.session_id for event in noted} == {None}


@both
async def test_what_cannot_be_written_down_is_not_done(store: Store) -> None:
    """Nobody can act without a trace: if the entry cannot be kept, nothing was changed."""
    cursor, done = await store.feed.end(), 0
    async for act in acts(store, NOBODY):
        cursor = await store.feed.end()
        with pytest.raises(Conflict):
            await act()
        done += 1
        assert (await store.feed.read(cursor)).events == [], f"act {done}: {ACTS[done - 1]}"

    assert done == len(ACTS)
    assert await store.audit() == []


@both
async def test_what_people_do_to_their_own_is_no_act(store: Store) -> None:
    """Neither their jobs, nor those of the owner, nor a title: nobody needs to be an admin."""
    owner, alice = await store.owner_account(), Viewer(address=dm(ALICE), sender=ALICE)
    new = NewJob(prompt="What is new?", schedule="every day 9:00")
    boss = Viewer(address=dm(ALICE), sender=ALICE, sees_all=True)
    for asker, by in ((alice, None), (Viewer.owner(), owner.actor), (boss, None)):
        job = await store.jobs.create(new, asker)
        await store.jobs.update(job.id, JobChange(name="News"), asker, by=by)
        await store.jobs.delete(job.id, asker, by=by)
    id = await talk(store, ALICE, "hello")
    await store.sessions.update(id, SessionPatch(title="x"), by=owner.actor)

    assert await store.audit() == []


@both
async def test_an_admin_in_a_chat_is_named_until_they_are_forgotten(store: Store) -> None:
    """There nobody has an account, so that the act says by whose id it was done."""
    new = NewJob(prompt="What is new?", schedule="every day 9:00")
    job = await store.jobs.create(new, Viewer(address=dm(ALICE), sender=ALICE))
    await talk(store, BOB, "hello")
    await store.jobs.pause(job.id, Viewer(address=dm(BOB), sender=BOB, sees_all=True))

    (entry,) = await store.audit()
    assert (entry.act, entry.subject, entry.detail) == ("job.paused", str(job.id), "telegram:bob")

    await store.people.delete(OTHER)
    (entry,) = await store.audit()
    assert (entry.act, entry.subject, entry.detail) == ("job.paused", "", "")


@both
async def test_an_export_in_a_chat_names_who_asked(database_factory: DatabaseFactory) -> None:
    """The file leaves the installation, so the audit log says which conversation it holds."""
    desk = await open_desk(database_factory)
    id, _ = await desk.says("hello")
    await desk.answers(id)
    await desk.asks("/export jsonl")

    (entry,) = await desk.store.audit()
    assert (entry.act, entry.subject, entry.detail) == ("session.exported", id, "telegram:alice")


@both
async def test_a_new_password_logs_the_others_out_at_once(store: Store) -> None:
    """In one transaction with it: no browser of somebody who knew the old one is left."""
    ada = await store.make_account("ada")
    own = await store.begin_login(ada.key, "1" * 64, "own")
    await store.begin_login(ada.key, "2" * 64, "a thief's")
    with pytest.raises(Conflict):
        await store.set_password(ada.key, "$argon2id$", but=own.key, by=NOBODY)
    assert len(await store.logins(ada.key)) == 2

    await store.set_password(ada.key, "$argon2id$", but=own.key)
    assert [login.key for login in await store.logins(ada.key)] == [own.key]
    await store.set_password(ada.key, None, logs_out=False)
    assert len(await store.logins(ada.key)) == 1
    await store.set_password(ada.key, "$argon2id$")
    assert await store.logins(ada.key) == []


@both
async def test_a_login_takes_the_place_of_the_one_before(store: Store) -> None:
    """A browser that logs in anew is logged in once, and it is written down how it got in."""
    ada = await store.make_account("ada")
    await store.begin_login(ada.key, "1" * 64, "x", how="password")
    await store.make_link(ada.key, "2" * 64)
    login = await store.use_link("2" * 64, "3" * 64, "x", before="1" * 64)

    assert [one.key for one in await store.logins(ada.key)] == [login.key]
    told = [(one.act, one.account, one.detail) for one in await store.audit()]
    assert told == [("login.begun", "ada", "link"), ("login.begun", "ada", "password")]
