"""A gateway that stops, crashes and comes back: nothing is lost, nothing is said twice."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.scenarios.gateway.unreliable_database import Fickle
from threadline.core.access import AccessRules
from threadline.core.delivery import MAX_REPEATS, REPEAT_MARKER
from threadline.core.message import Marker, Role
from threadline.core.platform import Capabilities
from threadline.core.session import Cause
from threadline.core.system_notes import tell_person
from threadline.core.turn import TurnState
from threadline.gateway.inbox import UNKNOWN
from threadline.platforms.simulated import SendFault, Simulated
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scripted_agent import Asks, Hangs, Says, Streams


async def states(guest: GatewayUser) -> list[TurnState]:
    """Tell how the turns of a conversation stand."""
    return [turn.state for turn in await guest.turns()]


async def test_a_turn_may_end_when_the_gateway_is_asked_to_stop(house: GatewayScenario) -> None:
    """What is said within the time it has is sent, and what comes meanwhile waits outside."""
    alice = house.guest("Alice")
    pace = replace(house.settings.pace, drain=timedelta(seconds=5))
    await house.stops()
    await house.comes_back(replace(house.settings, pace=pace))
    house.agent.will(Hangs(), Says("just in time"))
    await alice.says("a job")

    stopping = house.stops_soon()
    alice.writes("too late for this one")
    await house.until(lambda: not house.gateway.is_ready, "it takes in nothing more")
    house.agent.goes_on()
    await stopping

    assert alice.sees == ["just in time"]
    assert house.simulated("telegram").unacknowledged == 1
    await house.comes_back()
    assert alice.sees == ["just in time", "ok"]


async def test_what_does_not_end_in_time_goes_on_with_the_next_gateway(
    house: GatewayScenario,
) -> None:
    """The agent is told that it was cut off, and what it had said."""
    alice = house.guest("Alice")
    house.agent.will(Says("Once upon a time"), Hangs())
    await alice.says("a story")
    await alice.hears("Once upon a time")
    await house.stops()

    house.agent.will(Says("the end."))
    await house.comes_back()

    assert house.agent.was_told("You were cut off while you answered")
    assert "Once upon a time" in house.agent.lines(Role.ASSISTANT)[0]
    assert alice.sees[-1].endswith("the end.")
    assert await states(alice) == ["done"]


async def test_a_crash_loses_nothing_and_repeats_nothing(house: GatewayScenario) -> None:
    """A message that was acknowledged is answered; one that was not is brought again, once."""
    alice, bob = house.guest("Alice"), house.guest("Bob")
    house.agent.will(Hangs())
    await alice.says("taken before")
    await alice.says("waits in line")
    await house.crashes()
    bob.writes("while nobody was there")
    house.simulated("telegram").repeat()

    await house.comes_back()

    assert [text.splitlines()[-1] for text in alice.sees] == ["ok", "ok"]
    assert bob.sees == ["ok"]
    assert await states(alice) == ["done", "done"]


async def test_what_is_owed_comes_before_what_is_new(house: GatewayScenario) -> None:
    """An answer that was ready when the gateway crashed is sent first."""
    alice, bob = house.guest("Alice"), house.guest("Bob")
    telegram = house.simulated("telegram")
    telegram.suffer(SendFault.FLOOD, at=alice.at, retry_after=timedelta(minutes=1))
    house.agent.will(Says("the answer to Alice"))
    await alice.says("hello")
    house.agent.will(Hangs())
    await bob.says("a long job")
    await house.crashes()

    house.clock.advance(timedelta(minutes=2))
    house.agent.will(Says("the answer to Bob"))
    await house.comes_back()

    said = [shown.text for shown in telegram.chats if shown.by is None]
    assert said[0] == "the answer to Alice"
    assert said[1].endswith("the answer to Bob")


async def test_what_was_on_its_way_is_repeated_and_says_so(house: GatewayScenario) -> None:
    """If the gateway dies while it sends, nobody knows whether it was seen."""
    house.platforms["plain"] = Simulated("plain", capabilities=Capabilities(), clock=house.clock)
    access = AccessRules(allow=["plain:*"])
    await house.stops()
    await house.comes_back(replace(house.settings, access=access))
    alice, plain = house.guest("Alice", on="plain"), house.simulated("plain")
    plain.suffer(SendFault.HANG)
    alice.writes("hello")
    await house.until(lambda: bool(plain.sends), "it is on its way")
    await house.crashes()

    await house.comes_back()
    await house.time_passes(minutes=5)

    assert alice.sees == [f"{REPEAT_MARKER}\nok"]


@pytest.mark.parametrize("crashes", [2, MAX_REPEATS + 1])
async def test_crashes_while_a_reply_is_sent_do_not_give_it_up(
    house: GatewayScenario, crashes: int
) -> None:
    """It is sent again, marked; after five repeats it fails visibly, and can be resent."""
    house.platforms["plain"] = Simulated("plain", capabilities=Capabilities(), clock=house.clock)
    await house.stops()
    await house.comes_back(replace(house.settings, access=AccessRules(allow=["plain:*"])))
    alice, plain = house.guest("Alice", on="plain"), house.simulated("plain")
    plain.suffer(SendFault.HANG, times=crashes)
    alice.writes("hello")
    for _ in range(crashes):
        await house.until(lambda: bool(plain.sends), "it is on its way")
        await house.crashes()
        plain.sends.clear()
        await house.comes_back()
        house.clock.advance(timedelta(minutes=5))
        house.gateway.outbox.wake()
    await house.rests()

    if crashes > MAX_REPEATS:
        assert alice.sees == []
        (lost,) = await house.store.deliveries.lost()
        await house.store.deliveries.resend(lost.id)
        await house.rests()
    assert alice.sees == [f"{REPEAT_MARKER}\nok"]


async def test_the_third_interruption_suspends_the_session_and_says_so(
    house: GatewayScenario,
) -> None:
    """Alice is told that it is not tried again; her next words begin anew, and are told why."""
    alice = house.guest("Alice")
    for _ in range(3):
        house.agent.will(Hangs())
    await alice.says("a poisonous message")
    old = await alice.session()
    for _ in range(3):
        await house.crashes_and_comes_back()

    assert len(house.agent.requests) == 3
    assert await states(alice) == [TurnState.FAILED]
    assert "It was cut off 3 times and is not tried again." in alice.sees[-1]
    assert (await house.store.sessions.get(old.id)).suspended_at is not None

    answer = await alice.asks("hello?")
    assert answer == f"{tell_person(Cause.SUSPENDED)}\n\nok"
    assert (await alice.session()).parent_id == old.id
    assert house.agent.saw_only("hello?")


async def test_what_waited_behind_a_suspended_turn_is_answered(house: GatewayScenario) -> None:
    """In the fresh session, by itself."""
    alice = house.guest("Alice")
    for _ in range(3):
        house.agent.will(Hangs())
    await alice.says("a poisonous message")
    await alice.says("an innocent one")
    for _ in range(3):
        await house.crashes_and_comes_back()

    assert house.agent.saw_only("an innocent one")
    assert alice.sees[-1].endswith("ok")


async def test_old_turns_fail_visibly(house: GatewayScenario) -> None:
    """Two hours later nobody waits for the answer; the transcript and Alice are told why."""
    alice = house.guest("Alice")
    house.agent.will(Streams("Once upon"), Hangs())
    await alice.says("a story")
    await alice.hears("Once upon")
    await house.time_passes(seconds=2)
    await house.crashes()
    house.clock.advance(timedelta(hours=2))

    await house.comes_back()

    assert await states(alice) == [TurnState.FAILED]
    assert "too long ago" in alice.sees[-1]
    markers = [
        p.text for line in await alice.transcript() for p in line.parts if isinstance(p, Marker)
    ]
    assert any("too long ago" in text for text in markers)
    assert await alice.asks("hello?") == "ok"


async def test_who_is_not_on_the_list_any_more_is_not_answered(house: GatewayScenario) -> None:
    """The settings changed while the gateway was down; others go on."""
    alice, bob = house.guest("Alice"), house.guest("Bob")
    for guest in (alice, bob):
        house.agent.will(Hangs())
        await guest.says("a long job")
    await house.crashes()

    await house.comes_back(replace(house.settings, access=AccessRules(allow=["telegram:bob"])))

    assert await states(alice) == [TurnState.FAILED]
    assert await states(bob) == [TurnState.DONE]
    assert UNKNOWN not in alice.sees


async def test_a_question_survives_a_restart(house: GatewayScenario) -> None:
    """It is asked once, and the answer that comes to the next gateway counts."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Shall I delete it?"))
    await alice.says("delete my files")
    await house.crashes_and_comes_back()
    assert len([text for text in alice.sees if "Shall I" in text]) == 1

    house.agent.will(Says("It is gone."))
    await alice.says("/approve")

    assert alice.sees[-1] == "It is gone."


