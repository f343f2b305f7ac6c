"""How old a message may be when it is answered."""

from datetime import timedelta

from msgspec.structs import replace

from tests.scenarios.test_commands import ask, bring
from threadline.core.gateway_status import PlatformHealth, PlatformState, Uptime
from threadline.core.inbound import Inbound
from threadline.core.message import Marker, MarkerKind, Message, Role
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.session import BusyMode, EndReason
from threadline.core.settings import Settings
from threadline.core.turn import TurnState
from threadline.store import gateways
from threadline.store.gateways import SERVED_EVERY, register_gateway
from threadline.store.turn_queue.queue import serve
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Hangs, Says

NOT_ANSWERED = "This message was not answered:"


def without_resets(house: Scenario, rules: Settings | None = None) -> ScenarioPerson:
    """Return a person whose conversations never end by themselves."""
    house.lives_by(replace(rules or house.rules, policies=Policies()))
    return house.person("alice", on="telegram")


def late(person: ScenarioPerson, text: str, **ago: float) -> Inbound:
    """Return a message that its platform brings some time after it was written."""
    return Inbound.text(
        text,
        address=person.address,
        sender=person.sender,
        at=person.house.clock() - timedelta(**ago),
        message_id=person.house.new_message_id(),
    )


async def was_cut_off(house: Scenario, **span: float) -> None:
    """Let the platform be out of reach for a while, ending now, while the process is up."""
    now = house.clock()
    health = [
        PlatformHealth(state=PlatformState.DOWN, since=now - timedelta(**span)),
        PlatformHealth(state=PlatformState.CONNECTING, since=now - timedelta(minutes=1)),
        PlatformHealth(state=PlatformState.UP, since=now),
    ]
    await house.store.database.write(
        register_gateway,
        owner=house.store.database.owner,
        host="ship",
        pid=1,
        version="1",
        url=None,
        platforms={"telegram": health[0]},
    )
    for one in health[1:]:
        await gateways.beat(house.store.database, {"telegram": one})


async def is_down(house: Scenario, **span: float) -> None:
    """Let the process vanish, time pass, and another process start."""
    await house.goes_down()
    await house.time_passes(**span)
    await house.comes_back()


def markers(lines: list[Message]) -> list[MarkerKind]:
    return [part.kind for line in lines for part in line.parts if isinstance(part, Marker)]


async def test_a_message_that_waited_through_an_outage_is_not_run(house: Scenario) -> None:
    """After three days nobody acts on what waited behind a cut-off turn, and the sender is told."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("tidy up")
    said = await alice.says("delete the old backups")

    await is_down(house, days=3)

    turn = await house.store.turns.get(said.turn_id)
    assert turn.state is TurnState.FAILED
    assert turn.error is not None
    assert turn.error.startswith(f"{NOT_ANSWERED} it waited 3 days in an outage.")
    assert [request.turn.id for request in house.agent.requests] != [said.turn_id]
    lines = await house.transcript_of(alice)
    assert [line.text for line in lines if line.role is Role.USER][-1] == "delete the old backups"
    assert markers(lines)[-1] is MarkerKind.EXPIRED
    assert [NOT_ANSWERED in reply.text for reply in await house.replies_to(alice)] == [False, True]


async def test_what_expired_can_be_retried(house: Scenario) -> None:
    """`/retry` runs a message that expired, and its answer takes the place of the marker."""
    alice = without_resets(house)
    await alice.says("hello")
    await house.goes_down()
    door = await house.open_another()
    await door.receive(late(alice, "delete the old backups"))
    await door.close()
    await house.time_passes(days=3)
    await house.comes_back()
    assert markers(await house.transcript_of(alice)) == [MarkerKind.EXPIRED]

    house.agent.will(Says("deleted"))
    await ask(alice, "/retry")
    await house.rests()

    assert house.agent.last.trigger.at is not None
    assert [line.text for line in await house.transcript_of(alice)][-2:] == [
        "delete the old backups",
        "deleted",
    ]


async def test_the_sender_is_told_once_of_everything_that_expired(house: Scenario) -> None:
    """One reply covers all messages of a conversation that waited through an outage."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("zero")
    said = [await alice.says(text) for text in ("one", "two", "three")]

    await is_down(house, hours=2)

    states = [(await house.store.turns.get(one.turn_id)).state for one in said]
    assert states == [TurnState.FAILED] * 3
    (told,) = [one for one in await house.replies_to(alice) if NOT_ANSWERED in one.text]
    assert told.text.endswith("The same holds for 2 messages before it.")


