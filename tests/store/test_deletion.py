"""Forgetting sessions: what goes, what stays, and that it goes on after any interruption."""

from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.store.people_setup import ALICE, BOB, answers, dm, lines, says, talk
from threadline.core.deletion import DeletionState, Seal
from threadline.core.errors import Invalid, NotFound, ThreadlineError
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import MarkerKind, MediaKind, Role, say
from threadline.core.person import Identity, Viewer
from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.usage import UsageBy
from threadline.store import Store
from threadline.store.deletion import preview
from threadline.store.deletion.forget import finish_deletions, forget_sessions
from threadline.store.deletion.preview import find_forgotten
from threadline.store.deletion.runner import forget_some
from threadline.store.integrity import check_laws
from threadline.store.search.check import check_index
from threadline.store.search.search import index_all
from threadline.testing.clock import FakeClock
from threadline.testing.feed_checker import FeedWitness


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


async def test_a_forgotten_session_is_gone_and_others_stay(store: Store) -> None:
    """Nothing can be asked about it any more; the same person's others are untouched."""
    one = await talk(store, ALICE, "one", "two")
    await store.sessions.reset(dm(ALICE), ALICE)
    other = await talk(store, ALICE, "three")
    cursor = await store.feed.end()

    certificate = await store.sessions.delete(one)

    assert certificate.state is DeletionState.DONE
    assert certificate.counts["sessions"] == 1
    assert certificate.done_at is not None
    assert certificate.out_of_reach
    with pytest.raises(NotFound):
        await store.sessions.get(one)
    assert [row.session.id for row in (await store.sessions.list()).rows] == [other]
    assert "three" in await lines(store, other)
    events = (await store.feed.read(cursor)).events
    assert [e.session_id for e in events if e.kind is EventKind.SESSION_FORGOTTEN] == [one]
    assert await store.check(deep=True) == []


async def test_the_next_message_begins_anew_without_a_parent(store: Store) -> None:
    """The route of a forgotten session is free, and what follows names no ghost."""
    old = await talk(store, ALICE, "one")
    await store.sessions.delete(old)

    new = await store.sessions.get(await talk(store, ALICE, "two"))

    assert new.parent_id is None
    assert new.root_id == new.id


async def test_a_message_that_was_forgotten_does_not_arrive_again(store: Store) -> None:
    """A platform that repeats itself brings nothing back."""
    id = await says(store, ALICE, "one", message_id="1")
    await store.sessions.delete(id)

    again = Inbound.text("one", address=dm(ALICE), sender=ALICE, at=store.now(), message_id="1")
    arrival = await store.receive(again)

    assert arrival.is_repeated
    assert arrival.session_id is None
    assert (await store.sessions.list()).rows == []


async def test_a_running_turn_is_stopped_and_its_worker_can_write_nothing(store: Store) -> None:
    """The worker of a forgotten conversation learns at its next word that it is over."""
    id = await says(store, ALICE, "one")
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.checkpoint([(claim.lease, "half an ans")])

    await store.sessions.delete(id)

    with pytest.raises(ThreadlineError):
        await store.turns.append(claim.lease, [say(Role.ASSISTANT, "whole answer")])
    with pytest.raises(ThreadlineError):
        await store.turns.finish(claim.lease)
    assert await store.turns.renew([claim.lease]) == {claim.lease.turn_id}


async def test_lineage_closes_over_the_gap(store: Store) -> None:
    """Who came after it has the one before it as parent, and the eldest left is the root."""
    ids = []
    for n in range(4):
        ids.append(await talk(store, ALICE, f"word {n}"))
        await store.sessions.reset(dm(ALICE), ALICE)

    await store.sessions.delete(ids[1])
    assert (await store.sessions.get(ids[2])).parent_id == ids[0]
    await store.sessions.delete(ids[0])

    second, third = [await store.sessions.get(id) for id in ids[2:]]
    assert (second.parent_id, second.root_id) == (None, second.id)
    assert (third.parent_id, third.root_id) == (second.id, second.id)


async def test_what_was_carried_over_goes_too(open_store: OpenStore) -> None:
    """The session after it no longer quotes what was forgotten, and keeps its own words."""
    clock = FakeClock()
    policy = ResetPolicy(mode=ResetMode.IDLE, carry=Carry.parse("last 4 messages"))
    rules = Settings(policies=Policies(default=policy))
    store = await open_store(rules=rules, clock=clock)
    old = await talk(store, ALICE, "the secret word")
    clock.advance(timedelta(days=3))
    new = await talk(store, ALICE, "good morning")
    assert any("the secret word" in line for line in await lines(store, new))

    await store.sessions.delete(old)

    assert not any("secret" in line for line in await lines(store, new))
    assert "good morning" in await lines(store, new)


