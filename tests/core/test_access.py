"""Access: the truth table of who may speak, and the rules that are refused."""

from datetime import UTC, datetime
from typing import Any

import pytest

from threadline.core.access import AccessRules, SenderAccess, rank_of
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Text

DM = Address(platform="telegram", kind=Kind.DM, chat="42")
GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="-100")
THREAD = Address(platform="telegram", kind=Kind.THREAD, chat="t1", parent="-100", thread="t1")
ALICE = Sender(id="42", name="Alice")
GRANTED = SenderAccess(is_granted=True)

STRANGER, MEMBER, ADMIN, OWNER = AccessLevel


def said(address: Address = DM, sender: Sender = ALICE, **more: Any) -> Inbound:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    return Inbound(address=address, sender=sender, parts=(Text(text="hi"),), at=at, **more)


NAMELESS = said(sender=Sender())
BY_ROLE = said(sender=Sender(id="9", by_role=True))
BOT = said(sender=Sender(id="9", is_bot=True))
GROUP_BOT = said(GROUP, Sender(id="9", is_bot=True, by_role=True))
STAR = said(sender=Sender(id="*", is_bot=True))
TWO_IDS = said(sender=Sender(id="+49", alt_id="uuid"))
HERE = said(Address(platform="local", kind=Kind.DM))
WEB = Address(platform="local", kind=Kind.DM, chat="web")
TRUSTED = said(is_trusted=True)

ALL = {"allow": ["telegram:*"], "chats": ["telegram:*"], "roles": ["telegram"]}
BY_ID = {"allow": ["telegram:42"]}
BY_CHAT = {"chats": ["telegram:-100"]}
AN_ADMIN = {"admins": ["telegram:42"]}

TABLE: list[tuple[str, Inbound, dict[str, Any], AccessLevel]] = [
    ("nobody is let in by default", said(), {}, STRANGER),
    ("nor in a group", said(GROUP), {}, STRANGER),
    ("nor by a role", BY_ROLE, {}, STRANGER),
    ("nor without an id", NAMELESS, BY_ID, STRANGER),
    ("by id", said(), BY_ID, MEMBER),
    ("by id in a group", said(GROUP), BY_ID, MEMBER),
    ("not by a longer id", said(), {"allow": ["telegram:421"]}, STRANGER),
    ("not by a shorter id", said(), {"allow": ["telegram:4"]}, STRANGER),
    ("not on another platform", said(), {"allow": ["signal:42"]}, STRANGER),
    ("everybody on a platform", said(), {"allow": ["telegram:*"]}, MEMBER),
    ("also who has no id", NAMELESS, {"allow": ["telegram:*"]}, MEMBER),
    ("everybody in a chat", said(GROUP), BY_CHAT, MEMBER),
    ("in a chat without an id", said(GROUP, Sender()), BY_CHAT, MEMBER),
    ("in the threads of a chat", said(THREAD), BY_CHAT, MEMBER),
    ("not in another chat", said(GROUP), {"chats": ["telegram:-10"]}, STRANGER),
    ("in all chats", said(GROUP), {"chats": ["telegram:*"]}, MEMBER),
    ("a dm is no chat of all", said(), {"chats": ["telegram:42", "telegram:*"]}, STRANGER),
    ("by role", BY_ROLE, {"roles": ["telegram"]}, MEMBER),
    ("by a certain role", BY_ROLE, {"roles": ["telegram:mods"]}, MEMBER),
    ("not where roles do not count", BY_ROLE, {"roles": ["discord"]}, STRANGER),
    ("not without the role", said(), {"roles": ["telegram"]}, STRANGER),
    ("an admin", said(), AN_ADMIN, ADMIN),
    ("an admin in a group", said(GROUP), AN_ADMIN, ADMIN),
    ("no admin by chat", said(GROUP), {**BY_CHAT, "admins": ["telegram:1"]}, MEMBER),
    ("the owner is here", HERE, {}, OWNER),
    ("a member of the web app", said(WEB, Sender(id="account-7")), {}, MEMBER),
    ("the owner of the web app", said(WEB, Sender(id="owner")), {}, OWNER),
    ("trusted by a connector", TRUSTED, {}, MEMBER),
    ("trust makes no admin", TRUSTED, {"admins": ["telegram:1"]}, MEMBER),
    ("a trusted admin", TRUSTED, AN_ADMIN, ADMIN),
    ("a bot is nobody", BOT, ALL, STRANGER),
    ("a bot in a chat", GROUP_BOT, ALL, STRANGER),
    ("a bot called everybody", STAR, ALL, STRANGER),
    ("a bot by id", BOT, {"bots": ["telegram:9"]}, MEMBER),
    ("a bot by the usual list", BOT, {"allow": ["telegram:9"]}, MEMBER),
    ("by the stable id", TWO_IDS, {"allow": ["telegram:uuid"]}, MEMBER),
    ("by the other id", TWO_IDS, {"allow": ["telegram:+49"]}, MEMBER),
]


