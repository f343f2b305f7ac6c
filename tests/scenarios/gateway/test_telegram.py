"""Telegram from end to end: the real platform and SDK in a whole gateway, before a double."""

from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from msgspec.structs import replace

from tests.databases import FAST, on
from tests.doubles.telegram import BotApi
from tests.scenarios.gateway.telegram import TelegramHouse, Writer
from tests.scenarios.gateway.test_access import code_in
from threadline.core.access import AccessRules
from threadline.core.command import COMMANDS
from threadline.core.message import Attachment, Role
from threadline.store.commands.status import GREETING
from threadline.testing.scenario import OpenStore
from threadline.testing.scripted_agent import Asks, Hangs, Says, Streams

pytestmark = on(FAST)

TO_BOT = "@double_bot"


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[TelegramHouse]:
    """Move into a house whose bot everybody may speak to, and which reads all in groups."""
    async with BotApi(reads_all=True) as api, TelegramHouse(open_again, api) as house:
        yield house


@pytest.fixture
def alice(house: TelegramHouse) -> Writer:
    """Somebody who has a chat with the bot."""
    return house.writer("Alice")


async def test_a_stranger_is_paired(house: TelegramHouse) -> None:
    """Who is not known is given a code, and answered as soon as the owner has approved it."""
    await house.stops()
    await house.comes_back(replace(house.settings, access=AccessRules(admins=["telegram:1"])))
    mallory = house.writer("Mallory")

    code = code_in(await mallory.asks("hello?"))
    assert not house.agent.requests
    grant = await house.store.people.approve_pairing(code)

    assert grant.identity.id == str(mallory.person.id)
    assert await mallory.asks("and now?") == "ok"


async def test_an_answer_grows_in_one_message(house: TelegramHouse, alice: Writer) -> None:
    """It is changed once a second and not more often, while it is shown that somebody writes."""
    house.agent.will(
        *(Streams("Once upon"), Hangs()), *(Streams(" a time"), Hangs()), Streams(", the end.")
    )
    await alice.writes("tell me a story")
    await alice.hears("Once upon")
    await house.until(lambda: bool(house.agent.parked))
    house.agent.goes_on()
    await alice.hears("Once upon a time")
    await house.until(lambda: bool(house.agent.parked))
    await house.agent_goes_on()

    (shown,) = alice.shown
    assert shown.text == "Once upon a time, the end."
    assert shown.edits >= 2
    changes = [call.at for call in house.api.called("editMessageText")]
    assert all((after - before).total_seconds() > 0.9 for before, after in pairwise(changes))
    assert house.api.typing(alice.chat)


async def test_a_long_answer_comes_in_parts(house: TelegramHouse, alice: Writer) -> None:
    """Each is as long as Telegram takes it, and together they are the whole."""
    words = [f"**pea** {number}" for number in range(1000)]
    house.agent.will(Says(" ".join(words)))

    await alice.says("count the peas")

    assert len(alice.shown) > 2
    assert " ".join(alice.sees) == " ".join(words).replace("*", "")
    assert {one["type"] for shown in alice.shown for one in shown.entities} == {"bold"}


async def test_in_a_group_it_answers_who_calls_it(house: TelegramHouse, alice: Writer) -> None:
    """Chatter is left alone; what is said to the bot is answered where it stands."""
    bob = house.writer("Bob")
    garden = house.api.group("Garden", [alice.person, bob.person])

    assert await bob.at(garden).asks("fine weather today") == ""
    called = await alice.at(garden).says(f"{TO_BOT} will it rain?")

    (answer,) = garden.messages
    assert (answer.text, answer.reply_to) == ("ok", called.id)
    (asked,) = house.agent.requests
    assert not any("fine weather" in line.text for line in asked.history)
    bob.house.tick()
    await bob.person.writes(garden, "are you sure?", reply_to=answer)
    await house.rests()
    assert len(garden.messages) == 2


async def test_two_topics_are_two_conversations(house: TelegramHouse, alice: Writer) -> None:
    """What is said in one is not known in the other, and answered where it was said."""
    garden = house.api.group("Garden", [alice.person], forum=True)
    peas = alice.at(garden, await alice.person.opens_topic(garden, "Peas"))
    beans = alice.at(garden, await alice.person.opens_topic(garden, "Beans"))
    house.agent.will(Says("Peas it is."))
    house.agent.will(Says("Beans it is."))

    assert await peas.asks(f"{TO_BOT} speak of peas") == "Peas it is."
    assert await beans.asks(f"{TO_BOT} speak of beans") == "Beans it is."

    assert not any("peas" in line for line in house.agent.lines(Role.USER))
    assert len(await house.sessions()) == 2
    assert peas.sees == ["Peas it is."]


