"""How answers reach people: in order, once, in pieces that fit, whatever their platform does."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from threadline.core.delivery import REPEAT_MARKER
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment
from threadline.core.platform import Capabilities, Unit
from threadline.platforms.simulated import EVERYTHING, SendFault, SentFile, Simulated
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import OpenStore
from threadline.testing.scripted_agent import Hangs, Says, Streams

PLAIN = Capabilities()
SHORT = Capabilities(text_limit=64, unit=Unit.UTF16)
BUBBLES = Capabilities(bubbles=True)
SAFE = Capabilities(idempotent=True)


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house with platforms of many kinds."""
    kinds = {"plain": PLAIN, "short": SHORT, "bubbles": BUBBLES, "safe": SAFE, "rich": EVERYTHING}
    house = GatewayScenario(open_again, names=())
    for name, can in kinds.items():
        house.platforms[name] = Simulated(name, capabilities=can, clock=house.clock)
    access = {f"{name}:*" for name in kinds}
    house.settings = replace(house.settings, access=replace(house.settings.access, allow=access))
    async with house:
        yield house


async def test_a_long_answer_is_split_where_it_may(house: GatewayScenario) -> None:
    """Each message is within the limit of its platform, and together they are the answer."""
    bob = house.guest("Bob", on="short")
    words = [f"sentence {n} 🌱." for n in range(30)]
    house.agent.will(Says(" ".join(words)))

    await bob.says("tell me all")

    assert len(bob.sees) > 5
    assert all(len(text.encode("utf-16-le")) // 2 <= 64 for text in bob.sees)
    assert " ".join(bob.sees).split() == " ".join(words).split()


async def test_every_block_is_a_bubble(house: GatewayScenario) -> None:
    """Where people write in bubbles, each block between blank lines is one."""
    bob = house.guest("Bob", on="bubbles")
    house.agent.will(Says("Hello Bob!\n\nHow are you?\n\n\nWell?"))

    await bob.says("hi")

    assert bob.sees == ["Hello Bob!", "How are you?", "Well?"]


async def test_an_answer_grows_and_is_exact_in_the_end(house: GatewayScenario) -> None:
    """It is one message, which changes once a second at the most."""
    bob = house.guest("Bob", on="rich")
    house.agent.will(Streams("Once upon"), Hangs(), Streams(" a time"), Hangs(), Says("The end."))
    await bob.says("a story")
    await bob.hears("Once upon")
    await house.until(lambda: bool(house.agent.parked))

    house.agent.goes_on()
    await bob.hears("Once upon a time")
    await house.until(lambda: bool(house.agent.parked))
    house.agent.goes_on()
    await bob.hears("The end.")
    await house.rests()

    (shown,) = bob.shown
    assert shown.text == "The end."
    assert shown.edits <= 2
    assert not house.simulated("rich").counts["hasty edits"]


async def test_people_see_that_somebody_writes(house: GatewayScenario) -> None:
    """As long as the turn runs, and not longer."""
    bob = house.guest("Bob", on="rich")
    rich = house.simulated("rich")
    house.agent.will(Hangs())
    await bob.says("think")
    await house.until(lambda: rich.is_typing(bob.at), "typing")

    house.agent.will(Says("ok"))
    await house.agent_goes_on()
    await bob.says("hello")

    assert not rich.is_typing(bob.at)


async def test_a_platform_that_asks_for_patience_gets_it(house: GatewayScenario) -> None:
    """Nothing is sent before the time it named; afterwards everything comes, in order."""
    bob, carol = house.guest("Bob", on="plain"), house.guest("Carol", on="plain")
    plain = house.simulated("plain")
    plain.suffer(SendFault.FLOOD, at=bob.at, retry_after=timedelta(minutes=5))
    house.agent.will(Says("one"))
    house.agent.will(Says("two"))
    await bob.says("1")
    await bob.says("2")
    assert (bob.sees, len(plain.sends)) == ([], 1)
    assert await carol.asks("hello") == "ok", "others are not concerned"

    await house.time_passes(minutes=4)
    assert bob.sees == []
    await house.time_passes(minutes=2)

    assert bob.sees == ["one", "two"]


async def test_a_broken_platform_is_tried_again(house: GatewayScenario) -> None:
    """After a pause that grows; nobody hears anything twice, and nothing is marked."""
    bob = house.guest("Bob", on="plain")
    house.simulated("plain").suffer(SendFault.BROKEN, times=3)
    await bob.says("hello")

    for _ in range(3):
        assert bob.sees == []
        await house.time_passes(seconds=5)

    assert bob.sees == ["ok"]


@pytest.mark.parametrize(
    ("trouble", "seen"),
    [
        (SendFault.LOST, [f"{REPEAT_MARKER}\nok"]),
        (SendFault.UNHEARD, ["ok", f"{REPEAT_MARKER}\nok"]),
    ],
)
async def test_what_may_have_been_seen_is_marked(
    house: GatewayScenario, trouble: SendFault, seen: list[str]
) -> None:
    """An answer whose fate is unknown is sent once more, and says that it may be a repeat."""
    bob = house.guest("Bob", on="plain")
    house.simulated("plain").suffer(trouble)
    await bob.says("hello")

    await house.time_passes(seconds=5)
    await house.time_passes(hours=1)

    assert bob.sees == seen


async def test_it_is_not_repeated_a_second_time(house: GatewayScenario) -> None:
    """After two silences it is given up; the conversation goes on."""
    bob = house.guest("Bob", on="plain")
    house.simulated("plain").suffer(SendFault.LOST, times=2)
    await bob.says("hello")
    await house.time_passes(hours=1)
    await house.time_passes(hours=1)

    assert (bob.sees, len(house.simulated("plain").sends)) == ([], 2)
    assert await bob.asks("hello?") == "ok"


async def test_a_platform_that_knows_keys_needs_no_marker(house: GatewayScenario) -> None:
    """The same key is shown once, however often it is sent."""
    bob = house.guest("Bob", on="safe")
    house.simulated("safe").suffer(SendFault.UNHEARD)
    await bob.says("hello")

    await house.time_passes(seconds=5)

    assert bob.sees == ["ok"]
    assert len(house.simulated("safe").sends) == 2


async def test_a_dead_chat_is_remembered_until_it_lives(house: GatewayScenario) -> None:
    """Who blocks us is told nothing more often than there is something new; then they are back."""
    bob = house.guest("Bob", on="plain")
    bob.person.blocks()
    await bob.says("hello")
    await house.time_passes(hours=1)
    assert len(house.simulated("plain").sends) == 1
    assert [dead.address.chat for dead in await house.store.dead_targets()] == ["bob"]

    bob.person.unblocks()
    assert await bob.asks("hello again") == "ok"

    assert await house.store.dead_targets() == []


async def test_what_could_not_be_sent_for_a_day_is_given_up(house: GatewayScenario) -> None:
    """A platform that asks for one pause after another is not waited for any longer."""
    bob = house.guest("Bob", on="plain")
    house.simulated("plain").suffer(SendFault.FLOOD, times=30, retry_after=timedelta(hours=1))
    await house.sweeps()
    await bob.says("hello")
    for _ in range(26):
        await house.time_passes(minutes=59)
        await house.sweeps()
    house.simulated("plain").recover()
    await house.time_passes(hours=1)

    assert bob.sees == []
    assert (await house.store.load()).owed == 0


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=8)])
@pytest.mark.parametrize("crashes", [False, True], ids=["running", "crashing"])
async def test_a_clock_that_jumps_keeps_no_reply_back(
    house: GatewayScenario, ahead: timedelta, *, crashes: bool
) -> None:
    """Ahead and back, with replies that wait on both sides: all are sent, none is given up."""
    guests = [house.guest(name, on="plain") for name in ("Ada", "Bob", "Eve")]
    plain = house.simulated("plain")
    await house.sweeps()
    for guest, jump in zip(guests, (timedelta(0), ahead, -ahead), strict=True):
        house.clock.advance(jump)
        if crashes:
            await house.crashes_and_comes_back()
        await house.sweeps()
        plain.suffer(SendFault.FLOOD, at=guest.at, retry_after=timedelta(minutes=10))
        await guest.says("hello")
    await house.sweeps()
    await house.time_passes(minutes=15)
    await house.sweeps()

    assert [guest.sees for guest in guests] == [["ok"], ["ok"], ["ok"]]
    assert (await house.store.load()).owed == 0


