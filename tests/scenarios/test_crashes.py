import asyncio
from datetime import timedelta

from msgspec.structs import replace

from threadline.core.inbound import Inbound
from threadline.core.message import Marker, MarkerKind, Message, Role
from threadline.core.session import Cause, EndReason
from threadline.core.turn import TurnState
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import AsksLive, Fails, Hangs, Says, Streams


def markers(lines: list[Message]) -> list[MarkerKind]:
    return [part.kind for line in lines for part in line.parts if isinstance(part, Marker)]


async def test_a_cut_off_turn_goes_on_by_itself(house: Scenario) -> None:
    """After a crash the turn runs again, and the agent knows what it already said (asks 2, 25)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("Once upon"), Hangs())
    said = await alice.says("tell me a story")
    await house.time_passes(seconds=2)

    await house.crash()

    (partial,) = house.agent.lines(Role.ASSISTANT)
    assert partial.startswith("Once upon")
    assert house.agent.was_told("You were cut off")
    assert house.agent.was_told("(9 characters)")
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE
    assert MarkerKind.INTERRUPTED in markers(await house.transcript_of(alice))


async def test_an_agent_that_had_said_nothing_is_not_told_otherwise(house: Scenario) -> None:
    """A turn that was cut off before its first word keeps nothing, and says so (ask 25)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("tell me a story")

    await house.crash()

    assert house.agent.was_told("are asked again now.")
    assert not house.agent.was_told("What you had said")


async def test_what_was_waiting_is_answered_after_the_crash(house: Scenario) -> None:
    """Everything in the line survives, in its order (asks 2, 26)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("one")
    await alice.says("two")
    await alice.says("three")

    await house.crash()

    assert house.agent.saw_only("one", "two", "three")
    assert [turn.state for turn in await house.turns_of(alice)] == [TurnState.DONE] * 3


async def test_a_turn_that_was_cut_off_long_ago_is_not_taken_up(house: Scenario) -> None:
    """Past the freshness window a turn fails visibly; nobody acts on old wishes (asks 22, 25)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("Resetting "), Hangs())
    said = await alice.says("reset my password")
    await house.time_passes(seconds=2)

    await house.goes_down()
    await house.time_passes(hours=2)
    await house.comes_back()

    turn = await house.store.turns.get(said.turn_id)
    assert (turn.state, turn.error) == ("failed", "It was cut off too long ago to go on by itself.")
    assert len(house.agent.requests) == 1
    assert markers(await house.transcript_of(alice)) == ["interrupted", "failed"]


