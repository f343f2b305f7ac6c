"""Samples: one example of every kind of update, and of everything that a message can hold."""

from tests.doubles.telegram.calls import Upload
from tests.doubles.telegram.files import Shelf
from tests.doubles.telegram.refusals import Wire
from tests.doubles.telegram.sample_contents import (
    ALICE,
    BOB,
    BOT,
    CHANNEL,
    DM,
    GROUP,
    MOMENT,
    NOTED,
    SAID,
    sample_line,
)

__all__ = [
    "ALICE",
    "BOB",
    "BOT",
    "CHANNEL",
    "CONTENTS",
    "DM",
    "GROUP",
    "MOMENT",
    "NOTED",
    "PICTURE",
    "SAID",
    "UPDATES",
    "sample_line",
    "sample_message",
    "sample_update",
    "stock",
]

PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\0\0\0\1" * 2 + b"\x08\x06\0\0\0"
"""The beginning of a picture of one dot, which is enough to be taken for one."""
_BOOST = {"source": "premium", "user": ALICE}
_POST = {"text": "News of the day"}
_HELD = "bc1"
_QUERY = {"id": "77", "from": ALICE}

UPDATES: dict[str, Wire] = {
    "message": sample_line(SAID["text"]),
    "edited_message": sample_line({"text": "Hello you"}, edit_date=MOMENT + 5),
    "channel_post": sample_line(_POST, chat=CHANNEL, author_signature="Alice"),
    "edited_channel_post": sample_line(_POST, chat=CHANNEL, edit_date=MOMENT + 5),
    "business_connection": {
        "id": _HELD,
        "user": ALICE,
        "user_chat_id": ALICE["id"],
        "date": MOMENT,
        "is_enabled": True,
    },
    "business_message": sample_line(SAID["text"], business_connection_id=_HELD),
    "edited_business_message": sample_line(
        SAID["text"], business_connection_id=_HELD, edit_date=MOMENT + 5
    ),
    "deleted_business_messages": {
        "business_connection_id": _HELD,
        "chat": DM,
        "message_ids": [7, 8],
    },
    "guest_message": sample_line(SAID["text"], chat=GROUP, guest_query_id="9"),
    "message_reaction": {
        "chat": GROUP,
        "message_id": 7,
        "user": ALICE,
        "date": MOMENT,
        "old_reaction": [],
        "new_reaction": [{"type": "emoji", "emoji": "👍"}],
    },
    "message_reaction_count": {
        "chat": CHANNEL,
        "message_id": 7,
        "date": MOMENT,
        "reactions": [{"type": {"type": "emoji", "emoji": "👍"}, "total_count": 3}],
    },
    "inline_query": {**_QUERY, "query": "tea", "offset": ""},
    "chosen_inline_result": {"result_id": "1", "from": ALICE, "query": "tea"},
    "callback_query": {
        **_QUERY,
        "message": {**sample_line({"text": "Tea?"}), "from": BOT},
        "chat_instance": "1",
        "data": "yes",
    },
    "shipping_query": {
        **_QUERY,
        "invoice_payload": "tea",
        "shipping_address": {
            "country_code": "AT",
            "state": "",
            "city": "Vienna",
            "street_line1": "Ring 1",
            "street_line2": "",
            "post_code": "1010",
        },
    },
    "pre_checkout_query": {
        **_QUERY,
        "currency": "EUR",
        "total_amount": 500,
        "invoice_payload": "tea",
    },
    "purchased_paid_media": {"from": ALICE, "paid_media_payload": "tea"},
    "poll": SAID["poll"]["poll"],
    "poll_answer": {
        "poll_id": "5",
        "user": ALICE,
        "option_ids": [0],
        "option_persistent_ids": ["a"],
    },
    "my_chat_member": {
        "chat": DM,
        "from": ALICE,
        "date": MOMENT,
        "old_chat_member": {"user": BOT, "status": "member"},
        "new_chat_member": {"user": BOT, "status": "kicked", "until_date": 0},
    },
    "chat_member": {
        "chat": GROUP,
        "from": ALICE,
        "date": MOMENT,
        "old_chat_member": {"user": BOB, "status": "left"},
        "new_chat_member": {"user": BOB, "status": "member"},
    },
    "chat_join_request": {"chat": GROUP, "from": BOB, "user_chat_id": BOB["id"], "date": MOMENT},
    "chat_boost": {
        "chat": CHANNEL,
        "boost": {
            "boost_id": "b",
            "add_date": MOMENT,
            "expiration_date": MOMENT + 86_400,
            "source": _BOOST,
        },
    },
    "removed_chat_boost": {
        "chat": CHANNEL,
        "boost_id": "b",
        "remove_date": MOMENT,
        "source": _BOOST,
    },
    "managed_bot": {"user": ALICE, "bot": BOT},
    "subscription": {"user": ALICE, "invoice_payload": "tea", "state": "active"},
    "stopped_message_generation": {"chat": DM, "draft_id": 3},
}
"""Every kind of update, by its name."""

CONTENTS: dict[str, Wire] = {**SAID, **NOTED}
"""Everything that a message can hold, by the name of the field that holds it."""


def sample_update(kind: str, number: int = 730_000_001) -> Wire:
    """Write a whole update of some kind."""
    return {"update_id": number, kind: UPDATES[kind]}


def sample_message(content: str, number: int = 730_000_001) -> Wire:
    """Write a whole update with a message that holds something."""
    chat = DM if content in SAID else GROUP
    return {"update_id": number, "message": sample_line(CONTENTS[content], chat=chat)}


def stock(shelf: Shelf) -> None:
    """Put onto a shelf every file that the samples speak of, so that it can be fetched."""
    for file_id in sorted(_file_ids([UPDATES, CONTENTS])):
        is_picture = "photo" in file_id
        shelf.put(Upload(name=file_id, data=PICTURE if is_picture else b"a sample"), id=file_id)


def _file_ids(told: object) -> set[str]:
    """Find the ids of all files, wherever they stand."""
    if isinstance(told, list):
        return set().union(*map(_file_ids, told))
    if not isinstance(told, dict):
        return set()
    here = {told["file_id"]} if "file_id" in told else set()
    return here.union(*map(_file_ids, told.values()))
