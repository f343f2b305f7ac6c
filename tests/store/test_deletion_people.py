"""Forgetting people: what they said and were told goes, and what others said stays."""

from collections.abc import Callable

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.store.people_setup import (
    ALICE,
    BOB,
    GROUP,
    SHARED,
    answers,
    dm,
    is_system,
    lines,
    says,
    talk,
)
from tests.store.query_log import Heard, Listener
from threadline.core.address import Address, Kind, Sender
from threadline.core.deletion import DeletionKind, DeletionState, Seal
from threadline.core.errors import NotFound, ThreadlineError
from threadline.core.event import EventKind
from threadline.core.inbound import InboundKind
from threadline.core.message import Role, say
from threadline.core.person import Identity, Viewer
from threadline.database.port import Transaction, expect
from threadline.store import Store
from threadline.store.deletion import shared_messages
from threadline.store.deletion.preview import begin_person
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.search.search import index_all
from threadline.store.sessions.session_settings import set_summary
from threadline.testing.feed_checker import FeedWitness


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


async def test_a_person_goes_with_their_sessions_and_leaves_others_alone(store: Store) -> None:
    """Everything of hers is gone; Bob notices nothing."""
    hers = [await talk(store, ALICE, "one")]
    await store.sessions.reset(dm(ALICE), ALICE)
    hers.append(await talk(store, ALICE, "two"))
    his = await talk(store, BOB, "three")
    before = await lines(store, his)

    plan = await store.plan_forgetting_person(Identity(platform="telegram", id="alice"))
    certificate = await store.people.delete(Identity(platform="telegram", id="alice"))

    assert set(plan.sessions) == set(hers)
    assert certificate.counts["sessions"] == 2
    assert certificate.counts["senders"] == 1
    assert [row.session.id for row in (await store.sessions.list()).rows] == [his]
    assert await lines(store, his) == before
    with pytest.raises(NotFound):
        await store.plan_forgetting_person(Identity(platform="telegram", id="alice"))


async def test_in_a_group_her_lines_and_the_answers_to_her_go(open_store: OpenStore) -> None:
    """What others said there, and what they were answered, stays where it stood."""
    store = await open_store(rules=SHARED)
    id = await talk(store, ALICE, "alice one", at=GROUP)
    await talk(store, BOB, "bob one", at=GROUP)
    await talk(store, ALICE, "alice two", at=GROUP)
    await talk(store, BOB, "bob two", at=GROUP)
    await says(store, ALICE, "alice observed", at=GROUP, observed=True)
    before = await store.transcripts.read(id)
    witness = FeedWitness(store)
    await witness.verify([id])

    plan = await store.plan_forgetting_person(Identity(platform="telegram", id="alice"))
    await store.people.delete(Identity(platform="telegram", id="alice"))

    assert plan.shared == (id,)
    after = await store.transcripts.read(id)
    assert [line.seq for line in after] == [line.seq for line in before]
    kept = [line.text for line in after if line.text]
    assert [text for text in kept if "bob" in text] == [
        "bob one",
        "re: bob one",
        "bob two",
        "re: bob two",
    ]
    assert not any("alice" in text for text in kept)
    assert not any(line.sender_id == "alice" for line in after)
    assert (await store.sessions.get(id)).title == "bob one"
    await witness.verify([id])
    assert "bob three" in await lines(store, await talk(store, BOB, "bob three", at=GROUP))


async def test_the_error_of_a_turn_goes_with_an_event(open_store: OpenStore) -> None:
    """It may quote her; whoever looks at the turn when its lines are gone learns that it went."""
    store = await open_store(rules=SHARED)
    id = await says(store, ALICE, "alice one", at=GROUP)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.fail(claim.lease, "alice broke it", deliver=False)
    alice = Identity(platform="telegram", id="alice")
    begun = await store.database.write(begin_person, alice)
    seal = Seal(key=await store.database.secret())
    witness = FeedWitness(store)
    await witness.verify([id])

    def empty(tx: Transaction) -> bool:
        kind = DeletionKind.PERSON
        work = DeletionSlice(tx=tx, id=begun, kind=kind, seal=seal)
        return shared_messages.empty_turn(work, claim.turn.id)

    while not await store.database.write(empty):
        await witness.verify([id])
    told = await witness.verify([id])

    assert [event.kind for event in told] == [EventKind.SESSION_CHANGED]
    assert [turn.error for turn in await store.turns.list(id)] == [None]


async def test_an_answer_given_again_goes_with_the_question(open_store: OpenStore) -> None:
    """A retried turn has no message of its own, and still answered her."""
    store = await open_store(rules=SHARED)
    await talk(store, BOB, "bob one", at=GROUP)
    id = await talk(store, ALICE, "alice one", at=GROUP)
    await store.transcripts.retry(id)
    await answers(store, "second answer to alice")

    await store.people.delete(Identity(platform="telegram", id="alice"))

    everything = await store.transcripts.read(id, hidden=True)
    assert not any("alice" in line.text for line in everything)
    assert any(line.text == "re: bob one" for line in everything)