async def test_the_session_goes_on_after_a_failed_recovery(house: Scenario) -> None:
    """The next message is answered as itself; the old one stands marked before it (ask 22)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("reset my password")
    await house.goes_down()
    await house.time_passes(hours=2)
    await house.comes_back()

    await alice.says("hello")

    history = list(house.agent.last.history)
    assert history[-1].text == "hello"
    assert MarkerKind.FAILED in markers(history[:-1])


async def test_the_freshness_window_can_be_switched_off(house: Scenario) -> None:
    """With a window of zero a turn is taken up however old it is."""
    house.lives_by(replace(house.rules, freshness=timedelta(0)))
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("take your time")

    await house.goes_down()
    await house.time_passes(hours=7)
    await house.comes_back()

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE


async def test_recovery_obeys_the_reset_policy(house: Scenario) -> None:
    """A session that is over by its policy is not brought back by a recovery (ask 21)."""
    house.lives_by(replace(house.rules, freshness=timedelta(0)))
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("take your time")

    await house.goes_down()
    await house.time_passes(hours=9)
    await house.comes_back()
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.FAILED
    await alice.says("good morning")

    assert house.agent.saw_only("good morning")
    assert (await alice.session()).cause is Cause.IDLE


async def test_the_third_interruption_suspends_the_session(house: Scenario) -> None:
    """A session that breaks off three times in a row rests; the next message says so (ask 25)."""
    alice = house.person("alice", on="telegram")
    for _ in range(3):
        house.agent.will(Hangs())
    said = await alice.says("the poisonous task")

    for _ in range(3):
        await house.crash()
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.FAILED
    assert (await alice.session()).suspended_at is not None
    await alice.says("hello?")

    assert house.agent.saw_only("hello?")
    assert (await alice.session()).cause is Cause.SUSPENDED
    replies = await house.replies_to(alice)
    assert [reply.notice for reply in replies] == [None, Cause.SUSPENDED]
    assert "not tried again" in replies[0].text
    assert "cut off three times" in replies[1].text


async def test_what_waits_behind_a_poisonous_turn_is_answered(house: Scenario) -> None:
    """Waiting messages go on in the fresh session, without the task that broke the old one."""
    alice = house.person("alice", on="telegram")
    for _ in range(3):
        house.agent.will(Hangs())
    await alice.says("the poisonous task")
    await alice.says("and the weather?")
    await alice.says("and the news?")

    for _ in range(3):
        await house.crash()

    assert house.agent.saw_only("and the weather?", "and the news?")
    assert [turn.state for turn in await house.turns_of(alice)] == [TurnState.DONE] * 2
    notices = [reply.notice for reply in await house.replies_to(alice)]
    assert notices == [None, Cause.SUSPENDED, None]


async def test_suspension_is_said_also_after_a_night(house: Scenario) -> None:
    """A suspended session that has also been silent for long is still a suspended one (ask 25)."""
    alice = house.person("alice", on="telegram")
    for _ in range(3):
        house.agent.will(Hangs())
    said = await alice.says("the poisonous task")
    for _ in range(3):
        await house.crash()

    await house.time_passes(hours=9)
    await house.sweeps()
    await alice.says("good morning")

    assert (await house.store.sessions.get(said.session_id)).end_reason is EndReason.SUSPENDED
    assert (await alice.session()).cause is Cause.SUSPENDED


async def test_interruptions_count_only_in_a_row(house: Scenario) -> None:
    """A good answer in between makes up for the crashes before it."""
    alice = house.person("alice", on="telegram")
    for _ in range(4):
        house.agent.will(Hangs())
        await alice.says("a task")
        await house.crash()

    assert [turn.state for turn in await house.turns_of(alice)] == [TurnState.DONE] * 4
    assert (await alice.session()).is_open


async def test_a_suspended_session_can_be_resumed_by_hand(house: Scenario) -> None:
    """Suspension is no prison: the person may go on there."""
    alice = house.person("alice", on="telegram")
    for _ in range(3):
        house.agent.will(Hangs())
    said = await alice.says("the poisonous task")
    for _ in range(3):
        await house.crash()

    await alice.resumes(said.session_id)
    await alice.says("let us try something else")

    assert house.agent.saw_only("the poisonous task", "let us try something else")


async def test_a_stopped_turn_is_never_resumed(house: Scenario) -> None:
    """Stop is final, also when the process dies right after it; the session goes on."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("Once upon"), Hangs())
    said = await alice.says("tell me a story")
    await house.time_passes(seconds=2)

    assert await alice.stops() == said.turn_id
    await house.crash()
    await alice.says("thanks")

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.STOPPED
    assert len(house.agent.requests) == 2
    assert house.agent.lines(Role.ASSISTANT)[0].startswith("Once upon")


async def test_stopping_reaches_the_agent_at_once(house: Scenario) -> None:
    """The agent of a stopped turn is cancelled, and what waits is answered next."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("a long job")
    await alice.says("something short")

    await alice.stops()

    assert house.agent.cancelled == [said.turn_id]
    assert [turn.state for turn in await house.turns_of(alice)] == ["stopped", "done"]


async def test_stopping_where_nothing_runs_does_nothing(house: Scenario) -> None:
    """There is nothing to stop in a conversation that rests."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("hello")

    assert await alice.stops() is None
    assert not await house.store.turns.stop(said.turn_id)


