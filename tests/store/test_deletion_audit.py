"""Forgetting people: nobody reads in the audit log, or in a kept answer, who they were."""

import json

from tests.databases import DatabaseFactory
from tests.store.people_setup import ALICE, BOB, talk
from threadline.core.account import Account, AccountRole, KnownRequest
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.accounts.idempotency import find_outcome

HASH = "a" * 64


def shown(database_factory: DatabaseFactory) -> str:
    """Read everything that is left of acts and answers."""
    acts = database_factory.tamper("SELECT act, subject, detail FROM audit ORDER BY id")
    answers = database_factory.tamper("SELECT answer FROM outcomes")
    return json.dumps([[str(value) for value in row] for row in (*acts, *answers)])


async def keep(
    store: Store, who: Account, key: str, answer: object, about: SessionId | None = None
) -> None:
    """Keep the answer to a request."""
    request = KnownRequest(account=who.key, key=key, request_hash=HASH, session_id=about)
    await store.claim_outcome(request, "mine")
    await store.keep_outcome(request, "mine", 201, json.dumps(answer))


async def test_a_sender_goes_from_the_acts_about_them(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """That somebody was let in stays; who it was does not, and Bob's row is as before.

    Nobody can tell whom a kept answer names, so that all go that may tell of anybody.
    """
    owner = await store.owner_account()
    await talk(store, ALICE, "hello")
    bobs = await talk(store, BOB, "hello")
    await keep(store, owner, "sent to bob", {"turn_id": 2}, bobs)
    for who in ("telegram:alice", "telegram:bob"):
        await store.note_audit(owner.actor, "pairing.allowed", who)
        await keep(store, owner, who, {"sender": who, "name": "A name"})

    await store.people.delete(Identity(platform="telegram", id="alice"))

    acts = [(entry.act, entry.subject) for entry in await store.audit()]
    assert acts == [("pairing.allowed", "telegram:bob"), ("pairing.allowed", "")]
    kept = [
        await store.database.read(find_outcome, owner.key, who)
        for who in ("telegram:alice", "sent to bob")
    ]
    assert [(one.is_forgotten, one.answer) for one in kept if one] == [
        (True, ""),
        (False, '{"turn_id": 2}'),
    ]
    assert "alice" not in shown(database_factory)


async def test_a_member_goes_from_the_acts_about_them(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Neither what was done to their account, nor what they did, tells a name; others' do."""
    owner = await store.owner_account()
    mia = await store.make_account('Mi"a', AccountRole.MEMBER)
    otto = await store.make_account("Otto", AccountRole.MEMBER)
    for one in (mia, otto):
        await talk(store, one.sender, "hello", at=one.place("t"))
        await store.note_audit(owner.actor, "account.renamed", f"{one.key} {one.name}", "Old name")
        await store.note_audit(one.actor, "passkey.added", "7", f"phone of {one.name}")
        await store.note_audit(owner.actor, "token.made", f"{mia.key} robot", "read")
        await keep(store, owner, f"made {one.key}", {"key": one.key, "name": one.name})

    await store.people.delete(Identity(platform="local", id=mia.sender.id or ""))

    left = shown(database_factory)
    assert "Mi" not in left
    assert ("Otto" in left, left.count("Old name"), left.count("robot")) == (True, 1, 2)
    assert len(await store.audit()) == 6
