"""Approvers: who is asked for tools that change something, and who may say yes."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from threadline.core.access import AccessRules, Approvers
from threadline.core.access_level import AccessLevel
from threadline.core.address import Sender
from threadline.core.approval import Approval, PermissionDuration
from threadline.core.command import parse_command
from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.person import Viewer
from threadline.core.turn import Awaits, TurnState
from threadline.store.commands.execute import execute
from threadline.testing.gateway_scenario import ADMIN, GatewayScenario
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scenario import OpenStore, quiet_nights
from threadline.testing.scripted_agent import Asks, AsksLive, Says

DELETE = Asks("May I delete old.txt?", ("files_delete",))
LOOK = Asks("May I list the files?", ("files_list",), reads_only=True)
WAITING = "Waiting for an approver"


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house in which admins and the owner approve tools, as they do by default."""
    rules = replace(quiet_nights(), approvers=Approvers())
    async with GatewayScenario(open_again, rules=rules) as house:
        yield house


async def boss_of(house: GatewayScenario) -> GatewayUser:
    """Introduce the admin, who has spoken in a direct chat before."""
    boss = house.guest(ADMIN)
    house.agent.will(Says("Hello."))
    await boss.says("hello")
    return boss


async def asked_by(house: GatewayScenario, guest: GatewayUser, what: Asks = DELETE) -> None:
    """Let a guest ask for something that needs a tool; the agent then says what came of it."""
    house.agent.will(what)
    house.agent.will(Says("That is it."))
    await guest.says("tidy up")


async def state_of(guest: GatewayUser) -> TurnState:
    """Return the state of the last turn of a guest."""
    return (await guest.turns())[-1].state


async def acts(house: GatewayScenario) -> list[tuple[str, str, str]]:
    """List the approvals and denials of the audit log, the first one first."""
    log = await house.store.audit(most=100)
    return [
        (entry.act, entry.subject, entry.detail) for entry in reversed(log) if "tool." in entry.act
    ]


async def test_the_request_of_a_member_goes_to_an_approver(house: GatewayScenario) -> None:
    """The approver sees who asks for what, and the member sees that it waits and where."""
    boss, bob = await boss_of(house), house.guest("Bob")

    await asked_by(house, bob)

    assert WAITING in bob.sees[-1]
    assert "They were asked on telegram, and can also answer in the web app." in bob.sees[-1]
    assert DELETE.text in bob.sees[-1]
    assert not bob.shown[-1].choices
    assert DELETE.text in boss.sees[-1]
    assert "Bob (telegram:bob)" in boss.sees[-1]
    assert (await bob.turns())[0].awaits is Awaits.APPROVER

    await boss.presses("Approve")

    assert boss.sees[-1] == "Approved."
    assert bob.sees[-1] == "That is it."
    assert house.agent.last.turn.answer == "approved"


@pytest.mark.parametrize("said", ["/approve", "/approve session", "/approve {}.1", "approved"])
async def test_a_member_cannot_approve_their_own_request(house: GatewayScenario, said: str) -> None:
    """Neither by a command, nor by the name of the question, nor in words."""
    boss, bob = await boss_of(house), house.guest("Bob")
    await asked_by(house, bob)
    (turn,) = await bob.turns()

    await bob.says(said.format(turn.id))

    assert (await house.store.turns.get(turn.id)).state is TurnState.WAITING
    assert await house.store.approvals.list_permissions() == []
    assert not [act for act, *_ in await acts(house) if act == "tool.approved"]
    if said.startswith("/"):
        assert "waits for an approver" in bob.sees[-1]
    await boss.presses("Deny")
    assert (await house.store.turns.get(turn.id)).state is TurnState.DONE


async def test_a_second_member_can_neither_see_nor_approve_it(house: GatewayScenario) -> None:
    """Carol is told that nothing waits for her, though she knows the number."""
    await boss_of(house)
    bob, carol = house.guest("Bob"), house.guest("Carol")
    await asked_by(house, bob)
    (turn,) = await bob.turns()

    assert "Nothing is waiting" in await carol.asks(f"/approve {turn.id}.1")

    assert await state_of(bob) is TurnState.WAITING
    assert not any(DELETE.text in words for words in carol.sees)


async def test_a_member_can_take_their_request_back(house: GatewayScenario) -> None:
    """To deny is not to approve."""
    boss, bob = await boss_of(house), house.guest("Bob")
    await asked_by(house, bob)

    await bob.says("/deny")

    assert house.agent.last.turn.answer == "denied"
    await boss.presses("Approve")
    assert "Nothing is waiting" in boss.sees[-1]


