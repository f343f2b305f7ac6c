"""Approvals: an agent asks leave for its tools, and people give it for a while, or do not."""

import asyncio

import pytest

from threadline.core.access_level import AccessLevel
from threadline.core.approval import PermissionDuration
from threadline.core.command import parse_command
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnState
from threadline.store.commands.execute import execute
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Asks, Remembers, Says

DELETE = Asks("May I delete old.txt?", ("files_delete",))


async def gives(person: ScenarioPerson, text: str, rank: AccessLevel = AccessLevel.MEMBER) -> str:
    """Give a command, and read what it answers."""
    house, call = person.house, parse_command(text)
    assert call is not None
    inbound = Inbound.text(
        text,
        address=person.address,
        sender=person.sender,
        at=house.clock(),
        message_id=house.new_message_id(),
    )
    reply = await execute(house.store.database, inbound, call, rank)
    await house.rests()
    assert reply is not None
    return reply.text


async def test_leave_is_given_hours_later_and_after_a_crash(house: Scenario) -> None:
    """The agent is told what Alice decided, and that it need not ask again in her conversation."""
    alice = house.person("alice", on="telegram")
    house.agent.will(DELETE)
    said = await alice.says("tidy up")
    await house.crash()
    await house.time_passes(hours=7)
    assert (await house.store.turns.get(said.turn_id)).asks == ("files_delete",)

    told = await gives(alice, "/approve session")

    assert "files_delete will not be asked about in this conversation again." in told
    assert house.agent.last.turn.answer == "approved"
    assert house.agent.last.allowed == {"files_delete"}
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE
    await alice.says("and the rest")
    assert house.agent.last.allowed == {"files_delete"}


async def test_leave_ends_with_the_conversation(house: Scenario) -> None:
    """After a quiet night the agent has to ask again, and remembers nothing of before."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Remembers("where the files are"), DELETE)
    await alice.says("tidy up")
    await gives(alice, "/approve session")
    await alice.says("and the rest")
    assert house.agent.last.memory == "where the files are"

    await house.time_passes(hours=9)
    await alice.says("good morning")

    assert house.agent.last.allowed == frozenset()
    assert house.agent.last.memory is None


async def test_leave_that_was_given_for_always_can_be_taken_back(house: Scenario) -> None:
    """It holds for everybody, until the owner takes it back."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="discord")
    house.agent.will(DELETE)
    await alice.says("tidy up")
    await gives(alice, "/approve always", AccessLevel.OWNER)
    await bob.says("tidy up here, too")
    assert house.agent.last.allowed == {"files_delete"}

    (given,) = await house.store.approvals.list_permissions()
    assert given.extent is PermissionDuration.ALWAYS
    await house.store.approvals.revoke_permission(given.key)
    await bob.says("once more")

    assert house.agent.last.allowed == frozenset()


async def test_nobody_decides_for_a_whole_day(house: Scenario) -> None:
    """The agent is told no, and nothing is allowed because of it."""
    alice = house.person("alice", on="telegram")
    house.agent.will(DELETE)
    said = await alice.says("tidy up")

    await house.time_passes(hours=25)
    await house.sweeps()

    assert house.agent.last.turn.answer == "denied"
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE
    assert await house.store.approvals.list_permissions() == []
    assert "Nothing is waiting" in await gives(alice, "/approve session")


async def test_two_decide_at_the_same_moment(house: Scenario) -> None:
    """One decision counts; whoever comes second is told, and allows nothing."""
    alice = house.person("alice", on="discord").in_thread("work", "deploy")
    bob = house.person("bob", on="discord").in_thread("work", "deploy")
    house.agent.will(DELETE)
    await alice.says("tidy up")

    told = await asyncio.gather(
        gives(alice, "/deny not today"), gives(bob, "/approve session", AccessLevel.ADMIN)
    )

    answer = house.agent.last.turn.answer
    assert answer in {"denied: not today", "approved"}
    assert len(await house.store.approvals.list_permissions()) == (answer == "approved")
    assert sum("answer" in words for words in told) == 1


@pytest.mark.parametrize("command", ["/approve session", "/approve always", "/deny"])
async def test_somebody_decides_who_may_not(house: Scenario, command: str) -> None:
    """In a shared thread Bob is not asked; the question stays open for Alice."""
    alice = house.person("alice", on="discord").in_thread("work", "deploy")
    bob = house.person("bob", on="discord").in_thread("work", "deploy")
    house.agent.will(DELETE)
    house.agent.will(Says("deleted"))
    said = await alice.says("tidy up")

    assert "Only whoever was asked" in await gives(bob, command)

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.WAITING
    assert await house.store.approvals.list_permissions() == []
    assert await gives(alice, "/approve") == "Approved."
