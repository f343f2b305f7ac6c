"""The vectors that every implementation of these rules must agree with."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypedDict

import pytest

from threadline.core.address import Address, Kind, Sender
from threadline.core.reset_policy import ResetMode, ResetPolicy, zone
from threadline.core.route import Scopes, Sharing, is_multi_user, parse_route, route

VECTORS = Path(__file__).parents[3] / "shared" / "vectors"


class Row(TypedDict):
    """A message, the settings it met, and which conversation it belonged to elsewhere."""

    platform: str
    kind: str
    chat: str
    thread: str | None
    sender: str | None
    sender_alt: str | None
    groups: str
    threads: str
    profile: str
    peer_key: str
    multi_user: bool


class Case(TypedDict):
    """A reset policy, two moments, and the verdict."""

    mode: str
    timezone: str
    at_hour: int
    idle_minutes: int
    last_activity_at: str
    now: str
    verdict: str | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What we say about a row."""

    row: Row
    route: str
    multi_user: bool


def routed(row: Row) -> Routed:
    address = Address(
        platform=row["platform"], kind=Kind(row["kind"]), chat=row["chat"], thread=row["thread"]
    )
    sender = Sender(id=row["sender"], alt_id=row["sender_alt"])
    scopes = Scopes(groups=Sharing(row["groups"]), threads=Sharing(row["threads"]))
    text = route(address, sender, scopes, row["profile"])
    return Routed(row=row, route=text, multi_user=is_multi_user(address, scopes))


def read(name: str) -> str:
    path = VECTORS / name
    if not path.exists():
        pytest.skip(f"the shared vectors are not beside this repository: {name}")
    return path.read_text()


@pytest.fixture(name="rows")
def all_rows() -> list[Routed]:
    rows: list[Row] = json.loads(read("same_conversation.json"))["rows"]
    return [routed(row) for row in rows]


@pytest.fixture(name="cases")
def all_cases() -> list[Case]:
    cases: list[Case] = json.loads(read("reset_verdicts.json"))["cases"]
    return cases


def test_messages_share_a_route_exactly_when_they_share_a_conversation(rows: list[Routed]) -> None:
    """Over all rows our routes and the peer's keys divide the messages in the same way."""
    routes_of, keys_of = defaultdict(set), defaultdict(set)
    for one in rows:
        routes_of[one.row["peer_key"]].add(one.route)
        keys_of[one.route].add(one.row["peer_key"])

    assert len(rows) >= 1000
    assert {key: routes for key, routes in routes_of.items() if len(routes) > 1} == {}
    assert {text: keys for text, keys in keys_of.items() if len(keys) > 1} == {}


def test_conversations_of_several_people_are_known_as_such(rows: list[Routed]) -> None:
    """By kind, thread and settings; a missing sender does not matter."""
    assert [one.row for one in rows if one.multi_user != one.row["multi_user"]] == []


def test_every_route_of_the_vectors_can_be_parsed_back(rows: list[Routed]) -> None:
    """Into text that is the route again."""
    assert [one.route for one in rows if str(parse_route(one.route)) != one.route] == []


def test_reset_verdicts_are_those_of_the_vectors(cases: list[Case]) -> None:
    """Each policy gives the cause that is written beside it, also on days when clocks change."""
    wrong = [case for case in cases if verdict_of(case) != case["verdict"]]

    assert len(cases) >= 20
    assert wrong == []


def verdict_of(case: Case) -> str | None:
    policy = ResetPolicy(
        mode=ResetMode(case["mode"]),
        idle=timedelta(minutes=case["idle_minutes"]),
        at_hour=case["at_hour"],
        timezone=zone(case["timezone"]),
    )
    last, now = (datetime.fromisoformat(at) for at in (case["last_activity_at"], case["now"]))
    return policy.verdict(last, now)
