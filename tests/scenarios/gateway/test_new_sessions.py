"""How conversations begin: first messages, resets, and what people and agents are told of them."""

from datetime import UTC, timedelta

from msgspec.structs import replace

from threadline.core.instructions import Instructions
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.session import Cause
from threadline.core.settings import Settings
from threadline.core.system_notes import tell_person
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scripted_agent import Hangs, Says

FIRST = "This is the first message that this person ever sent"


async def test_a_person_is_greeted_once(house: GatewayScenario) -> None:
    """The agent is told of the first message of all, and of the first one of each person."""
    alice, bob = house.guest("Alice"), house.guest("Bob")

    await alice.says("hello")
    assert house.agent.was_told(f"{FIRST} to this installation.")
    await bob.says("hello")
    assert house.agent.was_told(f"{FIRST} to you.")
    await bob.says("/new")
    await bob.says("hello again")
    assert not house.agent.was_told(FIRST)


async def test_a_reset_is_told_once_with_the_next_reply(house: GatewayScenario) -> None:
    """Nobody is woken at night; in the morning the first answer says why, and no other."""
    alice = house.guest("Alice")
    await alice.says("good night")
    await house.time_passes(hours=9)
    await house.sweeps()
    assert alice.sees == ["ok"]

    why = tell_person(Cause.IDLE)
    assert await alice.asks("good morning") == f"{why}\n\nok"
    assert house.agent.was_told("ended after a long silence")
    assert house.agent.saw_only("good morning")
    assert await alice.asks("how are you?") == "ok"


async def test_a_reset_is_told_even_if_the_gateway_was_down(house: GatewayScenario) -> None:
    """The notice belongs to the reply, and survives a crash before it."""
    alice = house.guest("Alice")
    await alice.says("good night")
    await house.stops()
    await house.time_passes(hours=9)
    await house.comes_back()
    house.agent.will(Hangs())
    await alice.says("good morning")

    await house.crashes_and_comes_back()

    (answer,) = alice.sees[1:]
    assert answer.startswith(f"{tell_person(Cause.IDLE)}\n\n")
    assert answer.endswith("\n\nok")


async def test_nobody_is_told_who_does_not_want_to(house: GatewayScenario) -> None:
    """With `notify` off the conversation is new, and nothing is said about it."""
    quiet = ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(hours=1), notify=False)
    house.lives_by(Settings(policies=Policies(default=quiet)))
    alice = house.guest("Alice")
    await alice.says("hello")
    await house.time_passes(hours=2)

    assert await alice.asks("hello again") == "ok"
    assert house.agent.saw_only("hello again")


async def test_a_day_turns_on_one_platform_and_not_on_the_other(house: GatewayScenario) -> None:
    """Each platform may have a policy of its own."""
    daily = ResetPolicy(mode=ResetMode.DAILY, at_hour=4, timezone=UTC)
    house.lives_by(Settings(policies=Policies(by_platform={"telegram": daily})))
    here, there = house.guest("Alice"), house.guest("Alice", on="discord")
    for guest in (here, there):
        await guest.says("good night")
    await house.time_passes(hours=20)

    assert (await here.asks("hello")).startswith(tell_person(Cause.DAILY) or "")
    assert await there.asks("hello") == "ok"
    assert house.agent.saw_only("good night", "hello")


async def test_a_running_turn_keeps_its_session(house: GatewayScenario) -> None:
    """However long it takes, nothing ends meanwhile, and its answer carries no notice."""
    alice = house.guest("Alice")
    house.agent.will(Hangs(), Says("done at last"))
    await alice.says("a long job")
    await house.time_passes(hours=20)
    await house.sweeps()

    await house.agent_goes_on()

    assert alice.sees == ["done at last"]
    assert len(await house.sessions()) == 1


async def test_group_chatter_is_context_and_starts_no_turn(house: GatewayScenario) -> None:
    """What is said beside the agent is there when it is asked, with who said it."""
    bob = house.guest("Bob").in_thread("Garden", "Peas")
    alice = house.guest("Alice").in_thread("Garden", "Peas")

    await bob.says("the peas are up", observed=True)
    assert not house.agent.requests
    await alice.says("what is up?")

    assert house.agent.saw_only("[Bob] the peas are up", "[Alice] what is up?")


async def test_chatter_reaches_every_members_own_conversation(house: GatewayScenario) -> None:
    """Where each member has a conversation of their own, whoever asks is shown what others said."""
    bob, alice, carol = (house.guest(name).in_group("Garden") for name in ("Bob", "Alice", "Carol"))

    await bob.says("the peas are up", observed=True)
    assert not house.agent.requests
    await alice.says("what is up?")
    assert house.agent.saw_only("[Bob] the peas are up", "what is up?")
    await carol.says("and for me?")
    assert house.agent.saw_only("[Bob] the peas are up", "and for me?")


async def test_the_agent_knows_where_it_speaks(house: GatewayScenario) -> None:
    """Platform, place and people, in a text that stays the same from turn to turn."""
    alice = house.guest("Alice").in_thread("Garden", "Peas")
    await alice.says("one")
    first = house.agent.last.instructions
    await house.time_passes(minutes=5)
    await alice.says("two")

    assert house.agent.last.instructions == first
    for words in ("telegram", "discord", '"Garden"', '"Peas"'):
        assert words in first


async def test_a_chat_may_have_instructions_of_its_own(house: GatewayScenario) -> None:
    """They open every session there, and none elsewhere."""
    bound = Instructions(platform="telegram", chat="group-garden", text="Speak of peas only.")
    await house.stops()
    await house.comes_back(replace(house.settings, instructions=(bound,)))
    alice = house.guest("Alice")

    await alice.in_group("Garden").says("hello")
    assert "Speak of peas only." in house.agent.last.instructions
    await alice.says("hello")
    assert "Speak of peas only." not in house.agent.last.instructions


async def test_ids_are_hidden_where_that_is_wished(house: GatewayScenario) -> None:
    """The agent sees keyed hashes, the same after a restart; people are reached all the same."""
    await house.stops()
    await house.comes_back(replace(house.settings, redact=True))
    alice = house.guest("Alice")
    assert await alice.asks("hello") == "ok"
    first = house.agent.last.instructions

    await house.crashes_and_comes_back()
    await alice.says("again")

    assert "alice" not in first
    assert house.agent.last.instructions == first