async def test_a_reply_owed_is_sent_after_the_crash(house: Scenario) -> None:
    """An answer that was ready but not yet sent goes out, once, and unmarked (asks 2, 3)."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")

    await house.crash()

    assert [(reply.text, reply.is_repeated) for reply in await house.replies_to(alice)] == [
        ("ok", False)
    ]


async def test_a_reply_that_may_have_been_seen_is_marked(house: Scenario) -> None:
    """Where a crash hides whether a reply was sent it is sent again, and marked (ask 3)."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    assert len(await house.store.deliveries.lease()) == 1

    await house.crash()
    await house.time_passes(minutes=1)

    assert [reply.is_repeated for reply in await house.replies_to(alice)] == [True]


async def test_a_graceful_stop_lets_turns_end(house: Scenario) -> None:
    """A turn that needs only a moment more has it."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs(), Says("just in time"))
    said = await alice.says("hurry")

    stopping = asyncio.create_task(house.stops_gracefully())
    await asyncio.sleep(0)
    house.agent.goes_on()
    await stopping
    await house.comes_back()

    assert (await house.store.turns.get(said.turn_id)).attempts == 1
    assert [reply.text for reply in await house.replies_to(alice)] == ["just in time"]


async def test_a_graceful_stop_interrupts_the_rest(house: Scenario) -> None:
    """What does not end in time is interrupted with all it said, and goes on at the next start."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("Once upon"), Hangs())
    said = await alice.says("tell me a story")

    await house.stops_gracefully()
    await house.comes_back()

    assert house.agent.lines(Role.ASSISTANT)[0].startswith("Once upon")
    assert house.agent.was_told("You were cut off")
    assert (await house.store.turns.get(said.turn_id)).attempts == 2


async def test_a_failing_agent_fails_visibly(house: Scenario) -> None:
    """What an agent breaks on is shown with what it had said; the session goes on (ask 25)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("Let me see"), Fails("no more tokens"))
    said = await alice.says("think")
    await alice.says("still there?")

    turn = await house.store.turns.get(said.turn_id)
    assert (turn.state, turn.error) == (TurnState.FAILED, "no more tokens.")
    (failed, _) = [line for line in await house.transcript_of(alice) if line.role is Role.ASSISTANT]
    assert failed.text == "Let me see\nno more tokens."
    assert [reply.text for reply in await house.replies_to(alice)][1] == "ok"


async def test_what_was_said_while_nobody_worked_is_answered(house: Scenario) -> None:
    """Messages that were taken in while no worker ran wait for one (ask 2)."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await house.goes_down()
    door = await house.open_another()
    now = house.clock()
    for n in range(3):
        await door.receive(
            Inbound.text(f"message {n}", address=alice.address, sender=alice.sender, at=now)
        )
    await door.close()

    await house.comes_back()

    assert house.agent.saw_only("hello", "message 0", "message 1", "message 2")
    assert len(house.agent.requests) == 4