async def test_a_branch_loses_the_shared_part_and_says_so(store: Store) -> None:
    """A branch of a forgotten session goes on with its own words, after a visible marker."""
    trunk = await talk(store, ALICE, "root one", "root two")
    branch = (await store.transcripts.branch(trunk)).id
    await store.transcripts.record(branch, [say(Role.ASSISTANT, "own word")])
    twig = (await store.transcripts.branch(branch)).id
    await store.transcripts.record(twig, [say(Role.ASSISTANT, "twig word")])
    witness = FeedWitness(store)
    await witness.verify([branch, twig])

    plan = await store.plan_forgetting([trunk])
    await store.sessions.delete(trunk)

    assert set(plan.branches) == {branch, twig}
    for id, own in ((branch, ["own word"]), (twig, ["own word", "twig word"])):
        transcript = await store.transcripts.read(id)
        first = transcript[0].parts[0]
        assert getattr(first, "kind", None) is MarkerKind.FORGOTTEN
        assert [line.text for line in transcript[1:]] == own
        assert (await store.sessions.get(id)).user_messages == 0
    await witness.verify([branch, twig])
    assert await store.check(deep=True) == []


async def test_a_branch_in_the_middle_goes_and_the_trunk_stays(store: Store) -> None:
    """What a forgotten branch shared with its own base is still shared with those after it."""
    trunk = await talk(store, ALICE, "root")
    middle = (await store.transcripts.branch(trunk)).id
    await store.transcripts.record(middle, [say(Role.ASSISTANT, "middle secret")])
    twig = (await store.transcripts.branch(middle)).id
    await store.transcripts.record(twig, [say(Role.ASSISTANT, "twig word")])

    await store.sessions.delete(middle)

    said = await lines(store, twig)
    assert [
        text for text in said if text in {"root", "re: root", "middle secret", "twig word"}
    ] == [
        "root",
        "re: root",
        "twig word",
    ]
    assert await lines(store, trunk) == (await lines(store, twig))[: len(await lines(store, trunk))]


async def test_a_compaction_in_a_branch_does_not_keep_what_was_forgotten(store: Store) -> None:
    """The summary that a branch inherited or made of the shared part goes with it."""
    trunk = await talk(store, ALICE, "one", "two", "three", "four")
    await store.transcripts.compact(trunk, "summary of the secret")
    branch = (await store.transcripts.branch(trunk)).id

    await store.sessions.delete(trunk)

    assert await store.transcripts.hidden_ranges(branch) == []
    assert not any("secret" in line.text for line in await store.transcripts.history(branch))


async def test_an_attachment_that_others_need_stays(store: Store) -> None:
    """The same picture in another conversation is still there; one that nobody needs is not."""
    shared = await store.attachments.put(b"shared" * 99_999, "image/png", MediaKind.IMAGE)
    own = await store.attachments.put(b"own" * 199_999, "image/png", MediaKind.IMAGE)
    id = await says(store, ALICE, "", parts=(shared, own))
    await says(store, BOB, "", parts=(shared,))

    certificate = await store.sessions.delete(id)

    pieces = [piece async for piece in store.attachments.read(shared.blob)]
    assert b"".join(pieces) == b"shared" * 99_999
    with pytest.raises(NotFound):
        [piece async for piece in store.attachments.read(own.blob)]
    assert certificate.counts["attachments"] == 1