@pytest.mark.parametrize(
    ("label", "said", "heard"),
    [("Approve", "Approved.", "approved"), ("Deny", "Denied.", "denied")],
)
async def test_a_question_is_answered_by_pressing(
    house: TelegramHouse, alice: Writer, label: str, said: str, heard: str
) -> None:
    """The agent goes on with the answer; who presses once more is told that it is late."""
    house.agent.will(Asks("Delete the peas?"))
    house.agent.will(Says("So be it."))
    await alice.says("tidy up")
    (question,) = alice.shown
    assert "Delete the peas?" in question.text

    await alice.presses(label)
    assert alice.sees[1:] == [said, "So be it."]
    assert heard in str(house.agent.last.turn.answer).lower()

    await alice.presses("Approve", question)
    assert "Nothing is waiting for an answer here" in alice.sees[-1]
    assert len(house.agent.requests) == 2


async def test_a_conversation_is_resumed_by_pressing(house: TelegramHouse, alice: Writer) -> None:
    """The list has a button for each, and the one that was pressed goes on."""
    await alice.says("/new Peas")
    await alice.says("how are the peas?")
    await alice.says("/new Beans")
    await alice.says("how are the beans?")
    await alice.says("/resume")
    listing = alice.shown[-1]
    (peas,) = [label for label in listing.labels if "Peas" in label]

    await alice.presses(peas)
    assert "Continuing “Peas”" in alice.sees[-1]

    await alice.says("and now?")
    assert house.agent.saw_only("how are the peas?", "and now?")


async def test_files_come_and_go(house: TelegramHouse, alice: Writer) -> None:
    """What is sent to the bot is kept for the agent; what it has to give is sent as a file."""
    house.tick()
    await alice.person.sends(
        alice.chat, "document", b"peas", name="peas.txt", media_type="text/plain", caption="look"
    )
    await house.rests()
    (asked,) = [line for line in house.agent.last.history if line.role is Role.USER]
    (file,) = [part for part in asked.parts if isinstance(part, Attachment)]
    assert (asked.text, file.name) == ("look", "peas.txt")
    assert b"".join([piece async for piece in house.store.attachments.read(file.blob)]) == b"peas"

    await alice.says("/export")
    (given,) = [file for shown in alice.shown for file in shown.files]
    assert b"look" in given.data


async def test_an_edit_reaches_the_transcript(house: TelegramHouse, alice: Writer) -> None:
    """From then on it reads as it does in the chat."""
    said = await alice.says("how are the peas?")

    await alice.edits(said, "how are the beans?")

    await alice.says("well?")
    assert house.agent.saw_only("how are the beans?", "well?")
    assert [line.text for line in await alice.transcript() if line.role is Role.USER] == [
        "how are the beans?",
        "well?",
    ]


async def test_what_is_said_while_nobody_serves_arrives_once(
    house: TelegramHouse, alice: Writer
) -> None:
    """In order, for everybody, after a crash as well as after a stop."""
    bob = house.writer("Bob")
    await alice.says("zero")
    for leave in (house.crashes, house.stops):
        before = len(house.agent.requests)
        await leave()
        for words in ("one", "two"):
            await alice.writes(words)
            await bob.writes(words)
        await house.comes_back()
        assert len(house.agent.requests) == before + 4

    assert alice.sees == ["ok"] * 5
    mine = [line.text for line in await alice.transcript() if line.role is Role.USER]
    assert mine == ["zero", "one", "two", "one", "two"]


async def test_what_was_taken_and_not_confirmed_is_answered_once(
    house: TelegramHouse, alice: Writer
) -> None:
    """The crash comes after it was kept and before Telegram heard of that, so it comes again."""
    await house.api.until(lambda: house.api.called("getUpdates"))
    house.api.hang(methods="getUpdates")
    house.is_cut_off = True
    await alice.writes("hello")
    await alice.hears("ok")
    await house.rests()
    (unconfirmed,) = house.api.waiting

    await house.crashes()
    house.is_cut_off = False
    await house.comes_back()

    assert unconfirmed["update_id"] in house.api.confirmed
    assert alice.sees == ["ok"]
    assert len(house.agent.requests) == 1


