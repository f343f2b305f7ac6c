"""Parting: two who were one person are strangers again, and nothing leaks."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.scenarios.people import ONE, identity, link, read_all
from threadline.core.errors import NotFound, Refused
from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.session import BusyMode, Cause, EndReason
from threadline.core.turn import TurnState
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Hangs, Says


async def test_parting_leaks_nothing(house: Scenario) -> None:
    """After `/unlink` neither app shows, resumes or is told a word of the other's."""
    house.lives_by(ONE)
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    hers = await alice.says("secret of alice")
    his = await bob.in_group("g").says("secret of bob")
    await link(alice, bob)
    shared = await bob.says("bob in the shared one")
    assert shared.session_id == hers.session_id

    parted = await house.store.people.unlink(bob.address, bob.sender)
    anew = await bob.says("hello")
    further = await alice.says("hello again")

    assert parted is not None
    assert parted.ended == (hers.session_id,)
    assert (await house.store.sessions.get(hers.session_id)).end_reason is EndReason.PARTED
    session = await house.store.sessions.get(anew.session_id)
    assert (session.cause, session.parent_id, session.root_id) == (Cause.FIRST, None, session.id)
    assert (await house.store.sessions.get(further.session_id)).cause is Cause.PARTED
    assert "alice" not in await read_all(house, bob)
    assert "secret of bob" not in await read_all(house, alice)
    assert {one.id for one in await house.sessions_of(bob)} == {his.session_id, anew.session_id}
    with pytest.raises(NotFound):
        await house.store.sessions.switch(bob.address, bob.sender, hers.session_id)
    assert not await house.store.people.list()
    assert await house.store.people.unlink(bob.address, bob.sender) is None


async def test_parting_tells_nothing_of_the_lineage(house: Scenario) -> None:
    """A session of Bob's that followed one of Alice's no longer names it once they parted."""
    house.lives_by(ONE)
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    await alice.says("hers")
    await link(alice, bob)
    await alice.resets()
    follower = await bob.says("his")
    assert (await house.sessions_of(bob))[-1].parent_id is not None

    await house.store.people.unlink(alice.address, alice.sender)

    (session,) = await house.sessions_of(bob)
    assert (session.id, session.parent_id, session.root_id) == (
        follower.session_id,
        None,
        follower.session_id,
    )


async def test_what_waits_goes_with_whoever_wrote_it(house: Scenario) -> None:
    """Bob's message waits in the shared session while they part: it is answered in his own."""
    house.lives_by(replace(ONE, busy=BusyMode.QUEUE))
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    await link(alice, bob)
    house.agent.will(Hangs())
    house.agent.will(Says("for bob"))
    running = await alice.says("think")
    waiting = await bob.says("me too")
    assert waiting.session_id == running.session_id

    parted = await house.store.part(identity(bob))
    await house.rests()

    assert parted is not None
    assert parted.moved == (waiting.turn_id,)
    assert (await house.store.turns.get(running.turn_id)).state is TurnState.STOPPED
    assert (await house.store.turns.get(waiting.turn_id)).state is TurnState.DONE
    assert [reply.text for reply in await house.replies_to(bob)] == ["for bob"]
    (session,) = await house.sessions_of(bob)
    assert (session.id, session.cause) == ((await bob.session()).id, Cause.FIRST)
    assert "think" not in await read_all(house, bob)
    assert "me too" not in await read_all(house, alice)


@pytest.mark.parametrize("is_bob_first", [False, True])
async def test_what_both_wrote_into_one_turn_is_taken_apart(
    house: Scenario, *, is_bob_first: bool
) -> None:
    """Collected messages of two people who part wait apart; hers are stopped, his are answered."""
    house.lives_by(replace(ONE, busy=BusyMode.COLLECT))
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    await link(alice, bob)
    house.agent.will(Hangs())
    house.agent.will(Says("for bob"))
    await alice.says("think")
    words = [(alice, "wait"), (bob, "and me")]
    both = [await who.says(text) for who, text in (words[::-1] if is_bob_first else words)]
    assert both[0].turn_id == both[1].turn_id

    await house.store.part(identity(bob))
    await house.rests()

    assert (await house.store.turns.get(both[0].turn_id)).state is TurnState.STOPPED
    assert [reply.text for reply in await house.replies_to(bob)] == ["for bob"]
    assert "wait" in await read_all(house, alice)
    assert "and me" not in await read_all(house, alice)
    assert "wait" not in await read_all(house, bob)


async def test_a_running_turn_of_whoever_leaves_is_stopped_visibly(house: Scenario) -> None:
    """What is being answered in the other's session is stopped; nothing of it is sent."""
    house.lives_by(ONE)
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    hers = await alice.says("mine")
    await link(alice, bob)
    house.agent.will(Hangs())
    running = await bob.says("think")
    assert running.session_id == hers.session_id

    await house.store.people.unlink(bob.address, bob.sender)
    await house.rests()

    assert (await house.store.turns.get(running.turn_id)).state is TurnState.STOPPED
    assert not await house.replies_to(bob)


async def test_three_that_lose_one_are_still_two(house: Scenario) -> None:
    """The others stay one person, under a name of their own."""
    alice, bob, cid = (house.person(name, on="telegram") for name in ("alice", "bob", "cid"))
    for person in (alice, bob, cid):
        await person.says(f"I am {person.sender.name}")
    await link(alice, bob)
    await link(bob, cid)

    await house.store.people.unlink(alice.address, alice.sender)

    (left,) = await house.store.people.list()
    assert left.name == "Bob"
    assert {known.identity for known in left.senders} == {identity(bob), identity(cid)}
    assert len(await house.sessions_of(cid)) == 2
    assert len(await house.sessions_of(alice)) == 1


async def test_a_code_from_before_parting_is_void(house: Scenario) -> None:
    """A code that is still around when two part joins nobody."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    await link(alice, bob)
    shown = await house.store.people.make_link_code(alice.address, alice.sender)
    await house.store.people.unlink(bob.address, bob.sender)

    with pytest.raises(Refused, match="not valid"):
        await house.store.people.link(bob.address, bob.sender, shown.code)


async def test_what_was_carried_over_does_not_stay_with_a_stranger(house: Scenario) -> None:
    """A session of Alice's that quotes Bob's last words is quiet about them once they parted."""
    policy = ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(hours=1), carry=Carry.last(4))
    house.lives_by(replace(ONE, policies=Policies(default=policy)))
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    await bob.says("secret of bob")
    await link(alice, bob)
    shared = await alice.says("hello")
    await house.time_passes(hours=3)
    later = await alice.says("and again")
    assert later.session_id != shared.session_id
    assert "secret of bob" in await read_all(house, alice)

    await house.store.people.unlink(alice.address, alice.sender)

    assert "secret of bob" not in await read_all(house, alice)
    kept = "".join(line.text for line in await house.store.transcripts.history(later.session_id))
    assert "secret of bob" not in kept