async def test_a_message_behind_a_long_turn_does_not_expire(house: Scenario) -> None:
    """Time in which a gateway served does not count, however long the turn before takes."""
    alice = without_resets(house)
    house.agent.will(Hangs(), Says("tidied up"))
    await alice.says("tidy up")
    said = await alice.says("and then say hello")

    await house.time_passes(hours=30)
    house.agent.goes_on()
    await house.rests()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_several_outages_add_up(house: Scenario) -> None:
    """Two outages of forty minutes make a message as old as one of eighty."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("tidy up")
    said = await alice.says("delete the old backups")
    house.agent.will(Hangs())

    await is_down(house, minutes=40)
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.QUEUED
    await is_down(house, minutes=40)

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.FAILED


async def test_a_short_outage_expires_nothing(house: Scenario) -> None:
    """A message is answered after an outage that is shorter than the window."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("one")
    said = await alice.says("two")

    await is_down(house, minutes=50)

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_a_window_of_zero_expires_nothing(house: Scenario) -> None:
    """Without a window what waited is answered however long the outage was."""
    alice = without_resets(house, Settings(freshness=timedelta(0)))
    house.agent.will(Hangs())
    await alice.says("one")
    said = await alice.says("two")

    await is_down(house, days=3)

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_what_waited_obeys_the_reset_policy(house: Scenario) -> None:
    """If the conversation ended during the outage, what waited in it expires with it."""
    policy = ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(minutes=30))
    house.lives_by(replace(house.rules, policies=Policies(default=policy)))
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("one")
    said = await alice.says("two")
    session = await alice.session()

    await is_down(house, minutes=50)

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.FAILED
    assert (await house.store.sessions.get(session.id)).end_reason is EndReason.IDLE
    assert markers(await house.transcript_of(session))[-1] is MarkerKind.EXPIRED
    told = [reply for reply in await house.replies_to(alice) if "never answered" in reply.text]
    assert len(told) == 1


async def test_a_platform_that_catches_up_brings_nothing_to_run(house: Scenario) -> None:
    """Messages written long before they arrive expire, and the sender is told once."""
    alice = without_resets(house)
    await alice.says("hello")
    await was_cut_off(house, hours=6)
    caught_up = [late(alice, text, hours=5) for text in ("one", "two", "three")]

    for inbound in caught_up:
        await house.store.receive(inbound)
        await house.rests()
    await alice.says("hello again")

    lines = await house.transcript_of(alice)
    assert markers(lines) == [MarkerKind.EXPIRED] * 3
    assert [(line.at, line.arrived_at) for line in lines if line.text == "one"] == [
        (caught_up[0].at, caught_up[0].at + timedelta(hours=5))
    ]
    assert [request.history[-1].text for request in house.agent.requests] == [
        "hello",
        "hello again",
    ]
    (told,) = [one for one in await house.replies_to(alice) if NOT_ANSWERED in one.text]
    assert "it arrived 5 hours after it was written" in told.text


async def test_the_agent_is_told_when_a_message_is_late(house: Scenario) -> None:
    """A message within the window runs, with the time of writing and the time of arrival."""
    alice = without_resets(house)
    inbound = late(alice, "are you there?", minutes=20)

    await house.store.receive(inbound)
    await house.rests()

    trigger = house.agent.last.trigger
    assert (trigger.at, trigger.arrived_at) == (inbound.at, inbound.at + timedelta(minutes=20))


async def test_messages_caught_up_after_an_outage_count_from_their_writing(house: Scenario) -> None:
    """What a platform kept while nothing ran is as old as if it had arrived at once."""
    alice = without_resets(house)
    await alice.says("hello")
    await is_down(house, hours=5)

    await house.store.receive(late(alice, "this morning", hours=4))
    await house.store.receive(late(alice, "just now", minutes=1))
    await house.rests()

    assert house.agent.last.history[-1].text == "just now"
    assert len(house.agent.requests) == 2
    assert markers(await house.transcript_of(alice)) == [MarkerKind.EXPIRED]


async def test_a_platform_still_away_counts_before_its_return_is_recorded(house: Scenario) -> None:
    """The first message after an outage of a platform may arrive before the gateway notes it."""
    alice = without_resets(house)
    away = PlatformHealth(state=PlatformState.DOWN, since=house.clock() - timedelta(hours=6))
    await house.store.database.write(
        register_gateway,
        owner=house.store.database.owner,
        host="ship",
        pid=1,
        version="1",
        url=None,
        platforms={"telegram": away},
    )

    await house.store.receive(late(alice, "this morning", hours=5))
    await house.rests()

    assert markers(await house.transcript_of(alice)) == [MarkerKind.EXPIRED]


async def test_a_wrong_clock_expires_nothing(house: Scenario) -> None:
    """If nothing was out of reach, a message that looks old is answered, and said to be late."""
    alice = without_resets(house)

    await house.store.receive(late(alice, "hello", days=8))
    await house.rests()

    assert house.agent.saw_only("hello")
    assert house.agent.last.trigger.arrived_at == house.clock()


async def test_a_message_is_never_written_after_it_arrived(house: Scenario) -> None:
    """A platform whose clock is ahead does not move a message into the future."""
    alice = without_resets(house)

    await house.store.receive(late(alice, "hello", hours=-3))
    await house.rests()

    (line, _) = [line for line in await house.transcript_of(alice) if line.role is not Role.SYSTEM]
    assert (line.at, line.arrived_at) == (house.clock(), None)


