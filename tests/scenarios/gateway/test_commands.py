"""Every command of the table, through a chat: for a member, an admin, the owner and a stranger."""

import itertools
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from threadline.core.access import AccessRules
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import COMMANDS, list_commands
from threadline.core.inbound import Inbound
from threadline.core.platform import ReceiveResult, ReceiveStatus
from threadline.gateway.compaction import NO_SCRIBE
from threadline.platforms.simulated import SentFile
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scripted_agent import Asks, Hangs, Says, Streams

ANSWERS: Mapping[str, str] = {
    "/new Peas": "This is a new conversation called “Peas”.",
    "/reset": "This is a new conversation.",
    "/resume 2": "Continuing “Peas” from",
    "/sessions": "Your conversations:",
    "/title Beans": "This is “Beans” now.",
    "/status": "Nothing is running.",
    "/stop": "Nothing is running.",
    "/approve": "Nothing is waiting for an answer here.",
    "/deny": "Nothing is waiting for an answer here.",
    "/undo": "Took back 1 turn (2 messages).",
    "/redo": "Brought back 2 messages.",
    "/retry": "Once more.\n\nok",
    "/branch Other": "This is a branch called “Other” now.",
    "/compress it was about peas": "Writing a summary of the older part.",
    "/model large": "This conversation uses large.",
    "/usage": "This conversation has spent nothing.",
    "/background count the peas": "“count the peas” is being done in the background.",
    "/queue": "Nothing is waiting.",
    "/steer left": "ok",
    "/link": "Send this from the other app",
    "/unlink": "You were not linked with anybody.",
    "/job": "There are no jobs.",
    "/platforms": "- telegram: ",
    "/whoami": "You are here as: ",
    "/sethome": "Messages that nobody asked for on telegram come here from now on.",
    "/export": "Writing it down.\n\nThis is the conversation so far.",
    "/forget this": "This would delete 1 conversation",
    "/help": "/new [title]",
}
"""What somebody writes in a conversation that has begun, and how the answer begins or goes on."""
ALONE = {
    "/link": "Send /link in a private chat.",
    "/forget this": "This conversation is not yours alone",
}
"""What is answered otherwise where several people listen to one conversation."""
AT_THE_TERMINAL = {"/link", "/steer left"}
"""What is secret, or answered by a turn alone, comes by other ways there."""


def test_every_command_is_tried() -> None:
    """A command that is new in the table is missing here."""
    assert [command.name for command in COMMANDS] == [
        command.name
        for command in COMMANDS
        if any(asked.split()[0] == f"/{command.name}" for asked in ANSWERS)
    ]


async def begin(guest: GatewayUser, asked: str) -> None:
    """Let there be a conversation, which a command then is about."""
    if asked != "/redo":
        await guest.says("hello")


async def test_a_member_may_use_what_is_for_members(house: GatewayScenario) -> None:
    """Each command answers in the chat; what goes beyond that chat is for admins."""
    alice = house.guest("Alice")
    for_members = {command.name for command in list_commands(AccessLevel.MEMBER)}

    for asked, answer in ANSWERS.items():
        await begin(alice, asked)
        expected = answer if asked[1:].split()[0] in for_members else "is for those who are admin"
        assert expected in await alice.asks(asked), asked


async def test_an_admin_may_use_everything(house: GatewayScenario) -> None:
    """Each command of the table answers."""
    boss = house.guest("Boss")

    for asked, answer in ANSWERS.items():
        await begin(boss, asked)
        assert answer in await boss.asks(asked), asked


async def test_a_member_of_a_group_may_use_what_concerns_the_group(house: GatewayScenario) -> None:
    """In a thread that all share, secrets are not shown, and nobody deletes what others said."""
    bob = house.guest("Bob").in_thread("Garden", "Peas")
    for_members = {command.name for command in list_commands(AccessLevel.MEMBER)}

    for asked, answer in {**ANSWERS, **ALONE}.items():
        await begin(bob, asked)
        expected = answer if asked[1:].split()[0] in for_members else "is for those who are admin"
        assert expected in await bob.asks(asked), asked


