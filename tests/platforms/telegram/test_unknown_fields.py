"""What the SDK does not know costs one part of a message: its words and its sender arrive."""

import copy
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doubles.telegram.sample_contents import ALICE, DM, MOMENT
from tests.doubles.telegram.samples import CONTENTS, UPDATES, sample_message, sample_update
from tests.platforms.telegram.raw_updates import hear, heard, line, make_intake, update
from threadline.core.inbound import Inbound
from threadline.core.message import plain_text
from threadline.platforms.telegram.files import file_of
from threadline.platforms.telegram.updates import ButtonPress, IgnoredUpdate, IncomingMessage
from threadline.testing.fake_gate import RecordingGate

TOMORROW = {"type": "of_tomorrow", "status": "of_tomorrow", "source": "of_tomorrow", "text": "x"}
SENT = {"message_id": 5, "date": MOMENT, "chat": DM, "from": ALICE}
UNKNOWN = {
    "paid_media": {"star_count": 5, "paid_media": [{"type": "live_photo"}, TOMORROW]},
    "external_reply": {"origin": TOMORROW},
    "chat_background_set": {"type": TOMORROW},
    "entities": [{"type": "of_tomorrow", "offset": 0, "length": 5}],
    "reply_to_message": {**SENT, "text": "before", "paid_media": {"paid_media": [TOMORROW]}},
    "pinned_message": {**SENT, "paid_media": {"star_count": 1, "paid_media": [TOMORROW]}},
    "sticker": {"type": TOMORROW},
    "quote": {"text": {}, "position": 0},
    "giveaway": TOMORROW,
    "gift": {"gift": TOMORROW},
    "rich_message": {"blocks": [TOMORROW, {"type": "paragraph", "text": TOMORROW}]},
    "something_of_tomorrow": TOMORROW,
}
"""Members of a message that the SDK does not know, or knows in another form."""


@pytest.mark.parametrize("name", UNKNOWN)
async def test_an_unknown_member_keeps_the_rest(name: str) -> None:
    """Text and sender of a message arrive, whatever else it brings."""
    inbound = await heard(update(line("hello", **{name: UNKNOWN[name]})))

    words = plain_text(inbound.parts)
    assert (words.splitlines()[0], inbound.sender.id) == ("hello", str(ALICE["id"]))


async def test_what_is_left_out_is_one_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """The log names the place of what was left out, and not its content."""
    paid = {"star_count": 5, "paid_media": [{"type": "secret of tomorrow"}]}
    inbound = await heard(update(line("hello", paid_media=paid)))

    assert plain_text(inbound.parts) == "hello\n[Paid media for 5 stars]"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "message.paid_media.paid_media.0" in record.getMessage()
    assert "secret" not in caplog.text


async def test_words_of_an_unknown_origin_stay_words_of_another() -> None:
    """A command in a message that was forwarded from an origin of a new kind is not carried out."""
    inbound = await heard(update(line("/forget me", forward_origin=TOMORROW)))

    assert plain_text(inbound.parts) == "[Forwarded]\n/forget me"


@pytest.mark.parametrize(
    "member",
    [
        {"from": {**ALICE, "is_bot": "perhaps"}},
        {"from": TOMORROW},
        {"chat": TOMORROW},
        {"sender_chat": TOMORROW},
        {"via_bot": TOMORROW},
        {"message_thread_id": TOMORROW, "is_topic_message": True},
        {"date": TOMORROW},
        {"text": TOMORROW},
    ],
)
async def test_who_says_what_and_where_is_never_guessed(
    member: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    """A message whose sender, place or words cannot be read is passed over with one log line."""
    assert await hear(update({**line("hello"), **member})) == []
    assert len(caplog.records) == 1


async def test_a_button_under_an_unknown_message_can_be_pressed() -> None:
    """What a button says arrives, also if the SDK does not know all of the message above it."""
    told = copy.deepcopy(sample_update("callback_query"))
    told["callback_query"]["message"]["forward_origin"] = TOMORROW
    told["callback_query"]["message"]["paid_media"] = {"paid_media": [TOMORROW]}

    news = make_intake(RecordingGate()).read(told)

    assert isinstance(news, ButtonPress)
    assert news.says == "yes"


async def test_an_unknown_standing_in_a_chat_is_one_log_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A new status of the bot in a chat brings nothing in and stops nothing."""
    told = copy.deepcopy(sample_update("my_chat_member"))
    told["my_chat_member"]["new_chat_member"]["status"] = "of_tomorrow"

    assert await hear(told) == []
    assert len(caplog.records) == 1


@pytest.mark.parametrize("kind", ["bold", "of_tomorrow"])
async def test_nested_styles_are_read_once(kind: str) -> None:
    """Reading a rich message ends, although the SDK would try each kind at each level of it."""
    text: object = "deep"
    for _ in range(40):
        text = {"type": kind, "text": text}
    rich = {"blocks": [{"type": "paragraph", "text": text}, {"type": "new", "text": "end"}]}
    inbound = await heard(update(line(None, rich_message=rich)))
    answer = await heard(update(line("yes", reply_to_message={**SENT, "rich_message": rich})))

    assert plain_text(inbound.parts) == "deep\nend"
    assert "deep" in plain_text(answer.parts)


SAMPLES = [*map(sample_update, UPDATES), *map(sample_message, CONTENTS)]


def objects(told: object) -> Iterator[dict[str, object]]:
    """Find every object in an update."""
    if isinstance(told, dict):
        yield told
    for inner in (
        told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
    ):
        yield from objects(inner)


@st.composite
def of_tomorrow(draw: st.DrawFn) -> Any:
    """Make a sample of which some objects have a new type, and some a member of a new kind."""
    told = copy.deepcopy(draw(st.sampled_from(SAMPLES)))
    (kind,) = told.keys() - {"update_id"}
    message = told[kind] if isinstance(told[kind], dict) else {}
    if kind == "message":
        message.setdefault("text", "hello")
    inner = [one for one in objects(message) if one is not message]
    inner = [one for one in inner if one not in (message.get("from"), message.get("chat"))]
    for one in draw(st.lists(st.sampled_from(inner), max_size=4)) if inner else []:
        name = draw(st.sampled_from(["type", "status", "source", "new_field", *one]))
        one[str(name)] = draw(st.sampled_from(["of_tomorrow", None, 7, {}, [TOMORROW]]))
    return told


@given(of_tomorrow())
async def test_no_unknown_member_costs_a_message(told: dict[str, object]) -> None:
    """Whatever is unknown inside a message, it arrives if its own words and sender are known."""
    gate = RecordingGate()
    intake = make_intake(gate, download_limit=0, groups="all", channels="all")
    news = intake.read(told)
    if isinstance(news, IncomingMessage) and file_of(news.message) is None:
        await intake.take([news])
        assert all(isinstance(one, Inbound) for one in gate.taken)

    message = told.get("message")
    is_kept = (
        isinstance(message, dict)
        and not {
            "sender_chat",
            "via_bot",
            "migrate_to_chat_id",
            "caption",
        }
        & message.keys()
    )
    assert (
        isinstance(news, IncomingMessage)
        if is_kept
        else isinstance(news, IncomingMessage | ButtonPress | IgnoredUpdate)
    )
