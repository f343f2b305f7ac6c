"""Sample contents: one example of everything that a message can hold."""

from tests.doubles.telegram.refusals import Wire

MOMENT = 1_760_000_000
ALICE: Wire = {
    "id": 1001,
    "is_bot": False,
    "first_name": "Alice",
    "last_name": "Liddell",
    "username": "alice",
    "language_code": "en",
}
BOB: Wire = {"id": 1002, "is_bot": False, "first_name": "Bob"}
BOT: Wire = {"id": 4242, "is_bot": True, "first_name": "Double", "username": "double_bot"}
DM: Wire = {
    "id": 1001,
    "type": "private",
    "first_name": "Alice",
    "last_name": "Liddell",
    "username": "alice",
}
GROUP: Wire = {"id": -1_000_000_002_001, "type": "supergroup", "title": "Tea party"}
CHANNEL: Wire = {"id": -1_000_000_002_002, "type": "channel", "title": "News", "username": "news"}


def sample_file(kind: str, **more: object) -> Wire:
    """Write a file as it stands in messages; `stock` puts it onto a shelf."""
    return {"file_id": f"sample-{kind}", "file_unique_id": f"u-{kind}", "file_size": 8, **more}


def sample_line(content: Wire, *, chat: Wire = DM, number: int = 7, **more: object) -> Wire:
    """Write a message around a content."""
    speaker = {"sender_chat": chat} if chat["type"] == "channel" else {"from": ALICE}
    return {"message_id": number, "date": MOMENT, "chat": chat, **speaker, **content, **more}


_PHOTO = [
    sample_file("photo-small", width=90, height=60),
    sample_file("photo", width=900, height=600),
]
_VIDEO = sample_file("video", width=320, height=240, duration=3, mime_type="video/mp4")
_ANIMATION = sample_file("animation", width=320, height=240, duration=3, mime_type="video/mp4")
_DOCUMENT = sample_file("document", file_name="notes.txt", mime_type="text/plain")
_STICKER = sample_file(
    "sticker", type="regular", width=512, height=512, is_animated=False, is_video=False, emoji="👍"
)
_PLACE = {"latitude": 48.2082, "longitude": 16.3738}
_POLL: Wire = {
    "id": "5",
    "question": "Tea?",
    "options": [
        {"persistent_id": "a", "text": "Yes", "voter_count": 1},
        {"persistent_id": "b", "text": "No", "voter_count": 0},
    ],
    "total_voter_count": 1,
    "is_closed": False,
    "is_anonymous": True,
    "type": "regular",
    "allows_multiple_answers": False,
    "allows_revoting": True,
    "members_only": False,
}
_TASKS = [{"id": 1, "text": "Boil water"}, {"id": 2, "text": "Pour"}]
_PRICE = {"currency": "XTR", "amount": 50}
_PAYMENT = {
    "currency": "EUR",
    "total_amount": 500,
    "invoice_payload": "tea",
    "telegram_payment_charge_id": "t1",
    "provider_payment_charge_id": "p1",
}
_UNIQUE: Wire = {
    "gift_id": "1",
    "base_name": "Hat",
    "name": "Hat-1",
    "number": 1,
    "model": {"name": "Felt", "sticker": _STICKER, "rarity_per_mille": 10},
    "symbol": {"name": "Card", "sticker": _STICKER, "rarity_per_mille": 10},
    "backdrop": {
        "name": "Night",
        "colors": {"center_color": 1, "edge_color": 2, "symbol_color": 3, "text_color": 4},
        "rarity_per_mille": 10,
    },
}

SAID: dict[str, Wire] = {
    "text": {"text": "Hello there"},
    "animation": {"animation": _ANIMATION, "document": _ANIMATION},
    "audio": {
        "audio": sample_file(
            "audio",
            duration=60,
            performer="A",
            title="B",
            file_name="song.mp3",
            mime_type="audio/mpeg",
        )
    },
    "document": {"document": _DOCUMENT, "caption": "My notes"},
    "live_photo": {
        "live_photo": sample_file("live", width=90, height=60, duration=1, photo=_PHOTO)
    },
    "paid_media": {
        "paid_media": {"star_count": 5, "paid_media": [{"type": "photo", "photo": _PHOTO}]}
    },
    "photo": {"photo": _PHOTO, "caption": "A picture"},
    "sticker": {"sticker": _STICKER},
    "story": {"story": {"chat": DM, "id": 3}},
    "video": {"video": _VIDEO, "caption": "A film"},
    "video_note": {"video_note": sample_file("note", length=240, duration=3)},
    "voice": {"voice": sample_file("voice", duration=3, mime_type="audio/ogg")},
    "checklist": {"checklist": {"title": "Tea", "tasks": _TASKS}},
    "contact": {"contact": {"phone_number": "+431234567", "first_name": "Bob", "user_id": 1002}},
    "dice": {"dice": {"emoji": "🎲", "value": 4}},
    "game": {"game": {"title": "Croquet", "description": "With flamingos", "photo": _PHOTO}},
    "poll": {"poll": _POLL},
    "venue": {
        "venue": {"location": _PLACE, "title": "Café", "address": "Ring 1"},
        "location": _PLACE,
    },
    "location": {"location": _PLACE},
    "rich_message": {
        "rich_message": {"blocks": [{"type": "paragraph", "text": "Rich words"}]},
    },
}
"""What somebody can say."""