async def test_the_owner_may_use_everything(house: GatewayScenario) -> None:
    """Whoever sits at the terminal, without being named anywhere."""
    terminal, owner = Address(platform="local", kind=Kind.DM, chat="terminal"), Sender(id="owner")
    written = itertools.count()

    async def says(words: str) -> ReceiveResult:
        """Write something at the terminal; what is secret is said to nobody else."""
        taken = await house.gateway.inbox.take(
            Inbound.text(
                words,
                address=terminal,
                sender=owner,
                at=house.clock(),
                message_id=f"m{next(written)}",
            )
        )
        await house.rests()
        return taken

    for asked, answer in ANSWERS.items():
        if asked != "/redo":
            await says("hello")
        taken = await says(asked)
        assert taken.reception is ReceiveStatus.COMMAND
        if asked not in AT_THE_TERMINAL:
            expected = answer.replace("on telegram", "on local").partition("\n\n")[0]
            assert expected in (taken.said or ""), asked


async def test_a_stranger_may_use_nothing(house: GatewayScenario) -> None:
    """They read nothing but a code, whatever they try; what is there stays as it is."""
    alice, mallory = house.guest("Alice"), house.guest("Mallory")
    await alice.says("a secret plan")
    (row,) = await house.sessions()
    await house.stops()
    await house.comes_back(
        replace(house.settings, access=AccessRules(allow=["telegram:alice"], per_minute=0))
    )

    for asked in (*ANSWERS, f"/resume {row.session.id}", "/sessions secret", "/forget me yes"):
        await mallory.says(asked)
        await mallory.in_group("Garden").says(asked)

    (code,) = mallory.sees
    assert "Give this code" in code
    assert not mallory.in_group("Garden").sees
    assert [row.session for row in await house.sessions()] == [row.session]


async def test_a_command_that_comes_twice_is_carried_out_once(house: GatewayScenario) -> None:
    """Also if a crash lies between; an unknown one is answered once too."""
    alice = house.guest("Alice")
    await alice.says("one")
    await alice.says("two")
    for words in ("/undo", "/undoo"):
        await alice.says(words)
        house.simulated("telegram").repeat()
        await house.crashes_and_comes_back()

    assert sum("Took back" in text for text in alice.sees) == 1
    assert sum("Did you mean /undo?" in text for text in alice.sees) == 1
    await alice.says("three")
    assert house.agent.saw_only("one", "three")


async def test_new_stops_what_runs_and_stays_new(house: GatewayScenario) -> None:
    """What was said so far is kept in the old conversation; a crash brings nothing back."""
    alice = house.guest("Alice")
    house.agent.will(Says("Once upon a time"), Hangs())
    await alice.says("tell me a story")
    old = await alice.session()

    assert "This is a new conversation" in await alice.asks("/new")
    await house.crashes_and_comes_back()
    await alice.says("what is up?")

    assert (await alice.session()).parent_id == old.id
    assert house.agent.saw_only("what is up?")
    assert "Once upon a time" in [line.text for line in await house.store.transcripts.read(old.id)]


async def test_what_waits_is_done_after_the_turn(house: GatewayScenario) -> None:
    """A command that has to wait says so, and comes between the turns where it was given."""
    alice = house.guest("Alice")
    for n in range(4):
        await alice.says(f"question {n}")
    house.agent.will(Hangs(), Says("done"))
    await alice.says("one more")

    assert await alice.asks("/compress peas") == (
        "That waits until what was asked before has been answered."
    )
    await alice.says("and another one")
    await house.agent_goes_on()

    done, *told = alice.sees[-4:]
    assert done == "done"
    assert told.index("Writing a summary of the older part.") < told.index("ok")
    assert NO_SCRIBE in told, "what it leaves to do is done too"


async def test_stop_ends_the_turn_for_good(house: GatewayScenario) -> None:
    """What was said is kept, nothing resumes it, and the conversation goes on."""
    alice = house.guest("Alice")
    house.agent.will(Streams("Once upon"), Hangs())
    await alice.says("tell me a story")
    await alice.hears("Once upon")

    await alice.says("/stop")
    await alice.hears("Stopped.")
    await house.crashes_and_comes_back()

    assert len(house.agent.requests) == 1
    assert alice.sees == ["Once upon\nStopped."], "what was seen stays, and it is said once"
    assert (await alice.transcript())[-1].text.startswith("Once upon")
    assert await alice.asks("go on") == "ok"
    assert [turn.state for turn in await alice.turns()] == ["stopped", "done"]