async def test_her_edits_and_summaries_in_a_group_go(open_store: OpenStore) -> None:
    """Notes that quote her, revisions, and summaries of her lines go, here and in branches."""
    store = await open_store(rules=SHARED)
    await says(store, ALICE, "alice old", at=GROUP, message_id="1")
    await answers(store, "re: alice")
    id = await says(
        store, ALICE, "alice new", at=GROUP, message_id="1", kind=InboundKind.EDIT, version=1
    )
    await talk(store, BOB, "bob one", "bob two", "bob three", at=GROUP)
    await store.transcripts.compact(id, "alice and bob spoke")
    branch = (await store.transcripts.branch(id)).id
    await store.database.write(set_summary, id, "about alice")

    await store.people.delete(Identity(platform="telegram", id="alice"))

    for one in (id, branch):
        assert not [line for line in await store.transcripts.history(one) if "alice" in line.text]
        assert not [
            line for line in await store.transcripts.read(one, hidden=True) if "alice" in line.text
        ]
        assert await store.transcripts.hidden_ranges(one) == []
        assert "bob three" in await lines(store, one)


async def test_all_senders_of_a_person_go_together(store: Store) -> None:
    """Who is linked is one person; naming one of the senders is enough."""
    discord = Address(platform="discord", kind=Kind.DM, chat="d1")
    await talk(store, ALICE, "one")
    await talk(store, Sender(id="d-alice"), "two", at=discord)
    mine, other = (
        Identity(platform="telegram", id="alice"),
        Identity(platform="discord", id="d-alice"),
    )
    await store.join(mine, other)

    certificate = await store.people.delete(other)

    assert certificate.counts["senders"] == 2
    assert (await store.sessions.list()).rows == []
    assert await store.people.list() == []
    assert await store.people.find(mine) is None


async def test_who_comes_back_is_a_stranger(store: Store) -> None:
    """After being forgotten somebody is greeted like anybody who speaks for the first time."""
    await talk(store, ALICE, "one")
    await store.people.delete(Identity(platform="telegram", id="alice"))

    id = await talk(store, ALICE, "hello")

    first = (await store.transcripts.read(id))[0]
    assert is_system(first)
    assert "first message" in first.text


async def test_her_running_turn_in_a_group_is_stopped(open_store: OpenStore) -> None:
    """What was about to be answered to her is not, and the group goes on."""
    store = await open_store(rules=SHARED)
    id = await says(store, ALICE, "alice asks", at=GROUP)
    claim = await store.turns.claim()
    assert claim is not None
    await says(store, ALICE, "alice waits", at=GROUP)
    await says(store, BOB, "bob waits", at=GROUP)

    await store.people.delete(Identity(platform="telegram", id="alice"))

    with pytest.raises(ThreadlineError):
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "dear alice")])
    await answers(store, "dear bob")
    kept = [text for text in await lines(store, id) if text]
    assert kept[-2:] == ["bob waits", "dear bob"]
    assert not any("alice" in text for text in kept)


async def test_search_finds_nothing_that_was_forgotten(open_store: OpenStore) -> None:
    """Words that were forgotten are found neither in lines nor in titles; others still are."""
    store = await open_store(rules=SHARED)
    await talk(store, ALICE, "xylocarp alone")
    await talk(store, ALICE, "xylocarp shared", at=GROUP)
    await talk(store, BOB, "quixotrope", at=GROUP)
    while await index_all(store.database):
        pass
    assert (await store.search("xylocarp", asker=Viewer.owner())).hits

    await store.people.delete(Identity(platform="telegram", id="alice"))

    found = await store.search("xylocarp", asker=Viewer.owner())
    assert not found.hits
    assert not found.sessions
    assert (await store.search("quixotrope", asker=Viewer.owner())).hits


async def test_nobody_can_be_in_the_way(store: Store, database_factory: DatabaseFactory) -> None:
    """A stranger who takes the name that is left of others keeps nobody from being forgotten."""
    for n in range(1, 9):
        await talk(store, Sender(id=f"forgotten {n}"), "hello")
    await talk(store, ALICE, "one")

    certificate = await store.people.delete(Identity(platform="telegram", id="alice"))

    assert certificate.state is DeletionState.DONE
    left = database_factory.tamper("SELECT id FROM senders WHERE name IS NULL")
    assert len({id for (id,) in left}) == 9
    with pytest.raises(NotFound):
        await store.people.delete(Identity(platform="telegram", id="alice"))


@pytest.mark.parametrize(
    ("verb", "slices"), [(shared_messages.expand, 1), (shared_messages.empty_lines, 2)]
)
async def test_relatives_are_taken_in_the_order_of_their_keys(
    open_store: OpenStore,
    database_factory: DatabaseFactory,
    verb: Callable[[DeletionSlice, int], object],
    slices: int,
) -> None:
    """Two who forget in the same family wait for each other, and never both at once."""
    store = await open_store(rules=SHARED)
    trunk = await talk(store, ALICE, "alice one", at=GROUP)
    middle = (await store.transcripts.branch(trunk)).id
    await store.transcripts.branch(middle)
    await store.sessions.reset(GROUP, ALICE)
    await talk(store, BOB, "bob one", at=GROUP)
    database_factory.tamper("UPDATE sessions SET title = 'alice one', titled_by = 'model'")
    seal = Seal(key=await store.database.secret())
    alice = Identity(platform="telegram", id="alice")
    begun = await store.database.write(begin_person, alice)
    subject = middle if verb is shared_messages.expand else trunk

    def listen(tx: Transaction) -> list[Heard]:
        listener = Listener(tx)
        kind = DeletionKind.PERSON
        work = DeletionSlice(tx=listener, id=begun, kind=kind, seal=seal)
        key = expect(tx, "read_session_key", int, id=subject)
        for _slice in range(slices):
            listener.heard.clear()
            verb(work, key)
        return listener.only("lock_session_by_key")

    heard = await store.database.write(listen)

    assert len(heard) == 4
    assert heard == sorted(heard)
