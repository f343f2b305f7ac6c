"""One conversation: all direct messages of a person go on in it, wherever they write."""

from msgspec.structs import replace

from tests.scenarios.people import ONE, link
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.session import Cause, EndReason
from threadline.core.turn import TurnState
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Hangs


async def test_apart_is_the_default(house: Scenario) -> None:
    """Without the setting, linked apps keep a conversation each."""
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    await link(telegram, signal)

    first, second = await telegram.says("one"), await signal.says("two")

    assert first.session_id != second.session_id


async def test_a_person_has_one_conversation_on_every_platform(house: Scenario) -> None:
    """What was said on Telegram goes on in the terminal and on Signal; the others end as linked."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    local = house.person("me", on="local")
    old = await signal.says("long ago")
    first = await telegram.says("one")
    await link(telegram, signal)
    await link(telegram, local)

    second, third, fourth = (
        await signal.says("two"),
        await local.says("three"),
        await telegram.says("four"),
    )

    assert {said.session_id for said in (second, third, fourth)} == {first.session_id}
    assert (await house.store.sessions.get(old.session_id)).end_reason is EndReason.LINKED
    assert len(await house.replies_to(signal)) == 2
    assert house.agent.saw_only("one", "two", "three", "four")


async def test_profiles_and_groups_stay_out_of_it(house: Scenario) -> None:
    """One conversation is made of direct chats of one profile; their threads stay apart."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    await link(telegram, signal)
    first = await telegram.says("private")

    group = await signal.in_group("g").says("public")
    work = await house.store.receive(
        Inbound.text(
            "at work",
            address=signal.address,
            sender=signal.sender,
            at=house.clock(),
            profile="work",
        )
    )

    topic = ScenarioPerson(house, signal.sender, replace(signal.address, thread="recipes"))
    apart = await topic.says("soup")

    ids = {first.session_id, group.session_id, work.session_id, apart.session_id}
    assert len(ids) == 4
    assert (await signal.says("still private")).session_id == first.session_id


async def test_a_new_beginning_in_one_app_is_one_in_all(house: Scenario) -> None:
    """`/new` on Signal, also before a word was said there, begins anew on Telegram, too."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    await link(telegram, signal)
    first = await telegram.says("one")

    await signal.resets()
    second = await telegram.says("two")
    assert await house.store.sessions.find(signal.route) == second.session_id
    third = await signal.says("three")
    await telegram.resets("Fresh")
    fourth = await signal.says("four")

    assert first.session_id != second.session_id == third.session_id != fourth.session_id
    assert (await house.store.sessions.get(fourth.session_id)).title == "Fresh"
    assert (await house.store.sessions.get(first.session_id)).end_reason is EndReason.NEW


async def test_a_night_ends_the_one_conversation_everywhere(house: Scenario) -> None:
    """After a silence the next word, wherever it is said, begins one session for all apps."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    await link(telegram, signal)
    first = await telegram.says("one")
    await signal.says("two")
    await house.time_passes(hours=9)
    await house.sweeps()

    third, fourth = await signal.says("three"), await telegram.says("four")

    assert third.session_id == fourth.session_id != first.session_id
    assert third.arrival.cause is Cause.IDLE


async def test_resuming_takes_all_apps_along(house: Scenario) -> None:
    """`/resume` in one app leads the other one to the same place, and the session left ends."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    await link(telegram, signal)
    first = await telegram.says("one")
    await signal.says("also one")
    await signal.resets()
    second = await telegram.says("two")

    await telegram.resumes(first.session_id)

    assert (await signal.says("and on")).session_id == first.session_id
    assert (await house.store.sessions.get(second.session_id)).end_reason is EndReason.SWITCHED


async def test_linking_waits_for_a_running_turn(house: Scenario) -> None:
    """A session with a turn under way goes on while others are gathered, and is joined later."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    house.agent.will(Hangs())
    running = await signal.says("think")
    lively = await telegram.says("one")
    await link(telegram, signal)

    told = await house.store.sessions.explain(signal.address, signal.sender)
    assert told.session_id == running.session_id
    second = await signal.says("more")
    house.agent.goes_on()
    await house.rests()
    third, fourth = await telegram.says("two"), await signal.says("three")

    assert second.session_id == running.session_id
    assert (await house.store.turns.get(running.turn_id)).state is TurnState.DONE
    assert third.session_id == fourth.session_id == running.session_id
    assert (await house.store.sessions.get(lively.session_id)).end_reason is EndReason.LINKED


async def test_telling_where_a_message_would_go_tells_the_truth(house: Scenario) -> None:
    """`explain`, and so `/status` and `/title`, know the one conversation before it is joined."""
    house.lives_by(ONE)
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    await signal.says("long ago")
    first = await telegram.says("one")
    await link(telegram, signal)

    told = await house.store.sessions.explain(signal.address, signal.sender)

    assert (told.session_id, told.cause) == (first.session_id, None)
    assert (await signal.says("two")).session_id == first.session_id


async def test_somebody_else_in_a_dm_is_not_gathered(house: Scenario) -> None:
    """Where two senders share a chat, the one who is linked does not take the other along."""
    house.lives_by(ONE)
    bob = house.person("bob", on="signal")
    shop = Address(platform="telegram", kind=Kind.DM, chat="shop")
    ann, eve = (
        ScenarioPerson(house, Sender(id="ann"), shop),
        ScenarioPerson(house, Sender(id="eve"), shop),
    )
    theirs = await eve.says("hello")
    his = await bob.says("private")
    await link(bob, ScenarioPerson(house, Sender(id="ann"), replace(shop, chat="ann")))

    here = await ann.says("hello")

    assert here.session_id == theirs.session_id != his.session_id
