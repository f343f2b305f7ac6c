"""Inbound, usage, rules, deliveries, commands and notices: small values with firm edges."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from threadline.core.address import Address, Kind
from threadline.core.command import COMMANDS, WhileRunning, help_text, parse_command
from threadline.core.delivery import DELIVERY_TRANSITIONS, DeliveryState, pause_after
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Text
from threadline.core.session import BusyMode, Cause
from threadline.core.settings import Settings
from threadline.core.system_notes import tell_agent, tell_person
from threadline.core.usage import CostStatus, Usage

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PLACE = Address(platform="telegram", kind=Kind.DM, chat="1")


def test_an_inbound_knows_its_moment_in_utc() -> None:
    """A naive time is refused, any other becomes UTC."""
    assert Inbound.text("x", address=PLACE, at=NOW).at == NOW
    with pytest.raises(Invalid, match="time zone"):
        Inbound.text("x", address=PLACE, at=datetime(2026, 5, 1))


@pytest.mark.parametrize("profile", ["", "default", "main"])
def test_the_main_profile_has_three_names(profile: str) -> None:
    """Empty and default mean main."""
    assert Inbound.text("x", address=PLACE, at=NOW, profile=profile).profile == "main"


@pytest.mark.parametrize("profile", ["../x", "A", "a/b", "a" * 65, "-a", "ä"])
def test_a_profile_that_could_leave_its_folder_is_refused(profile: str) -> None:
    """Profiles name folders."""
    with pytest.raises(Invalid, match="profile"):
        Inbound.text("x", address=PLACE, at=NOW, profile=profile)


def test_an_edit_must_say_of_what() -> None:
    """Edits and deletions need the id of their message."""
    for kind in (InboundKind.EDIT, InboundKind.DELETION):
        with pytest.raises(Invalid, match="Which message"):
            Inbound(address=PLACE, at=NOW, kind=kind, parts=(Text(text="x"),))


def test_a_message_without_parts_is_refused_but_a_deletion_has_none() -> None:
    """Only a deletion says nothing."""
    with pytest.raises(Invalid, match="parts"):
        Inbound(address=PLACE, at=NOW)
    deletion = Inbound(address=PLACE, at=NOW, kind=InboundKind.DELETION, message_id="1")
    assert deletion.parts == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"input_tokens": -1},
        {"output_tokens": 2**63},
        {"cost": Decimal(1)},
        {"cost_status": CostStatus.EXACT},
        {"cost": Decimal("NaN"), "cost_status": CostStatus.EXACT},
        {"cost": Decimal(-1), "cost_status": CostStatus.EXACT},
        {"model": "\0"},
    ],
)
def test_usage_refuses_what_cannot_be(fields: dict[str, object]) -> None:
    """Negative counts, costs that contradict their status, and odd numbers are refused."""
    with pytest.raises(Invalid):
        Usage(**{"provider": "p", "model": "m", **fields})  # type: ignore[arg-type]


def test_rules_choose_by_platform() -> None:
    """A platform's own setting wins over the general one."""
    rules = Settings(busy_by_platform={"slack": BusyMode.COLLECT})
    assert rules.busy_for("slack") is BusyMode.COLLECT
    assert rules.busy_for("telegram") is BusyMode.QUEUE


@pytest.mark.parametrize(
    ("freshness", "age", "expected"),
    [(3600, 3599, True), (3600, 3600, False), (0, 10**6, True), (-1, 10**6, True)],
)
def test_freshness_may_be_switched_off(freshness: int, age: int, expected: bool) -> None:
    """Zero or less means that nothing is ever too old."""
    rules = Settings(freshness=timedelta(seconds=freshness))
    assert rules.is_fresh(timedelta(seconds=age)) is expected


def test_rules_refuse_numbers_with_which_nothing_runs() -> None:
    """A lease of no time, and a queue for nobody, are mistakes."""
    for fields in ({"lease": timedelta(0)}, {"max_attempts": 0}, {"queue_cap": 0}):
        with pytest.raises(Invalid):
            Settings(**fields)


def test_pauses_grow_and_the_platform_has_the_last_word() -> None:
    """Retries wait twice as long each time, up to ten minutes, or as long as the platform says."""
    assert [pause_after(n).total_seconds() for n in (1, 2, 3, 30)] == [1, 2, 4, 600]
    assert pause_after(1, timedelta(hours=1)) == timedelta(hours=1)


def test_a_delivery_that_was_sent_stays_sent() -> None:
    """Nothing follows it; what was given up is tried again only if somebody wants that."""
    ended = {state for state in DeliveryState if not DELIVERY_TRANSITIONS[state]}
    assert ended == {"sent"}
    for lost in (DeliveryState.FAILED, DeliveryState.ABANDONED):
        assert DELIVERY_TRANSITIONS[lost] == {"pending"}


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/new", "new", ""),
        ("/NEW  a title ", "new", "a title"),
        ("/resume@my_bot 3", "resume", "3"),
        ("/title\ttwo\nlines", "title", "two\nlines"),
        ("/ new", None, None),
        ("/newer", None, None),
        ("/nothing", None, None),
        ("new", None, None),
        (" /new", None, None),
        ("/", None, None),
        ("", None, None),
    ],
)
def test_commands_are_read_as_written(text: str, name: str | None, argument: str | None) -> None:
    """A slash, a name of the table, and the rest of the line."""
    call = parse_command(text)
    assert (call and call.command.name, call and call.argument) == (name, argument)


def test_help_names_every_command() -> None:
    """The help text is made of the table."""
    assert all(command.usage in help_text() for command in COMMANDS)
    stopping = {command.name for command in COMMANDS if command.while_running is WhileRunning.STOP}
    changing = {"undo", "retry", "branch", "forget"}
    assert {"new", "reset", "resume", "stop"} | changing == stopping


def test_a_person_is_told_of_resets_only() -> None:
    """Whoever asked for a new session need not be told why it is new."""
    told = {cause for cause in Cause if tell_person(cause)}
    assert told == {Cause.IDLE, Cause.DAILY, Cause.SUSPENDED}
    assert told <= {cause for cause in Cause if tell_agent(cause)}