@pytest.mark.parametrize("method", ["sendMessage", "editMessageText"])
async def test_too_much_is_said_later(house: TelegramHouse, alice: Writer, method: str) -> None:
    """Telegram asks for patience in the middle of an answer; it is seen whole, and once."""
    house.agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    house.api.flood(1, methods=method)
    await alice.writes("tell me a story")
    await house.until(lambda: bool(house.agent.parked))
    if method == "sendMessage":
        await house.until(lambda: bool(house.api.called(method)))
    else:
        await alice.hears("Once")

    await house.agent_goes_on()
    await house.time_passes(seconds=5)

    await alice.hears("Once upon a time")
    assert alice.sees == ["Once upon a time"]
    assert len(house.api.called(method)) > 1, "the first was refused"


async def test_a_long_flood_makes_no_second_message(house: TelegramHouse, alice: Writer) -> None:
    """However often Telegram wants a pause, the message that has begun to grow is grown."""
    house.agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    await alice.writes("tell me a story")
    await house.until(lambda: bool(house.agent.parked))
    await alice.hears("Once")
    house.api.flood(1, times=4, methods="editMessageText")
    await house.agent_goes_on()
    for _ in range(8):
        await house.time_passes(seconds=30)

    assert alice.sees == ["Once upon a time"]


async def test_who_blocked_the_bot_is_left_alone_until_they_write_again(
    house: TelegramHouse, alice: Writer
) -> None:
    """The answer is given up at once; whoever unblocks the bot and writes is answered."""
    house.agent.will(Hangs(), Says("Too late."))
    await alice.writes("wait for me")
    await house.until(lambda: bool(house.agent.parked))
    await alice.person.blocks(alice.chat)
    await house.agent_goes_on()

    (dead,) = await house.store.dead_targets()
    assert dead.address.chat == str(alice.chat.id)
    tries = len(house.api.called("sendMessage"))
    await house.time_passes(hours=1)
    assert len(house.api.called("sendMessage")) == tries
    assert not alice.sees

    await alice.person.unblocks(alice.chat)
    assert await alice.asks("hello again") == "ok"
    assert alice.sees == ["ok"], "what was given up is not said any more"
    assert await house.store.dead_targets() == []


@pytest.mark.parametrize("asked", ["/start", "/START", "/start Qx7-deep_link"])
async def test_start_is_greeted(house: TelegramHouse, alice: Writer, asked: str) -> None:
    """A sender who is let in gets a greeting, whatever a deep link puts after the command."""
    assert await alice.asks(asked) == GREETING
    assert not house.agent.requests


async def test_start_is_greeted_in_a_group(house: TelegramHouse, alice: Writer) -> None:
    """The command for this bot is greeted in a group, the command for another bot is not."""
    group = house.api.group("Wonderland", [alice.person])
    await alice.person.writes(group, "/start@other_bot")
    await alice.person.writes(group, f"/start{TO_BOT}")
    await house.api.until(lambda: GREETING in group.texts)

    assert group.texts.count(GREETING) == 1
    assert not house.agent.requests


async def test_a_stranger_who_starts_is_paired(house: TelegramHouse) -> None:
    """A sender who is not known gets a code for `/start`, and the greeting once approved."""
    await house.stops()
    await house.comes_back(replace(house.settings, access=AccessRules(admins=["telegram:1"])))
    mallory = house.writer("Mallory")

    await house.store.people.approve_pairing(code_in(await mallory.asks("/start")))

    assert await mallory.asks("/start") == GREETING


async def test_the_menu_names_every_command(house: TelegramHouse) -> None:
    """It is told to Telegram once, and not again when nothing has changed."""
    await house.api.until(house.api.commands)
    assert house.api.commands().keys() <= {command.name for command in COMMANDS}
    assert {"new", "resume", "stop", "approve", "help"} <= house.api.commands().keys()
    assert "start" not in house.api.commands()

    before = len(house.api.called("getMyCommands"))
    await house.crashes_and_comes_back()
    await house.api.until(lambda: len(house.api.called("getMyCommands")) > before)
    await house.stops()

    assert len(house.api.called("setMyCommands")) == 1