async def test_an_approver_is_asked_in_place(house: GatewayScenario) -> None:
    """The admin who asks for something is asked where they are, and nowhere else."""
    boss = await boss_of(house)

    await asked_by(house, boss)

    assert boss.sees[-1] == DELETE.text
    await boss.presses("Approve")
    assert boss.sees[-1] == "That is it."


async def test_a_tool_that_only_reads_is_approved_by_the_requester(house: GatewayScenario) -> None:
    """Nothing can be changed by it, so no approver is asked."""
    boss, bob = await boss_of(house), house.guest("Bob")
    before = len(boss.sees)

    await asked_by(house, bob, LOOK)
    await bob.presses("Approve")

    assert bob.sees[-1] == "That is it."
    assert len(boss.sees) == before


async def test_the_home_of_the_platform_is_where_approvers_are_asked(
    house: GatewayScenario,
) -> None:
    """In a group that is the home, members read the request and cannot approve it."""
    boss, bob = await boss_of(house), house.guest("Bob")
    office = boss.in_group("office")
    await office.says("/sethome")
    await asked_by(house, bob)

    assert DELETE.text in office.sees[-1]
    await bob.in_group("office").presses("Approve")
    assert await state_of(bob) is TurnState.WAITING
    await office.presses("Approve", under=DELETE.text)
    assert bob.sees[-1] == "That is it."


async def test_without_an_approver_in_a_chat_it_waits_in_the_web_app(
    house: GatewayScenario,
) -> None:
    """The member is told so; the owner finds it there, and a member's account does not."""
    bob = house.guest("Bob")
    await asked_by(house, bob)
    (turn,) = await bob.turns()

    assert "No approver can be reached in a chat, so it waits in the web app." in bob.sees[-1]
    assert [one.id for one in await house.store.approvals.list_questions(Viewer.owner())] == [
        turn.id
    ]
    own = Viewer(address=bob.at, sender=bob.person.sender)
    assert await house.store.approvals.list_questions(own) == []
    with pytest.raises(Refused, match="waits for an approver"):
        await house.store.approvals.decide(own, turn.id, Approval.APPROVED)

    owner = await house.store.owner_account()
    await house.store.approvals.decide(
        owner.asker(), turn.id, Approval.APPROVED, extent=PermissionDuration.SESSION
    )
    await house.rests()

    assert bob.sees[-1] == "That is it."
    ((act, subject, _), *_) = await acts(house)
    assert act == "tool.approved"
    assert f"turn {turn.id} of {turn.session_id}" in subject
    assert subject.endswith("files_delete session")


async def test_a_named_sender_and_an_account_approve(house: GatewayScenario) -> None:
    """Who is named in the settings approves, also from another platform or in the web app."""
    ada = await house.store.make_account("ada")
    named = Approvers(named=("discord:carol", f"local:{ada.sender.id}"))
    house.lives_by(replace(house.rules, approvers=named))
    boss, carol = await boss_of(house), house.guest("Carol", on="discord")
    house.agent.will(Says("Hello."))
    await carol.says("hello")
    bob = house.guest("Bob")

    await asked_by(house, bob)
    assert boss.sees[-1] == "Hello."
    await carol.presses("Approve")
    assert bob.sees[-1] == "That is it."

    await asked_by(house, bob)
    (*_, turn) = await bob.turns()
    assert [one.id for one in await house.store.approvals.list_questions(ada.asker())] == [turn.id]
    await house.store.end_account(ada.key)
    with pytest.raises(NotFound):
        await house.store.approvals.decide(ada.asker(), turn.id, Approval.APPROVED)


async def test_whoever_is_no_admin_any_more_cannot_approve(house: GatewayScenario) -> None:
    """The button that was shown before is refused, also if the rank was read a moment earlier."""
    boss, bob = await boss_of(house), house.guest("Bob")
    await asked_by(house, bob)
    members = AccessRules(allow=["telegram:*"], per_minute=0)
    house.store.rules = replace(house.store.rules, access=members)

    await boss.presses("Approve")

    assert await state_of(bob) is TurnState.WAITING
    assert "Nothing is waiting" in boss.sees[-1]


async def test_a_request_of_a_removed_member_cannot_be_approved(house: GatewayScenario) -> None:
    """The approver is told why; nothing runs for a sender who may no longer speak."""
    boss, bob = await boss_of(house), house.guest("Bob")
    await asked_by(house, bob)
    rest = AccessRules(admins=[f"telegram:{ADMIN}"], per_minute=0)
    house.store.rules = replace(house.store.rules, access=rest)

    await boss.presses("Approve")

    assert "may no longer speak here" in boss.sees[-1]
    assert await state_of(bob) is TurnState.WAITING


