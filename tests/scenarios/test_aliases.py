"""Aliases: WhatsApp knows one human by a number and by a LID, and tells so sooner or later."""

import pytest

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Text
from threadline.core.person import Identity, Viewer
from threadline.core.search import SearchFilter
from threadline.core.session import Cause, EndReason
from threadline.core.session_list import SessionFilter
from threadline.core.usage import Usage, UsageBy
from threadline.store.inbound.deduplication import find_arrival
from threadline.testing.scenario import Scenario
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import Hangs, Says, Spends

PHONE, LID = "49170", "777@lid"


def in_form(house: Scenario, id: str) -> ScenarioPerson:
    """Be one human on WhatsApp, as the platform writes them this time."""
    address = Address(platform="whatsapp", kind=Kind.DM, chat=id)
    return ScenarioPerson(house, Sender(id=id, name="Ada"), address)


async def learn(house: Scenario, id: str = LID, same_as: str = PHONE) -> bool:
    """Let the platform tell that two ids are one human."""
    return await house.store.people.learn_alias("whatsapp", id, same_as)


async def test_a_mapping_known_before_makes_one_conversation(house: Scenario) -> None:
    """The mapping comes first: both forms lead to one session, and Ada is greeted once."""
    await learn(house)

    by_lid, by_phone = in_form(house, LID), in_form(house, "+49170:3@s.whatsapp.net")
    first, second = await by_lid.says("one"), await by_phone.says("two")

    assert first.session_id == second.session_id
    lines = [line.text for line in await house.transcript_of(first.session_id)]
    assert sum("first message" in line for line in lines) == 1
    assert len(await house.replies_to(by_lid)) == 1, "it is answered where it was said"


async def test_a_mapping_that_comes_between_joins_what_follows(house: Scenario) -> None:
    """Ada wrote under her LID; then the mapping and her number come, and the session goes on."""
    first = await in_form(house, LID).says("one")
    assert await learn(house)

    second = await in_form(house, PHONE).says("two")
    third = await in_form(house, LID).says("three")

    assert {first.session_id, second.session_id} == {third.session_id}
    assert not await learn(house)


async def test_a_mapping_that_comes_late_goes_on_with_the_liveliest(house: Scenario) -> None:
    """Both forms had a session: the one with the latest word goes on, the other ends as linked."""
    quiet = await in_form(house, PHONE).says("one")
    lively = await in_form(house, LID).says("two")

    await learn(house)
    third = await in_form(house, PHONE).says("three")

    assert third.session_id == lively.session_id
    assert (await house.store.sessions.get(quiet.session_id)).end_reason is EndReason.LINKED
    assert {session.id for session in await house.sessions_of(in_form(house, LID))} == {
        quiet.session_id,
        lively.session_id,
    }


async def test_a_session_that_still_answers_is_not_cut_off(house: Scenario) -> None:
    """A turn runs under one form while the mapping comes: that session goes on."""
    house.agent.will(Hangs())
    running = await in_form(house, PHONE).says("think")
    other = await in_form(house, LID).says("lively")

    await learn(house)
    house.agent.goes_on()
    await house.rests()

    assert (await in_form(house, LID).says("and?")).session_id == running.session_id
    assert (await house.store.sessions.get(other.session_id)).end_reason is EndReason.LINKED


async def test_the_same_message_in_both_forms_is_one(house: Scenario) -> None:
    """A redelivery under the other id is known, whether the mapping came before or after it."""
    first = await in_form(house, LID).says("one", id="m1")
    await learn(house)
    again = await in_form(house, PHONE).says("one", id="m1")
    later = await in_form(house, PHONE).says("two", id="m2")
    later_again = await in_form(house, LID).says("two", id="m2")

    assert again.arrival.is_repeated
    assert again.session_id == first.session_id
    assert later_again.arrival.is_repeated
    assert later_again.turn_id == later.turn_id
    known = await house.store.database.read(find_arrival, again.inbound)
    assert known is not None
    assert known.turn_id == first.turn_id


async def test_an_edit_finds_its_message_under_the_other_id(house: Scenario) -> None:
    """An edit comes under the number, its message came under the LID; also the other way round."""
    said = await in_form(house, LID).says("one", id="m1")
    early = await in_form(house, LID).edits("m2", "two, better")
    await learn(house)

    await in_form(house, PHONE).edits("m1", "one, better")
    await in_form(house, PHONE).says("two", id="m2")

    lines = [line.text for line in await house.transcript_of(said.session_id)]
    assert early.inbound.kind is InboundKind.EDIT
    assert "one, better" in lines
    assert "two, better" in lines
    assert "two" not in lines


async def test_a_member_of_a_group_goes_on_there(house: Scenario) -> None:
    """In a group, too, Ada's own conversation goes on under whichever id she comes."""
    first = await in_form(house, LID).in_group("g@g.us").says("one")
    await learn(house)

    second = await in_form(house, PHONE).in_group("g@g.us").says("two")

    assert second.session_id == first.session_id


async def test_new_and_resume_know_aliases(house: Scenario) -> None:
    """`/new` under one id is one under the other, and so is `/resume`."""
    first = await in_form(house, PHONE).says("one")
    await learn(house)

    await in_form(house, LID).resets()
    second = await in_form(house, PHONE).says("two")
    await in_form(house, LID).resumes(first.session_id)

    assert second.arrival.cause is Cause.NEW
    assert (await in_form(house, PHONE).says("three")).session_id == first.session_id
    told = await house.store.sessions.explain(
        in_form(house, LID).address, in_form(house, LID).sender
    )
    assert told.session_id == first.session_id