async def test_an_answer_grows_on_after_a_crash(house: GatewayScenario) -> None:
    """Alice watches one message, though the gateway dies in between."""
    alice = house.guest("Alice")
    house.agent.will(Streams("Once upon"), Hangs())
    await alice.says("a story")
    await alice.hears("Once upon")
    await house.time_passes(seconds=2)
    await house.crashes()

    house.agent.will(Says("a time."))
    await house.comes_back()

    (shown,) = alice.sees
    assert shown.startswith("Once upon\n")
    assert shown.endswith("a time.")


async def test_an_agent_that_says_nothing_is_given_up(house: GatewayScenario) -> None:
    """Alice is warned half way, once; then the turn fails and says so, and the next one runs."""
    alice = house.guest("Alice")
    house.agent.will(Hangs())
    await alice.says("think")
    for minutes in (16, 17):
        await house.agent_is_silent(minutes=minutes)
    (warned,) = alice.sees
    assert "I have heard nothing from the agent for 16 min." in warned
    await alice.says("are you there?")

    await house.agent_is_silent(minutes=31)

    assert "The agent said nothing for 30 minutes." in alice.sees[1]
    assert alice.sees[2:] == ["ok"]
    assert await states(alice) == [TurnState.FAILED, TurnState.DONE]


async def test_a_store_that_is_away_for_a_while_loses_nothing(
    house: GatewayScenario, fickle: list[Fickle]
) -> None:
    """What is written meanwhile is not acknowledged, is brought again, and is answered."""
    alice, bob = house.guest("Alice"), house.guest("Bob")
    house.agent.will(Hangs(), Says("done"))
    await alice.says("a long job")
    fickle[-1].is_away = True
    bob.writes("hello?")
    house.agent.goes_on()
    await house.until(lambda: fickle[-1].missed >= 3, "it is missed")
    assert (alice.sees, bob.sees) == ([], [])
    assert house.simulated("telegram").unacknowledged == 1

    fickle[-1].is_away = False
    await house.time_passes(minutes=3)

    assert bob.sees == ["ok"]
    assert alice.sees[-1].endswith(("ok", "done"))
    assert house.gateway.is_ready