async def test_a_message_right_after_the_clock_was_set_ahead_is_answered(
    house: GatewayScenario,
) -> None:
    """The platform's own time makes it look a day old, but it was received at once."""
    bob = house.guest("Bob", on="plain")
    await bob.says("one")
    house.clock.advance(timedelta(days=1))
    late = Inbound.text(
        "two",
        address=bob.at,
        sender=bob.person.sender,
        at=house.clock() - timedelta(days=1),
        message_id="late",
    )
    await house.gateway.inbox.take(late)
    await house.rests()

    assert bob.sees == ["ok", "ok"]


async def test_files_come_in_and_go_out(house: GatewayScenario) -> None:
    """What Bob sends reaches the agent; what is sent to him reaches him, or is named."""
    rich, plain = house.guest("Bob", on="rich"), house.guest("Bob", on="plain")
    await rich.says(
        "look", files=[SentFile(name="peas.png", data=b"\x89PNG", media_type="image/png")]
    )

    (file,) = [part for part in house.agent.last.history[-1].parts if isinstance(part, Attachment)]
    data = b"".join([piece async for piece in house.store.attachments.read(file.blob)])
    assert (file.name, file.media_type, data) == ("peas.png", "image/png", b"\x89PNG")

    for bob in (rich, plain):
        await house.store.deliveries.create(bob.at, "a picture", [file])
    await house.rests()
    assert [one.files for one in rich.shown][-1] == (("peas.png", b"\x89PNG"),)
    assert plain.sees == ["a picture\n\n[peas.png cannot be sent here]"]


async def test_a_file_without_words_is_a_message(house: GatewayScenario) -> None:
    """It is answered as any other."""
    bob = house.guest("Bob", on="rich")

    assert await bob.asks("", files=[SentFile(name="peas.txt", data=b"peas")]) == "ok"