async def test_an_old_message_stops_nothing(house: Scenario) -> None:
    """What is too old to be answered interrupts no running turn, and joins none."""
    alice = without_resets(house, Settings(busy=BusyMode.INTERRUPT))
    house.agent.will(Hangs(), Says("done"))
    said = await alice.says("a long task")
    await was_cut_off(house, hours=6)

    await house.store.receive(late(alice, "stop that", hours=5))
    await house.rests()
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.RUNNING
    house.agent.goes_on()
    await house.rests()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE
    assert len(house.agent.requests) == 1


async def test_a_new_message_does_not_join_one_that_may_expire(house: Scenario) -> None:
    """With `collect`, a message after an outage gets a turn of its own, which is answered."""
    alice = without_resets(house, Settings(busy=BusyMode.COLLECT))
    house.agent.will(Hangs())
    await alice.says("tidy up")
    old = await alice.says("delete the old backups")
    await house.goes_down()
    await house.time_passes(days=3)
    door = await house.open_another()
    new = await door.receive(late(alice, "good morning"))
    await door.close()

    await house.comes_back()

    assert new.turn_id is not None
    assert (await house.store.turns.get(old.turn_id)).state is TurnState.FAILED
    assert (await house.store.turns.get(new.turn_id)).state is TurnState.DONE


async def test_a_command_that_waited_through_an_outage_is_refused(house: Scenario) -> None:
    """A queued command is as old as a queued message, and its sender is told what to do."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("one")
    await ask(alice, "/compress")

    await is_down(house, hours=2)
    await house.worker.backlog.work_off()

    replies = [reply.text for reply in await house.replies_to(alice)]
    assert any(text.startswith("This command was not carried out") for text in replies)


async def test_a_command_that_arrives_late_is_refused(house: Scenario) -> None:
    """`/new` from five hours ago does not end the conversation of today."""
    alice = without_resets(house)
    await alice.says("hello")
    session = await alice.session()
    await was_cut_off(house, hours=6)

    await bring(alice, late(alice, "/new", hours=5))

    assert (await alice.session()).id == session.id
    assert (await alice.session()).ended_at is None


async def test_a_machine_that_slept_did_not_serve(house: Scenario) -> None:
    """A process that wakes up after a night counts the night as an outage."""
    alice = without_resets(house)
    house.agent.will(Hangs(), Says("tidied up"))
    await alice.says("tidy up")
    said = await alice.says("delete the old backups")

    slept = timedelta(hours=9)
    house.clock.advance(slept)
    house.store.uptime = lambda: Uptime(boot="house", elapsed=slept)
    await house.worker.recover()
    house.agent.goes_on()
    await house.rests()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.FAILED


async def test_a_clock_that_jumps_is_no_outage(house: Scenario) -> None:
    """Setting the clock ahead makes no message older, also across a restart of the process."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("one")
    said = await alice.says("two")

    await house.goes_down()
    house.clock.advance(timedelta(days=8))
    await house.comes_back()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_a_platform_was_not_away_for_the_time_that_the_clock_skipped(house: Scenario) -> None:
    """It was connecting when the clock was set a week ahead: a message written then is answered."""
    alice = without_resets(house)
    connecting = PlatformHealth(state=PlatformState.CONNECTING, since=house.clock())
    await house.store.database.write(
        register_gateway,
        owner=house.store.database.owner,
        host="ship",
        pid=1,
        version="1",
        url=None,
        platforms={"telegram": connecting},
    )
    await serve(house.store.database)
    house.clock.advance(timedelta(days=8))
    up = PlatformHealth(state=PlatformState.UP, since=house.clock())
    await gateways.beat(house.store.database, {"telegram": up})

    await house.store.receive(late(alice, "this morning", days=8))
    await house.rests()

    assert not markers(await house.transcript_of(alice))


async def test_an_outage_before_the_clock_jumped_still_counts(house: Scenario) -> None:
    """Only the time that the clock skipped is left out."""
    alice = without_resets(house)
    await was_cut_off(house, hours=6)
    await serve(house.store.database)
    house.clock.advance(timedelta(days=8))

    await house.store.receive(late(alice, "this morning", days=8, hours=5))
    await house.rests()

    assert markers(await house.transcript_of(alice)) == [MarkerKind.EXPIRED]


async def test_an_outage_after_the_clock_was_set_back_counts(house: Scenario) -> None:
    """Time that the clock had skipped, and comes back to, does pass."""
    alice = without_resets(house)
    house.agent.will(Hangs())
    await alice.says("tidy up")
    said = await alice.says("delete the old backups")
    for jump in (timedelta(days=8), -timedelta(days=8)):
        house.clock.advance(jump)
        await serve(house.store.database)

    await is_down(house, days=3)

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.FAILED


async def test_another_machine_that_served_prevents_an_outage(house: Scenario) -> None:
    """A process that starts or wakes up while another one serves records no outage."""
    alice = without_resets(house)
    house.agent.will(Hangs(), Says("1"))
    await alice.says("one")
    said = await alice.says("two")
    other = await house.open_another()
    other.uptime = lambda: Uptime(boot="other", elapsed=timedelta(hours=3))

    for _ in range(3):
        house.clock.advance(timedelta(hours=1))
        await serve(house.store.database)
    house.clock.advance(SERVED_EVERY)
    await serve(other.database)
    await other.close()
    house.agent.goes_on()
    await house.rests()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE
