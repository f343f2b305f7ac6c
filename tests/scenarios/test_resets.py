from datetime import timedelta
from zoneinfo import ZoneInfo

from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.session import Cause, EndReason
from threadline.core.settings import Settings
from threadline.store.sessions.session_settings import set_summary
from threadline.testing.scenario import A_NIGHT, Scenario
from threadline.testing.scripted_agent import Fails, Hangs, Says


def resets(policy: ResetPolicy) -> Settings:
    return Settings(policies=Policies(default=policy))


def idle(*, notify: bool = True, carry: Carry = Carry()) -> Settings:
    policy = ResetPolicy(mode=ResetMode.IDLE, idle=A_NIGHT, notify=notify, carry=carry)
    return resets(policy)


async def test_a_quiet_night_starts_a_new_session(house: Scenario) -> None:
    """After a night of silence Alice gets a fresh session, and the old one stays readable."""
    alice = house.person("alice", on="telegram")

    await alice.says("remember the number 7")
    await house.time_passes(hours=9)
    await alice.says("hello again")

    old, new = await house.sessions_of(alice)
    assert (new.parent_id, new.cause) == (old.id, Cause.IDLE)
    assert old.end_reason is EndReason.IDLE
    assert house.agent.saw_only("hello again")
    assert "remember the number 7" in [line.text for line in await house.transcript_of(old)]


async def test_a_short_silence_changes_nothing(house: Scenario) -> None:
    """Before the time is over the conversation simply goes on."""
    alice = house.person("alice", on="telegram")

    await alice.says("remember the number 7")
    await house.time_passes(hours=7, minutes=59)
    await alice.says("hello again")

    assert house.agent.saw_only("remember the number 7", "hello again")


async def test_none_means_none(house: Scenario) -> None:
    """Where no reset is wanted a conversation goes on after a year (ask 7)."""
    house.lives_by(Settings())
    alice = house.person("alice", on="telegram")

    await alice.says("see you")
    await house.time_passes(days=365)
    await house.sweeps()
    await alice.says("I am back")

    assert house.agent.saw_only("see you", "I am back")
    assert not house.endings


async def test_a_new_day_starts_a_new_session(house: Scenario) -> None:
    """With daily resets the day turns at the owner's hour, in the owner's time zone."""
    zone = ZoneInfo("America/New_York")
    house.lives_by(resets(ResetPolicy(mode=ResetMode.DAILY, at_hour=4, timezone=zone)))
    alice = house.person("alice", on="telegram")

    await alice.says("it is just past four in the morning here")
    await house.time_passes(hours=23, minutes=58)
    await alice.says("still the same day")
    await house.time_passes(minutes=2)
    await alice.says("good morning")

    assert (await alice.session()).cause is Cause.DAILY
    assert house.agent.saw_only("good morning")


async def test_the_person_is_told_once_with_the_next_reply(house: Scenario) -> None:
    """A reset is explained with the first answer after it, never alone and never twice (ask 7)."""
    alice = house.person("alice", on="telegram")

    await alice.says("good night")
    await house.time_passes(hours=9)
    await house.sweeps()
    assert len(await house.replies_to(alice)) == 1
    await alice.says("good morning")
    await alice.says("how are you?")

    notices = [reply.notice for reply in await house.replies_to(alice)]
    assert notices == [None, Cause.IDLE, None]


async def test_the_notice_comes_also_when_the_answer_fails(house: Scenario) -> None:
    """The first reply after a reset explains it, even if that reply is a failure (ask 7)."""
    alice = house.person("alice", on="telegram")

    await alice.says("good night")
    await house.time_passes(hours=9)
    house.agent.will(Fails())
    await alice.says("good morning")
    await alice.says("again")

    assert [reply.notice for reply in await house.replies_to(alice)] == [None, Cause.IDLE, None]


async def test_the_agent_is_told_too(house: Scenario) -> None:
    """The agent knows that there was a conversation before, and why it ended."""
    alice = house.person("alice", on="telegram")

    await alice.says("good night")
    await house.time_passes(hours=9)
    await alice.says("good morning")

    assert house.agent.was_told("ended after a long silence")


async def test_a_person_who_wants_no_notice_gets_none(house: Scenario) -> None:
    """With notify = false the reset is silent to the person; the agent still knows."""
    house.lives_by(idle(notify=False))
    alice = house.person("alice", on="telegram")

    await alice.says("good night")
    await house.time_passes(hours=9)
    await alice.says("good morning")

    assert [reply.notice for reply in await house.replies_to(alice)] == [None, None]
    assert house.agent.was_told("ended after a long silence")