@pytest.mark.parametrize(("says", "state"), [("/approve", "approved"), ("/deny", "denied")])
async def test_a_question_is_answered_with_a_command(
    house: GatewayScenario, says: str, state: str
) -> None:
    """The agent asks, Alice answers, and the agent goes on with her answer."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Shall I delete it?"))
    house.agent.will(Says("As you wish."))

    assert "Shall I delete it?" in await alice.asks("delete my files")
    answer = await alice.asks(f"{says} but keep one")

    assert answer == f"{state.capitalize()}.\n\nAs you wish."
    assert house.agent.last.turn.answer == f"{state}: but keep one"


async def test_a_question_is_answered_by_pressing(house: GatewayScenario) -> None:
    """Where there are buttons; who presses twice is told that nothing waits."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Shall I delete it?"))
    await alice.says("delete my files")
    question = alice.shown[-1]
    assert [choice.label for choice in question.choices] == ["Approve", "Deny"]

    await alice.presses("Approve")
    assert alice.sees[-2:] == ["Approved.", "ok"]
    alice.person.presses(question.id, "Deny")
    await house.rests()
    assert "Nothing is waiting for an answer here" in alice.sees[-1]


async def test_plain_words_answer_a_question_too(house: GatewayScenario) -> None:
    """Nobody has to know the commands."""
    alice = house.guest("Alice")
    house.agent.will(Asks("Which colour?"))
    await alice.says("paint the house")

    await alice.says("blue")

    assert [turn.state for turn in await alice.turns()] == ["done"]
    assert house.agent.last.turn.answer == "blue"


async def test_something_is_done_in_the_background(house: GatewayScenario) -> None:
    """The conversation goes on meanwhile, and the answer comes to the same chat."""
    alice = house.guest("Alice")
    house.agent.will(Hangs(), Says("There are 42 peas."))
    assert "“count the peas” is being done" in await alice.asks("/background count the peas")

    assert await alice.asks("how is the weather?") == "ok"
    assert house.agent.saw_only("how is the weather?")
    await house.agent_goes_on()

    assert alice.sees[-1] == "There are 42 peas."


async def test_an_export_comes_as_a_file(house: GatewayScenario) -> None:
    """With what was said in it."""
    alice = house.guest("Alice")
    house.agent.will(Says("Good morning Alice"))
    await alice.says("hello", files=[SentFile(name="peas.txt", data=b"peas")])

    await alice.says("/export")

    ((name, data),) = alice.shown[-1].files
    assert name.endswith(".md")
    assert b"Good morning Alice" in data


async def test_somebody_is_one_person_in_two_apps(house: GatewayScenario) -> None:
    """The code is shown to Alice alone and is not kept; then her conversations are hers in both."""
    here, there = house.guest("Alice"), house.guest("Alice", on="discord")
    await here.says("about peas")
    code = (await here.asks("/link")).split()[-1]

    assert "“Alice” (telegram:" in await there.asks(f"/link {code}")
    assert "Your accounts are linked" in await there.asks("/link yes")

    assert "“about peas”" in await there.asks("/sessions")
    assert "same person on: telegram" in await there.asks("/whoami")


async def test_the_menu_names_the_commands(house: GatewayScenario) -> None:
    """A platform is told which commands there are."""
    await house.until(lambda: bool(house.simulated("telegram").menu), "the menu")
    assert house.simulated("telegram").menu == list_commands(AccessLevel.ADMIN)


async def test_everything_of_somebody_is_forgotten(house: GatewayScenario) -> None:
    """They are asked first; what they are told about it is not kept either."""
    alice = house.guest("Alice")
    await alice.says("my secret")

    assert "To do it, send /forget me yes" in await alice.asks("/forget me")
    answer = await alice.asks("/forget me yes")

    assert "Forgetting everything of yours." in answer
    assert "Forgotten: " in answer
    assert await house.sessions() == []