async def test_an_old_unanswered_message_is_not_glued_onto_a_new_one(house: Scenario) -> None:
    """What nobody answered before the session was over stays there, and is marked (ask 22)."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")
    await house.goes_down()
    door = await house.open_another()
    asked = Inbound.text(
        "reset my password", address=alice.address, sender=alice.sender, at=house.clock()
    )
    old = await door.receive(asked)
    await door.close()
    await house.time_passes(days=3)
    door = await house.open_another()
    await door.receive(
        Inbound.text("good morning", address=alice.address, sender=alice.sender, at=house.clock())
    )
    await door.close()

    await house.comes_back()

    assert house.agent.saw_only("good morning")
    assert old.session_id is not None
    assert markers(await house.transcript_of(old.session_id)) == [MarkerKind.EXPIRED]


async def test_one_message_that_ends_the_process_does_not_fail_the_others(house: Scenario) -> None:
    """After two crashes turns that may have caused them run one at a time; one is given up."""
    people = [house.person(f"person-{n}", on="telegram") for n in range(6)]
    for _ in range(5 * len(people)):
        house.agent.will(Hangs())
    said = [await person.says("hello") for person in people]
    assert len(house.worker.running) == len(people)
    await house.crash()
    assert len(house.worker.running) == len(people)

    await house.crash()
    assert house.worker.running == {said[0].turn_id}
    newcomer = await house.person("newcomer", on="telegram").says("am I answered meanwhile?")
    assert house.worker.running == {said[0].turn_id, newcomer.turn_id}
    await house.crash()
    for _ in people:
        house.agent.goes_on()
        await house.rests()

    states = [(await house.store.turns.get(one.turn_id)).state for one in (*said, newcomer)]
    assert states == [TurnState.FAILED] + [TurnState.DONE] * len(people)


async def test_a_turn_beside_the_last_attempt_of_another_is_not_charged(house: Scenario) -> None:
    """A new turn that runs beside a suspect is resumed after the crash, and not given up."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    for _ in range(4):
        house.agent.will(Hangs())
    poison = await alice.says("the poisonous task")
    await house.crash()
    await house.crash()
    beside = await bob.says("hello")

    await house.crash()

    assert (await house.store.turns.get(poison.turn_id)).state is TurnState.FAILED
    assert (await house.store.turns.get(beside.turn_id)).state is TurnState.DONE


async def test_a_turn_that_waits_for_a_person_is_not_charged(house: Scenario) -> None:
    """A turn that waits for an answer cannot have ended its process, however often that ends."""
    alice = house.person("alice", on="telegram")
    for _ in range(5):
        house.agent.will(AsksLive("May I?"), Says("done"))
    said = await alice.says("tidy up")

    for _ in range(4):
        await house.crash()
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.WAITING
    await alice.answers("yes")

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.DONE
    assert (await alice.session()).suspended_at is None


async def test_three_crashes_are_reported_once(house: Scenario) -> None:
    """A turn that is cut off again before it says anything repeats neither marker nor note."""
    alice = house.person("alice", on="telegram")
    for _ in range(3):
        house.agent.will(Hangs())
    await alice.says("the poisonous task")

    for _ in range(3):
        await house.crash()

    lines = await house.transcript_of(alice)
    assert markers(lines) == [MarkerKind.INTERRUPTED, MarkerKind.FAILED]
    assert sum("You were cut off" in line.text for line in lines) == 1
    (reply,) = await house.replies_to(alice)
    assert reply.text.count("The program stopped") == 1


async def test_a_reply_says_once_that_it_was_cut_off(house: Scenario) -> None:
    """What a turn said before each of its crashes is sent, and the explanation only once."""
    alice = house.person("alice", on="telegram")
    for text in ("Once", "upon", "a time"):
        house.agent.will(Streams(text), Hangs())
    await alice.says("tell me a story")
    for _ in range(3):
        await house.time_passes(seconds=2)
        await house.crash()

    (reply,) = await house.replies_to(alice)
    assert [text in reply.text for text in ("Once", "upon", "a time")] == [True] * 3
    assert reply.text.count("The program stopped") == 1
    assert reply.text.endswith("It was cut off 3 times and is not tried again.")


async def test_after_a_suspension_the_next_post_follows_what_moved(house: Scenario) -> None:
    """A post to the suspended session goes behind the messages that moved to its successor."""
    alice = house.person("alice", on="telegram")
    for _ in range(3):
        house.agent.will(Hangs())
    await alice.says("the poisonous task")
    await alice.says("and the weather?")
    suspended = await alice.session()
    for _ in range(2):
        await house.crash()
    house.agent.will(Hangs())
    await house.crash()

    posted = await house.store.ask_in(
        suspended.id, Inbound.text("and the news?", address=alice.address, at=house.clock())
    )
    house.agent.goes_on()
    await house.rests()

    successor = await alice.session()
    assert successor.cause is Cause.SUSPENDED
    assert posted.session_id == successor.id
    assert house.agent.saw_only("and the weather?", "and the news?")
    assert (await house.store.sessions.get(suspended.id)).ended_at is not None