async def test_chains_and_cycles_of_aliases_do_not_hurt(house: Scenario) -> None:
    """However aliases are told, every id leads to one goal, and nobody goes in circles."""
    for id, same_as in [
        ("1@lid", "2@lid"),
        ("2@lid", "3@lid"),
        ("3@lid", "1@lid"),
        ("2@lid", "1@lid"),
        ("4", "2@lid"),
        ("1@lid", "4"),
        ("5", "5"),
    ]:
        await learn(house, id, same_as)

    ids = {
        (await in_form(house, id).says(id)).session_id for id in ("1@lid", "2@lid", "3@lid", "4")
    }
    stranger = await in_form(house, "5").says("5")

    assert len(ids) == 1
    assert stranger.session_id not in ids


async def test_a_lid_with_the_digits_of_a_number_is_somebody_else(house: Scenario) -> None:
    """Without a mapping two ids stay two people, however alike they look."""
    first, second = (
        await in_form(house, PHONE).says("one"),
        await in_form(house, f"{PHONE}@lid").says("two"),
    )

    assert first.session_id != second.session_id
    assert await house.store.people.find(Identity(platform="whatsapp", id=PHONE)) is None


async def test_ids_of_one_human_part_together(house: Scenario) -> None:
    """`/unlink` under one id takes both ids out, and they stay one."""
    await in_form(house, LID).says("one")
    mine = await in_form(house, PHONE).says("two")
    await learn(house)
    bob = house.person("bob", on="telegram")
    his = await bob.says("bob's")
    shown = await house.store.people.make_link_code(bob.address, bob.sender)
    lid = in_form(house, LID)
    await house.store.people.link(lid.address, lid.sender, shown.code)
    assert his.session_id in {session.id for session in await house.sessions_of(lid)}

    await house.store.people.unlink(lid.address, lid.sender)

    (person,) = await house.store.people.list()
    assert {known.identity.id for known in person.senders} == {PHONE, LID}
    for form in (lid, in_form(house, PHONE)):
        seen = {session.id for session in await house.sessions_of(form)}
        assert mine.session_id in seen
        assert his.session_id not in seen
    assert [session.id for session in await house.sessions_of(bob)] == [his.session_id]
    assert await house.store.people.unlink(lid.address, lid.sender) is None


@pytest.mark.parametrize("written", [LID, PHONE, "+49170", "49170:3@s.whatsapp.net", "777:1@lid"])
async def test_whoever_is_named_is_the_same_everywhere(house: Scenario, written: str) -> None:
    """By whatever id Ada is named, lists, search, usage, exports and forgetting mean all of her."""
    spent = Spends(Usage(provider="open", model="gpt", input_tokens=1, output_tokens=1))
    mine = set()
    for id in (PHONE, LID):
        house.agent.will(spent, Says("ok"))
        mine.add((await in_form(house, id).says(f"pears for {id}")).session_id)
    await house.person("bob", on="whatsapp").says("pears for bob")
    await learn(house)
    ada, store = Identity(platform="whatsapp", id=written), house.store

    person = await store.people.find(ada)
    plan = await store.plan_forgetting_person(ada)
    listed = await store.sessions.list(SessionFilter(sender=ada))
    found = await store.search("pears", asker=Viewer.owner(), where=SearchFilter(sender=ada))
    (usage,) = await store.usage.sum(UsageBy.MODEL, sender=ada)
    lines = store.transfer.export_history(Selection(extent=ExportScope.PERSON, person=ada))
    exported = b"".join([block async for block in lines])

    assert person is not None
    assert {known.identity.id for known in person.senders} == {PHONE, LID}
    assert (set(plan.sessions), plan.senders) == (mine, 2)
    assert {row.session.id for row in listed.rows} == mine
    assert {hit.session_id for hit in found.hits} == mine
    assert usage.calls == 2
    assert all(id.encode() in exported for id in mine)
    assert b"for bob" not in exported


async def test_only_whatsapp_has_aliases(house: Scenario) -> None:
    """Elsewhere an alias would never be looked up, so it is refused; and so is nonsense."""
    with pytest.raises(Invalid, match="two ids"):
        await house.store.people.learn_alias("telegram", "a", "b")
    for bad in ("", "x" * 300, "a\0b"):
        with pytest.raises(Invalid):
            await learn(house, bad, PHONE)
        with pytest.raises(Invalid):
            await learn(house, PHONE, bad)


async def test_a_command_in_both_forms_is_carried_out_once(house: Scenario) -> None:
    """A `/new` that the platform brings again under the other id does not reset twice."""
    await learn(house)
    await in_form(house, PHONE).says("one")
    assert await in_form(house, LID).resets(id="c1") is not None
    second = await in_form(house, PHONE).says("two")

    assert await in_form(house, PHONE).resets(id="c1") is None
    assert (await in_form(house, LID).says("three")).session_id == second.session_id


async def test_a_deletion_under_the_other_id_counts(house: Scenario) -> None:
    """What was said under the LID can be taken back under the number."""
    said = await in_form(house, LID).says("regret", id="m1")
    await learn(house)
    phone = in_form(house, PHONE)
    await house.store.receive(
        Inbound(
            address=phone.address,
            sender=phone.sender,
            kind=InboundKind.DELETION,
            message_id="m1",
            at=house.clock(),
        )
    )

    history = await house.store.transcripts.history(said.session_id)
    assert not [line for line in history if line.parts == (Text(text="regret"),)]
