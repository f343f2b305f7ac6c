"""Profile rules: the truth table of which profile something belongs to."""

from datetime import UTC, datetime
from typing import Any

import pytest

from threadline.core.address import Address, Kind
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.profile_rules import ProfileRule, profile_for

PLACE = Address(
    platform="discord", kind=Kind.THREAD, account="bot2", scope="guild", chat="c1", thread="t1"
)


def said(profile: str = "main", address: Address = PLACE) -> Inbound:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    return Inbound.text("hi", address=address, at=at, profile=profile)


def rule(profile: str, **places: str) -> ProfileRule:
    return ProfileRule(profile=profile, **places)


HERE = rule("here", platform="discord")
BOT = rule("bot", platform="discord", account="bot2")
GUILD = rule("guild", scope="guild")
CHAT = rule("chat", chat="c1")
TABLE = [
    ("no rule", [], "main"),
    ("everywhere", [rule("a")], "a"),
    ("its platform", [HERE], "here"),
    ("another platform", [rule("a", platform="slack")], "main"),
    ("platform beats everywhere", [rule("a"), HERE], "here"),
    ("account beats platform", [rule("a", account="bot2"), HERE], "a"),
    ("scope beats account", [BOT, GUILD], "guild"),
    ("chat beats scope", [rule("a", platform="discord", scope="guild"), CHAT], "chat"),
    ("thread beats chat", [rule("a", thread="t1"), CHAT], "a"),
    ("more of the same beats less", [CHAT, rule("a", chat="c1", scope="guild")], "a"),
    ("the first of two", [CHAT, rule("a", chat="c1")], "chat"),
    ("all that it names must fit", [rule("a", chat="c1", thread="t2")], "main"),
    ("the account without a name", [rule("a", account="")], "main"),
]


@pytest.mark.parametrize(
    ("rules", "profile"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_narrowest_rule_wins(rules: list[ProfileRule], profile: str) -> None:
    """Thread, chat, scope, account, platform: in this order."""
    assert profile_for(said(), rules) == profile


def test_a_profile_that_came_along_stays() -> None:
    """The path of an address names the profile, whatever the rules say."""
    assert profile_for(said("work"), [rule("a")], "b") == "work"


def test_what_no_rule_fits_goes_to_the_default() -> None:
    """Which is `main` by another name, unless the settings say otherwise."""
    assert profile_for(said(), [rule("a", platform="slack")], "family") == "family"
    assert profile_for(said(), [], "default") == "main"


@pytest.mark.parametrize(
    "fields", [{"profile": "../x"}, {"profile": "a", "chat": "x\0"}, {"profile": "a", "chat": 7}]
)
def test_rules_that_lead_nowhere_are_refused(fields: dict[str, Any]) -> None:
    """Names that could leave their folder, and ids that nobody could have."""
    with pytest.raises(Invalid):
        ProfileRule(**fields)