NOTED: dict[str, Wire] = {
    "new_chat_members": {"new_chat_members": [BOB]},
    "left_chat_member": {"left_chat_member": BOB},
    "chat_owner_left": {"chat_owner_left": {"new_owner": BOB}},
    "chat_owner_changed": {"chat_owner_changed": {"new_owner": BOB}},
    "new_chat_title": {"new_chat_title": "Mad tea party"},
    "new_chat_photo": {"new_chat_photo": _PHOTO},
    "delete_chat_photo": {"delete_chat_photo": True},
    "group_chat_created": {"group_chat_created": True},
    "supergroup_chat_created": {"supergroup_chat_created": True},
    "channel_chat_created": {"channel_chat_created": True},
    "message_auto_delete_timer_changed": {
        "message_auto_delete_timer_changed": {"message_auto_delete_time": 86_400}
    },
    "migrate_to_chat_id": {"migrate_to_chat_id": -1_000_000_002_003},
    "migrate_from_chat_id": {"migrate_from_chat_id": -2003},
    "pinned_message": {"pinned_message": sample_line({"text": "Pinned"}, chat=GROUP, number=3)},
    "invoice": {
        "invoice": {
            "title": "Tea",
            "description": "A pot",
            "start_parameter": "tea",
            "currency": "EUR",
            "total_amount": 500,
        }
    },
    "successful_payment": {"successful_payment": _PAYMENT},
    "refunded_payment": {"refunded_payment": {**_PAYMENT, "currency": "XTR"}},
    "users_shared": {"users_shared": {"request_id": 1, "users": [{"user_id": 1002}]}},
    "user_shared": {"user_shared": {"request_id": 1, "user_id": 1002}},
    "chat_shared": {"chat_shared": {"request_id": 1, "chat_id": GROUP["id"]}},
    "gift": {"gift": {"gift": {"id": "1", "sticker": _STICKER, "star_count": 5}}},
    "unique_gift": {"unique_gift": {"gift": _UNIQUE, "origin": "upgrade"}},
    "gift_upgrade_sent": {
        "gift_upgrade_sent": {"gift": {"id": "1", "sticker": _STICKER, "star_count": 5}}
    },
    "connected_website": {"connected_website": "example.org"},
    "write_access_allowed": {"write_access_allowed": {"from_request": True}},
    "passport_data": {
        "passport_data": {
            "data": [{"type": "email", "hash": "h", "email": "a@example.org"}],
            "credentials": {"data": "d", "hash": "h", "secret": "s"},
        }
    },
    "proximity_alert_triggered": {
        "proximity_alert_triggered": {"traveler": BOB, "watcher": ALICE, "distance": 90}
    },
    "boost_added": {"boost_added": {"boost_count": 1}},
    "chat_background_set": {
        "chat_background_set": {"type": {"type": "chat_theme", "theme_name": "🎄"}}
    },
    "checklist_tasks_done": {"checklist_tasks_done": {"marked_as_done_task_ids": [1]}},
    "checklist_tasks_added": {"checklist_tasks_added": {"tasks": _TASKS}},
    "direct_message_price_changed": {
        "direct_message_price_changed": {"are_direct_messages_enabled": True}
    },
    "forum_topic_created": {"forum_topic_created": {"name": "Cakes", "icon_color": 7_322_096}},
    "forum_topic_edited": {"forum_topic_edited": {"name": "Tarts"}},
    "forum_topic_closed": {"forum_topic_closed": {}},
    "forum_topic_reopened": {"forum_topic_reopened": {}},
    "general_forum_topic_hidden": {"general_forum_topic_hidden": {}},
    "general_forum_topic_unhidden": {"general_forum_topic_unhidden": {}},
    "giveaway_created": {"giveaway_created": {"prize_star_count": 5}},
    "giveaway": {
        "giveaway": {"chats": [CHANNEL], "winners_selection_date": MOMENT, "winner_count": 1}
    },
    "giveaway_winners": {
        "giveaway_winners": {
            "chat": CHANNEL,
            "giveaway_message_id": 3,
            "winners_selection_date": MOMENT,
            "winner_count": 1,
            "winners": [BOB],
        }
    },
    "giveaway_completed": {"giveaway_completed": {"winner_count": 1}},
    "managed_bot_created": {"managed_bot_created": {"bot": BOT}},
    "paid_message_price_changed": {"paid_message_price_changed": {"paid_message_star_count": 5}},
    "poll_option_added": {
        "poll_option_added": {"option_persistent_id": "c", "option_text": "Perhaps"}
    },
    "poll_option_deleted": {
        "poll_option_deleted": {"option_persistent_id": "c", "option_text": "Perhaps"}
    },
    "suggested_post_approved": {"suggested_post_approved": {"send_date": MOMENT}},
    "suggested_post_approval_failed": {"suggested_post_approval_failed": {"price": _PRICE}},
    "suggested_post_declined": {"suggested_post_declined": {"comment": "No"}},
    "suggested_post_paid": {"suggested_post_paid": {"currency": "XTR"}},
    "suggested_post_refunded": {"suggested_post_refunded": {"reason": "post_deleted"}},
    "video_chat_scheduled": {"video_chat_scheduled": {"start_date": MOMENT}},
    "video_chat_started": {"video_chat_started": {}},
    "video_chat_ended": {"video_chat_ended": {"duration": 60}},
    "video_chat_participants_invited": {"video_chat_participants_invited": {"users": [BOB]}},
    "web_app_data": {"web_app_data": {"data": "{}", "button_text": "Order"}},
    "community_chat_added": {"community_chat_added": {"community": {"id": 1, "name": "Cards"}}},
    "community_chat_removed": {"community_chat_removed": {}},
    "community_chat_joined": {"community_chat_joined": {"community": {"id": 1, "name": "Cards"}}},
}
"""What a chat notes by itself: nobody says it, and nobody waits for an answer."""
