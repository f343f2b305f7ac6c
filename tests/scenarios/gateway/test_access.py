"""Who may speak: whoever is named nowhere may not, and is told how to be let in."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from threadline.core.access import AccessRules
from threadline.core.address import Kind
from threadline.core.errors import Refused
from threadline.core.inbound import InboundKind
from threadline.core.person import Identity
from threadline.core.turn import TurnState
from threadline.gateway.inbox import ASK_OWNER
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scenario import OpenStore
from threadline.testing.scripted_agent import Hangs

CODE = re.compile(r"\b[2-9A-HJ-NP-Z]{8}\b")


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house in which nobody is known but the boss."""
    house = GatewayScenario(open_again)
    house.settings = replace(house.settings, access=AccessRules(admins=["telegram:boss"]))
    async with house:
        yield house


async def knows(house: GatewayScenario, access: AccessRules) -> None:
    """Let the house go by other rules, from the next start on."""
    await house.stops()
    await house.comes_back(replace(house.settings, access=access))


def code_in(words: str) -> str:
    """Read the code that a stranger was shown."""
    (code,) = CODE.findall(words)
    return str(code)


async def heard(house: GatewayScenario, *guests: GatewayUser) -> list[bool]:
    """Let everybody say hello; tell who was answered."""
    answers = []
    for guest in guests:
        asked = len(house.agent.requests)
        await guest.says("hello")
        answers.append(len(house.agent.requests) > asked)
    return answers


async def test_a_stranger_is_given_a_code_and_is_let_in_with_it(house: GatewayScenario) -> None:
    """The code goes to the owner, who approves it; from then on Mallory is answered."""
    mallory = house.guest("Mallory")

    shown = await mallory.asks("hello?")
    assert shown == ASK_OWNER.format(code=code_in(shown))
    assert not house.agent.requests
    assert [row.session for row in await house.sessions()] == []

    grant = await house.store.people.approve_pairing(code_in(shown))
    assert grant.identity == Identity(platform="telegram", id="mallory")
    assert await mallory.asks("and now?") == "ok"
    assert house.agent.saw_only("and now?"), "what a stranger says is not kept"


async def test_a_code_is_shown_once_in_ten_minutes(house: GatewayScenario) -> None:
    """Whoever asks sooner is told nothing; after an hour a code is void."""
    mallory = house.guest("Mallory")
    first = code_in(await mallory.asks("hello?"))

    assert await mallory.asks("hello??") == ""
    await house.time_passes(minutes=11)
    second = code_in(await mallory.asks("hello???"))
    assert second != first
    await house.time_passes(minutes=61)

    with pytest.raises(Refused, match="not valid"):
        await house.store.people.approve_pairing(second)
    assert await heard(house, mallory) == [False]


async def test_a_stranger_in_a_group_hears_nothing(house: GatewayScenario) -> None:
    """Neither in a group nor in a thread, and no code is made for them."""
    mallory = house.guest("Mallory")

    assert await mallory.in_group("Garden").asks("hello?") == ""
    assert await mallory.in_thread("Garden", "Peas").asks("/help") == ""

    assert await house.store.people.pairings() == []
    assert not house.simulated("telegram").sends


async def test_no_code_is_given_where_nobody_is_paired(house: GatewayScenario) -> None:
    """An owner who wants no strangers at the door is not asked."""
    await knows(house, AccessRules(pairing=False))
    mallory = house.guest("Mallory")

    assert await mallory.asks("hello?") == ""
    assert await house.store.people.pairings() == []


async def test_five_wrong_codes_lock_the_platform(house: GatewayScenario) -> None:
    """For an hour not even the right one is looked at; then it has to be asked for anew."""
    mallory = house.guest("Mallory")
    code = code_in(await mallory.asks("hello?"))
    for _ in range(5):
        with pytest.raises(Refused):
            await house.store.people.approve_pairing("ZZZZZZZZ")

    with pytest.raises(Refused, match="Wait an hour"):
        await house.store.people.approve_pairing(code)

    await house.time_passes(minutes=61)
    await house.store.people.approve_pairing(code_in(await mallory.asks("hello again?")))
    assert await heard(house, mallory) == [True]