async def test_what_was_spent_stays_as_numbers(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Bills add up after a session was forgotten, but nobody can tell whose it was."""
    id = await says(store, ALICE, "one")
    await answers(store, "two", spent=7)
    kinds = (UsageBy.DAY, UsageBy.MODEL, UsageBy.TASK)
    before = [await store.usage.sum(by) for by in kinds]
    assert [one.input_tokens for sums in before for one in sums] == [7, 7, 7]

    await store.sessions.delete(id)

    assert [await store.usage.sum(by) for by in kinds] == before
    for by in (UsageBy.SESSION, UsageBy.TURN, UsageBy.PERSON):
        assert [one.subject for one in await store.usage.sum(by)] == [""]
    rows = database_factory.tamper(
        "SELECT input_tokens, session_key, turn_id, sender_key FROM usage"
    )
    assert [tuple(row) for row in rows] == [(7, None, None, None)]


async def test_forgetting_goes_on_after_a_crash_at_any_slice(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """Whoever comes next finishes what was begun, wherever it broke off; nothing comes back."""
    store = await open_store()
    for stop_after in range(1, 60, 4):
        id = await talk(store, ALICE, *(f"word {n}" for n in range(30)))
        branch = (await store.transcripts.branch(id)).id
        begun = await store.database.write(preview.begin_sessions, [id])
        seal = Seal(key=await store.database.secret())
        slices = 0
        while slices < stop_after and await store.database.write(forget_some, begun, seal=seal):
            slices += 1

        other = await open_store()
        (certificate,) = await finish_deletions(other.database)

        assert certificate.state is DeletionState.DONE
        assert certificate.counts["messages"] >= 60
        assert (
            await other.database.read(
                find_forgotten,
                [id, branch],
                seal=Seal(key=await other.database.secret()),
            )
        ) == {id}
        with pytest.raises(NotFound):
            await other.sessions.get(id)
        assert not [line for line in await lines(other, branch) if "word" in line]
    assert await store.check(deep=True) == []
    assert database_factory.tamper("SELECT count(*) FROM forgetting_tasks") == [(0,)]


async def test_every_slice_is_told(store: Store) -> None:
    """Whoever looks at a session that had ended sees it go, and no doctor calls it damaged."""
    id = await talk(store, ALICE, *(f"word {n}" for n in range(30)))
    await store.transcripts.compact(id, "a summary")
    await store.sessions.reset(dm(ALICE), ALICE)
    begun = await store.database.write(preview.begin_sessions, [id])
    seal = Seal(key=await store.database.secret())
    witness = FeedWitness(store)
    await witness.verify([id])

    told: list[list[EventKind]] = []
    while await store.database.write(forget_some, begun, seal=seal):
        if not await store.turns.list(id):
            break  # Turns go when all lines are gone, and then the session itself.
        told.append([event.kind for event in await witness.verify([id])])
        assert await store.database.read(check_laws) == []

    assert told[0] == [EventKind.SESSION_CHANGED, EventKind.TRANSCRIPT_CHANGED]
    assert told.count([EventKind.TRANSCRIPT_CHANGED]) >= 3
    assert (await store.go_on_forgetting(begun)).state is DeletionState.DONE


async def test_lines_that_come_into_sight_are_told(store: Store) -> None:
    """A branch that goes shows for a moment what was undone in it; whoever looks learns of it."""
    branch = (await store.transcripts.branch(await talk(store, ALICE, "one", "two"))).id
    await store.transcripts.record(branch, [say(Role.ASSISTANT, "three")])
    await store.transcripts.undo(branch)
    begun = await store.database.write(preview.begin_sessions, [branch])
    seal = Seal(key=await store.database.secret())
    witness = FeedWitness(store)
    await witness.verify([branch])

    while await store.transcripts.hidden_ranges(branch):
        await store.database.write(forget_some, begun, seal=seal)
        await witness.verify([branch])

    assert "two" in await lines(store, branch)


async def test_nothing_is_forgotten_by_mistake(store: Store) -> None:
    """Unknown sessions, people and nonsense are refused before anything is touched."""
    id = await talk(store, ALICE, "one")

    with pytest.raises(NotFound):
        await store.sessions.delete(SessionId("20200101_000000_00000000"))
    with pytest.raises(NotFound):
        await forget_sessions(store.database, [id, SessionId("20200101_000000_00000000")])
    with pytest.raises(Invalid):
        await store.sessions.delete(SessionId("../../etc"))
    with pytest.raises(NotFound):
        await store.people.delete(Identity(platform="telegram", id="nobody"))
    with pytest.raises(NotFound):
        await store.people.delete(Identity(platform="discord", id="alice"))
    with pytest.raises(Invalid):
        await store.people.delete("alice")  # type: ignore[arg-type]

    assert "one" in await lines(store, id)
    assert await store.certificates() == []


async def test_no_number_of_a_forgotten_turn_is_given_again(store: Store) -> None:
    """A worker that still runs a forgotten turn cannot speak into somebody else's conversation."""
    id = await talk(store, ALICE, "one")
    (sent,) = await store.deliveries.lease()
    await says(store, ALICE, "two")
    stale = await store.turns.claim()
    assert stale is not None
    await store.sessions.delete(id)
    await talk(store, BOB, "his first")
    his = await says(store, BOB, "his second")
    claim = await store.turns.claim()
    assert claim is not None

    assert claim.turn.id > stale.turn.id
    assert await store.turns.checkpoint([(stale.lease, "for alice only")]) == {stale.turn.id}
    await store.turns.finish(claim.lease)

    assert not any("alice" in line for line in await lines(store, his))
    owed = await store.deliveries.lease()
    assert min(parcel.delivery.id for parcel in owed) > sent.delivery.id


async def test_branches_keep_no_title_of_a_forgotten_session(store: Store) -> None:
    """A title that was made of its words goes from the branch, from lists and from the search."""
    base = await talk(store, ALICE, "sesamsecret opens")
    plain = await store.transcripts.branch(base)
    named = await store.transcripts.branch(base, title="My own name")
    await index_all(store.database)

    await store.sessions.delete(base)

    found = await store.search("sesamsecret", asker=Viewer.owner())
    assert not found.sessions
    assert not found.hits
    assert (await store.sessions.get(plain.id)).title is None
    assert (await store.sessions.get(named.id)).title == "My own name"
    assert await store.database.read(check_index) == []


async def test_what_is_gone_already_hinders_no_other(store: Store) -> None:
    """Of several the rest goes, and it is told which; if none is left nothing is begun."""
    here, gone = await talk(store, ALICE, "hello"), await talk(store, BOB, "hi")
    await store.sessions.delete(gone)

    plan = await store.forget_present([here, gone])
    again = await store.forget_present([here, gone])

    assert (plan.sessions, again.sessions) == ((here,), ())
    assert len(await store.certificates()) == 2
    with pytest.raises(NotFound):
        await store.sessions.get(here)