async def test_who_answers_twice_or_second_changes_nothing(house: GatewayScenario) -> None:
    """Of two approvers at once one is heard, and the other is told."""
    boss, bob = await boss_of(house), house.guest("Bob")
    await asked_by(house, bob)
    (turn,) = await bob.turns()
    owner = await house.store.owner_account()

    async def decides(approval: Approval) -> TurnState:
        asked_at = turn.asked_at
        return await house.store.approvals.decide(
            owner.asker(), turn.id, approval, asked_at=asked_at
        )

    both = await asyncio.gather(
        decides(Approval.APPROVED), decides(Approval.DENIED), return_exceptions=True
    )
    await house.rests()

    assert sum(isinstance(one, Conflict) for one in both) == 1
    await boss.presses("Approve")
    assert "Nothing is waiting" in boss.sees[-1]
    assert len(await acts(house)) == 1


@pytest.mark.parametrize("ask", [DELETE, AsksLive(DELETE.text, DELETE.tools)])
async def test_a_restart_in_between_changes_nothing(
    house: GatewayScenario, ask: Asks | AsksLive
) -> None:
    """It still waits for an approver, who answers the question that is asked now."""
    boss, bob = await boss_of(house), house.guest("Bob")
    house.agent.will(ask, Says("That is it."))
    house.agent.will(ask if isinstance(ask, AsksLive) else Says("That is it."), Says("Done."))
    await bob.says("tidy up")

    await house.crashes_and_comes_back()
    await bob.says("/approve")
    assert await state_of(bob) is TurnState.WAITING
    await boss.presses("Approve", under=DELETE.text)

    assert await state_of(bob) is TurnState.DONE


async def test_a_day_without_an_answer_is_a_denial_that_both_hear_of(
    house: GatewayScenario,
) -> None:
    """The agent is told no, and so are the member and the approver."""
    boss, bob = await boss_of(house), house.guest("Bob")
    await asked_by(house, bob)

    await house.time_passes(hours=25)
    await house.sweeps()

    assert house.agent.last.turn.answer == "denied"
    told = "No approver answered within 1 day, so this was denied: files_delete"
    assert any(told in words for words in bob.sees)
    assert told in boss.sees[-1]
    ((act, subject, who),) = await acts(house)
    assert (act, who) == ("tool.denied", "")
    assert subject.endswith("unanswered")


async def test_every_answer_is_in_the_audit_log(house: GatewayScenario) -> None:
    """With who gave it, for which turn, what was shown, and for how long."""
    boss, bob = await boss_of(house), house.guest("Bob")
    for said in ("/approve {} session", "/deny {}", "/approve {} always"):
        await asked_by(house, bob, Asks(f"{said}?", ("one", "two", said)))
        (*_, turn) = await bob.turns()
        await boss.says(said.format(f"{turn.id}.1"))

    log = await acts(house)

    assert [(act, who) for act, _, who in log if act != "tool.allowed"] == [
        ("tool.approved", f"telegram:{ADMIN}"),
        ("tool.denied", f"telegram:{ADMIN}"),
        ("tool.approved", f"telegram:{ADMIN}"),
    ]
    assert all("one, two" in subject for act, subject, _ in log if act != "tool.allowed")


async def test_a_long_request_is_approved_below_its_last_message(house: GatewayScenario) -> None:
    """It comes in as many messages as it takes, with the buttons under the last one only."""
    boss, bob = await boss_of(house), house.guest("Bob")
    before = len(boss.shown)
    words = " ".join(f"step{n}" for n in range(3000))

    await asked_by(house, bob, Asks(f"May I?\n\n```\n{words}\n```", ("run",)))

    shown = boss.shown[before:]
    together = " ".join(one.text for one in shown)
    assert all(f"step{n}" in together for n in range(3000))
    assert [bool(one.choices) for one in shown] == [*[False] * (len(shown) - 1), True]


@pytest.mark.parametrize("words", ["approved", "Approved: go on with the plan", "/approve"])
async def test_a_yes_from_before_the_question_approves_nothing(
    house: GatewayScenario, words: str
) -> None:
    """A message that arrives late was written by a sender who had not seen what is asked."""
    boss = await boss_of(house)
    await asked_by(house, boss)
    turn = (await boss.turns())[-1]
    assert turn.asked_at is not None
    said = Inbound.text(
        words,
        address=boss.at,
        sender=Sender(id="boss", name=ADMIN),
        at=turn.asked_at - timedelta(minutes=1),
        message_id="late",
    )

    if (call := parse_command(words)) is None:
        await house.store.receive(said, answers=AccessLevel.OWNER)
    else:
        reply = await execute(house.store.database, said, call, AccessLevel.OWNER)
        assert reply is not None
        assert "asked after you wrote" in reply.text

    assert (await house.store.turns.get(turn.id)).state is TurnState.WAITING
    assert await acts(house) == []