async def test_nobody_is_told_of_a_conversation_that_never_was(house: Scenario) -> None:
    """A session in which nothing was ever said ends without a word."""
    alice = house.person("alice", on="telegram")

    await alice.resets("Groceries")
    await house.time_passes(hours=9)
    await alice.says("hello")

    assert [reply.notice for reply in await house.replies_to(alice)] == [None]


async def test_the_last_words_can_be_carried_over(house: Scenario) -> None:
    """With carry = "last 2 messages" the new session begins with what was said last (ask 7)."""
    house.lives_by(idle(carry=Carry.last(2)))
    alice = house.person("alice", on="telegram")
    house.agent.will(Says("noted: 7"))

    await alice.says("remember the number 7")
    await house.time_passes(hours=9)
    await alice.says("which number?")

    assert house.agent.was_told("user: remember the number 7\nassistant: noted: 7")
    assert house.agent.saw_only("which number?")


async def test_a_summary_can_be_carried_over(house: Scenario) -> None:
    """With carry = "summary" the new session begins with what the old one was about (ask 7)."""
    house.lives_by(idle(carry=Carry.summary()))
    alice = house.person("alice", on="telegram")

    said = await alice.says("remember the number 7")
    await house.store.database.write(set_summary, said.session_id, "Alice likes the number 7.")
    await house.time_passes(hours=9)
    await alice.says("which number?")

    assert house.agent.was_told("Alice likes the number 7.")


async def test_reading_is_no_activity(house: Scenario) -> None:
    """Looking at a session, and asking where a message would go, keep nothing alive."""
    alice = house.person("alice", on="telegram")

    await alice.says("good night")
    await house.time_passes(hours=5)
    await house.transcript_of(alice)
    await house.store.sessions.explain(alice.address, alice.sender)
    await house.time_passes(hours=4)
    await alice.says("good morning")

    assert house.agent.saw_only("good morning")


async def test_a_late_answer_is_activity(house: Scenario) -> None:
    """The silence begins when the agent has answered, not when it was asked."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())

    await alice.says("a long job")
    await house.time_passes(hours=7)
    house.agent.goes_on()
    await house.rests()
    await house.time_passes(hours=7)
    await alice.says("thanks")

    assert house.agent.saw_only("a long job", "thanks")


async def test_a_running_turn_keeps_its_session(house: Scenario) -> None:
    """A session whose agent is at work never expires, however long that takes (asks 7, 18)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs(), Says("done at last"))

    said = await alice.says("a very long job")
    await house.time_passes(hours=20)
    await house.sweeps()
    assert (await alice.session()).is_open
    house.agent.goes_on()
    await house.rests()

    assert (await house.transcript_of(said.session_id))[-1].text == "done at last"


async def test_a_held_session_does_not_expire(house: Scenario) -> None:
    """What somebody holds stays open, and may go when the hold is over (ask 7)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("start the build")
    until = house.clock() + timedelta(hours=12)
    await house.store.sessions.hold(said.session_id, "build", until)

    await house.time_passes(hours=11)
    await house.sweeps()
    assert (await alice.session()).is_open

    await house.time_passes(hours=2)
    await house.sweeps()
    assert (await alice.session()).end_reason is EndReason.IDLE


async def test_a_hold_can_be_renewed_and_released(house: Scenario) -> None:
    """Holding again moves the end of a hold; letting go ends it at once."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("start the build")

    for _ in range(3):
        await house.store.sessions.hold(
            said.session_id, "build", house.clock() + timedelta(hours=6)
        )
        await house.time_passes(hours=5)
    await alice.says("ready?")
    assert house.agent.saw_only("start the build", "ready?")

    await house.store.sessions.release(said.session_id, "build")
    await house.time_passes(hours=9)
    await alice.says("hello")
    assert house.agent.saw_only("hello")


async def test_a_new_session_stays_new_after_a_crash(house: Scenario) -> None:
    """No recovery brings a session back that somebody left with /new (ask 21)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("an endless task")

    await alice.resets()
    await house.crash()
    await alice.says("something else")

    assert house.agent.saw_only("something else")
    assert (await alice.session()).cause is Cause.NEW
    assert len(house.agent.requests) == 2


async def test_asking_for_a_new_session_explains_nothing(house: Scenario) -> None:
    """Whoever asked for it knows why the session is new."""
    alice = house.person("alice", on="telegram")

    await alice.says("hello")
    await alice.resets()
    await alice.says("hello")

    assert [reply.notice for reply in await house.replies_to(alice)] == [None, None]


async def test_a_new_session_is_stored_with_its_first_message(house: Scenario) -> None:
    """`/new` alone stores nothing: the session begins when something is said in it."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("hello")

    change = await alice.resets()
    assert change is not None
    assert (change.left_id, change.session_id) == (first.session_id, None)
    assert len(await house.sessions_of(alice)) == 1
    await alice.says("hello")

    assert len(await house.sessions_of(alice)) == 2