async def test_three_strangers_wait_at_a_time(house: GatewayScenario) -> None:
    """The fourth is told nothing, on another platform they would be."""
    shown = [bool(await house.guest(f"S{n}").asks("let me in")) for n in range(4)]

    assert shown == [True, True, True, False]
    assert await house.guest("S4", on="discord").asks("let me in")


async def test_whoever_is_on_the_list_may_speak(house: GatewayScenario) -> None:
    """One by their id, or all of a platform; nobody else."""
    await knows(house, AccessRules(allow=["telegram:alice", "discord:*"]))

    alice, bob = house.guest("Alice"), house.guest("Bob")
    assert await heard(house, alice, bob, house.guest("Bob", on="discord")) == [True, False, True]
    assert await heard(house, alice.in_group("Garden"), bob.in_group("Garden")) == [True, False]


async def test_everybody_may_speak_in_a_chat_that_is_on_the_list(house: GatewayScenario) -> None:
    """There and in its threads, but not alone with the agent."""
    await knows(house, AccessRules(chats=["telegram:group-garden"]))
    bob = house.guest("Bob")

    places = [bob.in_group("Garden"), bob.in_thread("Garden", "Peas"), bob.in_group("House"), bob]
    assert await heard(house, *places) == [True, True, False, False]


async def test_a_role_lets_somebody_in(house: GatewayScenario) -> None:
    """Only where the owner trusts the platform's roles."""
    await knows(house, AccessRules(roles=["discord"]))
    for name, by_role in (("telegram", True), ("discord", True), ("discord", False)):
        platform = house.simulated(name)
        platform.bring(
            {
                "kind": InboundKind.MESSAGE.value,
                "message_id": f"{name}-{by_role}",
                "address": {"platform": name, "kind": Kind.GROUP.value, "chat": "9"},
                "sender": {"id": "mod", "by_role": by_role},
                "at": platform.now().isoformat(),
                "text": f"{name} {by_role}",
            }
        )
        await house.rests()

    assert [request.history[-1].text for request in house.agent.requests] == ["discord True"]


async def test_bots_are_ignored_unless_they_are_meant(house: GatewayScenario) -> None:
    """Otherwise two bots would talk for ever."""
    await knows(house, AccessRules(allow=["telegram:*"], bots=["telegram:helper"]))
    robot = house.guest("Robot", is_bot=True)
    helper = house.guest("Helper", is_bot=True)

    assert await heard(house, robot, robot.in_group("Garden"), helper) == [False, False, True]
    assert not robot.sees


async def test_what_was_granted_can_be_revoked(house: GatewayScenario) -> None:
    """It holds from the next message on."""
    alice = house.guest("Alice")
    who = Identity(platform="telegram", id="alice")
    await house.store.people.allow(who)
    assert await heard(house, alice) == [True]

    await house.store.people.revoke(who)

    assert await heard(house, alice) == [False]


async def test_whoever_was_shut_out_meanwhile_is_not_answered_after_a_crash(
    house: GatewayScenario,
) -> None:
    """Access is asked again before a turn that was cut off goes on."""
    alice, who = house.guest("Alice"), Identity(platform="telegram", id="alice")
    await house.store.people.allow(who)
    house.agent.will(Hangs())
    await alice.says("a long job")
    await house.crashes()
    store = await house.open_another()
    await store.people.revoke(who)
    await store.close()

    await house.comes_back()

    assert len(house.agent.requests) == 1
    (turn,) = await alice.turns()
    assert (turn.state, "may not speak" in (turn.error or "")) == (TurnState.FAILED, True)


async def test_whoever_writes_too_much_waits(house: GatewayScenario) -> None:
    """They are told once; others are not concerned, and a minute later all is well."""
    await knows(house, AccessRules(allow=["telegram:*"], per_minute=3))
    alice, bob = house.guest("Alice"), house.guest("Bob")
    at = house.clock()
    for n in range(6):
        house.clock.set(at)
        await alice.says(f"message {n}")

    told = [text for text in alice.sees if text != "ok"]
    assert (len(told), len(house.agent.requests)) == (1, 3)
    assert "I leave out your messages" in told[0]
    assert await heard(house, bob) == [True]
    house.clock.set(at + timedelta(minutes=2))
    assert await heard(house, alice) == [True]
