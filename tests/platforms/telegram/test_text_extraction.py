import pytest

from tests.doubles.telegram.sample_contents import ALICE, BOB, BOT, CHANNEL, GROUP
from tests.platforms.telegram.raw_updates import heard, in_group, line, update
from threadline.core.inbound import InboundKind
from threadline.core.message import plain_text
from threadline.platforms.telegram.text_extraction import EXCERPT

BEFORE = line("Shall we?", number=3, **{"from": BOB})


def keyboard(message: dict[str, object]) -> dict[str, object]:
    button = {"text": "Yes", "callback_data": "/approve"}
    return {**message, "reply_markup": {"inline_keyboard": [[button]]}}


async def test_words_come_as_they_were_written() -> None:
    """Nothing is added to them and nothing is taken away."""
    inbound = await heard(update(line("  *two* lines\n\n<b>and</b> 👩‍👩‍👧 ")))

    assert plain_text(inbound.parts) == "  *two* lines\n\n<b>and</b> 👩‍👩‍👧 "


async def test_hidden_links_are_written_out() -> None:
    """A link behind words is part of what was said; Telegram counts in UTF-16 units."""
    links = [
        {"type": "text_link", "offset": 7, "length": 4, "url": "https://b.example"},
        {"type": "text_link", "offset": 3, "length": 3, "url": "https://a.example"},
        {"type": "text_link", "offset": 4, "length": 2, "url": "https://inside.example"},
        {"type": "text_link", "offset": 90, "length": 2, "url": "https://beyond.example"},
        {"type": "bold", "offset": 0, "length": 2},
    ]
    inbound = await heard(update(line("👍 one two!", entities=links)))

    assert plain_text(inbound.parts) == "👍 [one](https://a.example) [two!](https://b.example)"


async def test_what_another_bot_wrote_commands_nothing() -> None:
    """Words that an inline bot put into somebody's mouth are told as its own."""
    inbound = await heard(update(line("/approve", via_bot={**BOT, "first_name": "Helper"})))

    assert plain_text(inbound.parts) == "[Written by the bot Helper]\n/approve"


async def test_a_reply_repeats_what_it_answers() -> None:
    """The agent may never have seen it, so that a short excerpt stands after the words."""
    inbound = await heard(in_group("@double_bot yes", reply_to_message=BEFORE), groups="all")

    assert [part.text for part in inbound.parts] == [  # type: ignore[union-attr]
        "@double_bot yes",
        "[In reply to Bob: Shall we?]",
    ]
    assert inbound.reply_to == "3"


async def test_a_quote_is_what_was_marked() -> None:
    """Who marks words of a long message means these."""
    quote = {"text": "we", "position": 6, "is_manual": True}
    inbound = await heard(update(line("who?", reply_to_message=BEFORE, quote=quote)))

    assert plain_text(inbound.parts) == "who?\n[In reply to Bob: we]"


async def test_an_excerpt_is_short() -> None:
    """A reply to a book does not bring the book."""
    book = {**BEFORE, "text": "x" * 4000}
    inbound = await heard(update(line("why?", reply_to_message=book)))

    assert len(plain_text(inbound.parts)) < EXCERPT + 40
    assert plain_text(inbound.parts).endswith("…]")


async def test_a_command_is_not_lengthened() -> None:
    """What follows a command is its argument, and an excerpt is none."""
    inbound = await heard(update(line("/title Tea", reply_to_message=BEFORE)))

    assert plain_text(inbound.parts) == "/title Tea"
    assert inbound.reply_to == "3"


async def test_an_answer_to_a_question_is_the_words_alone() -> None:
    """Where our message has buttons, what is said to it decides something."""
    question = keyboard(line("May I?", number=3, **{"from": BOT}))
    inbound = await heard(update(line("approved", reply_to_message=question)))

    assert plain_text(inbound.parts) == "approved"


async def test_a_reply_to_another_chat_or_a_story_says_so() -> None:
    """What is answered elsewhere is named as far as it is known."""
    origin = {"type": "user", "date": 1, "sender_user": BOB}
    elsewhere = {"origin": origin, "chat": GROUP, "message_id": 4}
    quote = {"text": "tea at five", "position": 0}
    far = await heard(update(line("ok", external_reply=elsewhere, quote=quote)))
    story = await heard(update(line("nice", reply_to_story={"chat": CHANNEL, "id": 1})))

    assert plain_text(far.parts) == "ok\n[In reply to Bob: tea at five]"
    assert plain_text(story.parts) == "nice\n[In reply to News: a story]"


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"type": "user", "sender_user": ALICE}, "[Forwarded from Alice Liddell]"),
        ({"type": "hidden_user", "sender_user_name": "Eve"}, "[Forwarded from Eve]"),
        ({"type": "chat", "sender_chat": GROUP}, "[Forwarded from Tea party]"),
        ({"type": "channel", "chat": CHANNEL, "message_id": 1}, "[Forwarded from News]"),
    ],
)
async def test_what_is_forwarded_says_from_whom(origin: dict[str, object], told: str) -> None:
    """A forwarded message is not the sender's own; a command in it commands nothing."""
    inbound = await heard(update(line("/forget me", forward_origin={"date": 1, **origin})))

    assert plain_text(inbound.parts) == f"{told}\n/forget me"


async def test_an_edit_names_its_message_and_comes_later() -> None:
    """Each edit has a higher version, because updates are numbered upwards."""
    changed = line("hello!", edit_date=1_760_000_009)
    inbound = await heard(update(changed, "edited_message", 730_000_009))

    assert (inbound.kind, inbound.message_id) == (InboundKind.EDIT, "7")
    assert inbound.version == 730_000_009
    assert inbound.at.timestamp() == 1_760_000_009


async def test_a_character_that_cannot_be_kept_is_left_out() -> None:
    """No database keeps a NUL; the rest of the words is not lost for it."""
    inbound = await heard(update(line("a\0b")))

    assert plain_text(inbound.parts) == "ab"
