import pytest

from threadline.core.errors import Invalid, NotFound
from threadline.core.session import Cause, EndReason, ModelChoice, SessionId, TitleSource
from threadline.core.session_patch import SessionPatch
from threadline.core.turn import TurnState
from threadline.store.sessions.session_settings import set_title
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Hangs


async def test_an_earlier_session_can_be_resumed(house: Scenario) -> None:
    """Whoever resumes goes on with the old context; the session left behind has ended."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("remember the number 7")
    await alice.resets()
    second = await alice.says("something else")

    change = await alice.resumes(first.session_id)
    await alice.says("which number?")

    assert (change.left_id, change.session_id) == (second.session_id, first.session_id)
    assert house.agent.saw_only("remember the number 7", "which number?")
    left = await house.store.sessions.get(second.session_id)
    assert left.end_reason is EndReason.SWITCHED


async def test_resuming_where_one_is_changes_nothing(house: Scenario) -> None:
    """Already there: nothing ends, nothing is stopped."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("a long job")

    change = await alice.resumes(said.session_id)

    assert change.left_id is None
    assert (await house.store.turns.get(said.turn_id)).state is TurnState.RUNNING
    assert not house.agent.cancelled


async def test_resuming_stops_what_runs_in_the_session_left(house: Scenario) -> None:
    """A turn of the session that one leaves is stopped, and kept as far as it came."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("one")
    await alice.resets()
    house.agent.will(Hangs())
    second = await alice.says("two")

    await alice.resumes(first.session_id)

    assert (await house.store.turns.get(second.turn_id)).state is TurnState.STOPPED
    assert house.agent.cancelled == [second.turn_id]


async def test_resuming_is_activity(house: Scenario) -> None:
    """A session that was resumed has a whole night before it is over again."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("remember the number 7")
    await house.time_passes(hours=9)
    await alice.says("something else")

    await alice.resumes(first.session_id)
    await house.time_passes(hours=7)
    await alice.says("which number?")

    assert house.agent.saw_only("remember the number 7", "which number?")


async def test_a_resumed_session_survives_a_crash(house: Scenario) -> None:
    """The binding is in the store; a restart changes nothing about it (ask 21)."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("one")
    await alice.resets()
    await alice.says("two")
    await alice.resumes(first.session_id)

    await house.crash()
    await alice.says("three")

    assert house.agent.saw_only("one", "three")


async def test_a_stranger_cannot_resume(house: Scenario) -> None:
    """A session is found by its owner only; for others it does not exist (ask 23)."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    said = await alice.says("my diary")
    await bob.says("hello")

    with pytest.raises(NotFound):
        await bob.resumes(said.session_id)
    assert [row.id for row in await house.sessions_of(bob)] == [(await bob.session()).id]


async def test_a_person_unknown_to_the_store_can_resume_nothing(house: Scenario) -> None:
    """Whoever never spoke here owns nothing here (ask 23)."""
    alice, eve = house.person("alice", on="telegram"), house.person("eve", on="telegram")
    said = await alice.says("my diary")

    with pytest.raises(NotFound):
        await eve.resumes(said.session_id)
    assert not await house.sessions_of(eve)


async def test_a_member_cannot_resume_what_another_member_said(house: Scenario) -> None:
    """In a group of separate conversations, the same chat proves nothing (asks 11 and 23)."""
    alice = house.person("alice", on="discord").in_group("family")
    bob = house.person("bob", on="discord").in_group("family")
    said = await alice.says("a present for bob")

    with pytest.raises(NotFound):
        await bob.resumes(said.session_id)


async def test_a_shared_session_belongs_to_its_chat(house: Scenario) -> None:
    """Everybody in the chat may resume what was said there together; nobody elsewhere may."""
    alice = house.person("alice", on="discord").in_thread("family", "holidays")
    bob = house.person("bob", on="discord").in_thread("family", "holidays")
    said = await alice.says("the sea")
    await bob.resets()
    await bob.says("the mountains")

    await bob.resumes(said.session_id)

    assert (await alice.session()).id == said.session_id
    with pytest.raises(NotFound):
        await bob.in_thread("work", "lunch").resumes(said.session_id)


