import pytest

from tests.doubles.telegram.sample_contents import BOB, BOT, CHANNEL
from tests.platforms.telegram.raw_updates import hear, heard, in_group, line, mention, update
from threadline.core.message import plain_text

OURS = line("Tea?", number=3, **{"from": BOT})
THEIRS = line("Tea?", number=3, **{"from": BOB})


def mentioning(text: str, name: str) -> dict[str, object]:
    return in_group(text, entities=mention(text, name))


TO_US = {
    "command": in_group("/status"),
    "our command": in_group("/status@double_bot now"),
    "in capitals": in_group("/status@Double_Bot"),
    "mention": mentioning("👩‍👩‍👧 what do you think, @Double_bot?", "@Double_bot"),
    "without a user name": in_group(
        "Double, hi",
        entities=[{"type": "text_mention", "offset": 0, "length": 6, "user": BOT}],
    ),
    "reply": in_group("yes", reply_to_message=OURS),
    "caption": in_group(
        None,
        caption="@double_bot look",
        caption_entities=mention("@double_bot", "@double_bot"),
        location={"latitude": 1, "longitude": 2},
    ),
}
NEAR_US = {
    "chatter": in_group("hello everybody"),
    "another bot's command": in_group("/status@other_bot"),
    "a mention of somebody": mentioning("@bob come here", "@bob"),
    "our name without the sign": in_group("double_bot is nice"),
    "a longer name": mentioning("@double_bot2 hi", "@double_bot2"),
    "a reply to somebody": in_group("yes", reply_to_message=THEIRS),
    "a path": in_group("/etc/passwd is a file"),
    "an entity beyond the end": in_group(
        "hi", entities=[{"type": "mention", "offset": 400, "length": -9}]
    ),
}


@pytest.mark.parametrize("name", TO_US)
async def test_what_is_said_to_us_is_answered(name: str) -> None:
    """A command, our name, or an answer to us: that is how one speaks to a bot in a group."""
    inbound = await heard(TO_US[name])

    assert not inbound.observed


@pytest.mark.parametrize("name", NEAR_US)
async def test_what_is_said_near_us_is_left_out_or_observed(name: str) -> None:
    """Other chatter is dropped, or kept as context where the owner wants that."""
    assert not await hear(NEAR_US[name])
    assert (await heard(NEAR_US[name], observe=True)).observed


async def test_everything_is_answered_where_the_owner_wants_that() -> None:
    """With `all` no name is needed; another bot's command is still another's."""
    assert not (await heard(NEAR_US["chatter"], groups="all")).observed
    assert not await hear(NEAR_US["another bot's command"], groups="all")


@pytest.mark.parametrize(
    ("channels", "text", "answered"),
    [
        ("off", "/status", False),
        ("mention", "/status", True),
        ("mention", "News", False),
        ("all", "News", True),
    ],
)
async def test_channels_have_a_rule_of_their_own(channels: str, text: str, answered: bool) -> None:
    """Posts are answered like what is said in groups, or not at all."""
    post = update(line(text, chat=CHANNEL, **{"from": None}), "channel_post")

    assert bool(await hear(post, channels=channels)) is answered


async def test_a_dm_is_always_for_us() -> None:
    """There is nobody else to speak to."""
    assert await hear(update(line("/status@other_bot")))


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("@double_bot /status", "/status"),
        ("@double_bot  /model\nx", "/model\nx"),
        ("@double_bot what is /status?", "@double_bot what is /status?"),
    ],
)
async def test_a_command_may_stand_behind_our_name(text: str, taken: str) -> None:
    """In a group one calls first and asks then; the words of everything else stay as they are."""
    inbound = await heard(mentioning(text, "@double_bot"))

    assert plain_text(inbound.parts) == taken


async def test_the_beginning_of_our_own_topic_is_no_question() -> None:
    """Every line of a topic answers its beginning; that we made it does not call us."""
    begun = {**OURS, "text": None, "forum_topic_created": {"name": "Tea", "icon_color": 1}}
    said = in_group(
        "hi all",
        message_thread_id=3,
        is_topic_message=True,
        reply_to_message={name: value for name, value in begun.items() if value is not None},
    )

    assert not await hear(said)