@pytest.mark.parametrize(
    ("inbound", "lists", "rank"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_who_may_speak(inbound: Inbound, lists: dict[str, Any], rank: AccessLevel) -> None:
    """Default deny: each way in, and each that only looks like one."""
    assert rank_of(inbound, AccessRules(**lists)) is rank


def test_the_store_may_know_more() -> None:
    """Somebody is let in by a grant, or by another id that is theirs; a bot too, as it was meant.

    Only ids of the same platform count: who is linked elsewhere was not let in by that.
    """
    known = SenderAccess(ids=frozenset({"77"}))

    assert rank_of(said(), AccessRules(), GRANTED) is MEMBER
    assert rank_of(BOT, AccessRules(), GRANTED) is MEMBER
    assert rank_of(said(), AccessRules(allow=["telegram:77"]), known) is MEMBER
    assert rank_of(said(), AccessRules(admins=["telegram:77"]), known) is ADMIN
    assert rank_of(said(), AccessRules(allow=["signal:77"]), known) is STRANGER


@pytest.mark.parametrize("written", ["+49170", "49170@c.us", "49170:3@s.whatsapp.net", "49170"])
def test_a_phone_number_is_written_in_many_ways(written: str) -> None:
    """An entry in any form lets in the number in any form, and no LID of the same digits."""
    access = AccessRules(allow=["whatsapp:+49170"])
    again = AccessRules(allow=[f"whatsapp:{written}"])
    here = Address(platform="whatsapp", kind=Kind.DM, chat=written)

    assert rank_of(said(here, Sender(id=written)), access) is MEMBER
    assert again.allow == access.allow
    assert rank_of(said(here, Sender(id="49170@lid")), access) is STRANGER


def test_ids_with_colons_are_whole() -> None:
    """A Matrix id keeps its server."""
    access = AccessRules(allow=["matrix:@ada:example.org"], chats=["matrix:!room:example.org"])
    room = Address(platform="matrix", kind=Kind.GROUP, chat="!room:example.org")
    dm = Address(platform="matrix", kind=Kind.DM, chat="!x:example.org")

    assert rank_of(said(room, Sender(id="@bob:evil.example")), access) is MEMBER
    assert rank_of(said(dm, Sender(id="@ada:example.org")), access) is MEMBER
    assert rank_of(said(dm, Sender(id="@ada:evil.example")), access) is STRANGER


@pytest.mark.parametrize(
    "lists",
    [
        {"allow": ["telegram"]},
        {"allow": [":42"]},
        {"allow": ["telegram:"]},
        {"allow": ["a:b\0"]},
        {"allow": [42]},
        {"allow": "telegram:42"},
        {"chats": None},
        {"admins": ["telegram:*"]},
        {"bots": ["telegram:*"]},
        {"roles": [":x"]},
        {"pairing": "yes"},
        {"per_minute": -1},
    ],
)
def test_rules_that_name_nobody_are_refused(lists: dict[str, Any]) -> None:
    """A typing error lets nobody in, and nobody out: it is named."""
    with pytest.raises(Invalid):
        AccessRules(**lists)


def test_a_higher_rank_may_all_that_a_lower_one_may() -> None:
    """Ranks are a ladder."""
    ladder = list(AccessLevel)
    for n, rank in enumerate(ladder):
        assert [rank.may(least) for least in ladder] == [m <= n for m in range(len(ladder))]