async def test_a_session_can_be_carried_into_another_chat(house: Scenario) -> None:
    """Two places may share one session; each answer goes to where it was asked."""
    alice = house.person("alice", on="telegram")
    group = alice.in_group("family")
    said = await alice.says("one")
    await group.resumes(said.session_id)

    await group.says("two")
    await alice.says("three")

    assert house.agent.saw_only("one", "two", "three")
    assert len(await house.replies_to(alice)) == 2
    assert len(await house.replies_to(group)) == 1
    assert await house.store.sessions.routes(said.session_id) == sorted([alice.route, group.route])


async def test_leaving_a_shared_session_does_not_end_it(house: Scenario) -> None:
    """Where another place still goes on with a session, switching away leaves it open."""
    alice = house.person("alice", on="telegram")
    group = alice.in_group("family")
    first = await alice.says("one")
    await alice.resets()
    second = await alice.says("two")
    await group.resumes(second.session_id)

    await alice.resumes(first.session_id)

    assert (await house.store.sessions.get(second.session_id)).is_open
    await group.says("three")
    assert house.agent.saw_only("two", "three")


async def test_a_session_that_never_was_cannot_be_resumed(house: Scenario) -> None:
    """An id of nothing is not found, and what is no id is refused."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")

    with pytest.raises(NotFound):
        await alice.resumes(SessionId("20200101_000000_00000000"))
    with pytest.raises(Invalid):
        await alice.resumes(SessionId("../../etc/passwd"))


async def test_the_first_words_are_the_title(house: Scenario) -> None:
    """A session is called after its first message, without what could harm a screen."""
    alice = house.person("alice", on="telegram")

    await alice.says("Plan\u202e  the\n\nholidays\x07 " + "very " * 30)

    title = (await alice.session()).title
    assert title is not None
    assert title.startswith("Plan the holidays very very")
    assert len(title) <= 64


async def test_a_title_given_by_a_person_wins_for_ever(house: Scenario) -> None:
    """A model may name a session, a person may rename it, and then it stays."""
    alice = house.person("alice", on="telegram")
    id = (await alice.says("hi")).session_id

    assert (
        await house.store.database.write(set_title, id, "Small talk", source=TitleSource.MODEL)
        == "Small talk"
    )
    assert (await house.store.sessions.update(id, SessionPatch(title="My talk"))).title == "My talk"
    assert (
        await house.store.database.write(set_title, id, "Chat", source=TitleSource.MODEL)
        == "My talk"
    )
    await alice.says("more")

    session = await alice.session()
    assert (session.title, session.titled_by) == ("My talk", TitleSource.PERSON)


async def test_a_new_session_can_be_given_its_title(house: Scenario) -> None:
    """`/new Groceries` begins a session that is called so, whatever is said first."""
    alice = house.person("alice", on="telegram")
    await alice.says("hello")

    await alice.resets("Groceries")
    await alice.says("buy bread")

    session = await alice.session()
    assert (session.title, session.cause) == ("Groceries", Cause.NEW)
    assert house.agent.saw_only("buy bread")


async def test_a_model_choice_lives_with_its_session(house: Scenario) -> None:
    """It survives a crash and a resume, and ends with /new (ask 21)."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("hello")
    choice = ModelChoice(model="large", provider="p", base_url="https://models.example/v1")
    await house.store.sessions.update(first.session_id, SessionPatch(model=choice))

    await house.crash()
    await alice.says("still large?")
    assert house.agent.last.session.choice == choice
    await alice.resets()
    await alice.says("and now?")
    assert house.agent.last.session.choice is None
    await alice.resumes(first.session_id)
    await alice.says("back?")
    assert house.agent.last.session.choice == choice


async def test_a_model_choice_ends_with_a_reset(house: Scenario) -> None:
    """The session after a quiet night begins with the usual model."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("hello")
    await house.store.sessions.update(
        said.session_id, SessionPatch(model=ModelChoice(model="large"))
    )

    await house.time_passes(hours=9)
    await alice.says("good morning")

    assert house.agent.last.session.choice is None
