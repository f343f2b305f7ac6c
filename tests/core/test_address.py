"""Address and sender."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.address import Address, Kind, Sender, address_from, sender_from
from threadline.core.errors import Invalid

FULL_ADDRESS = Address(
    platform="signal",
    kind=Kind.GROUP,
    chat="g1",
    account="bot2",
    thread="7",
    alt_chat="internal",
    parent="p",
    scope="guild",
    chat_name="Family\nand friends",
    topic="Tea",
)
FULL_SENDER = Sender(id="+49", alt_id="uuid", name="Zoë", is_bot=True, by_role=True)

ids = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=60)
optional = st.none() | ids
addresses = st.builds(
    Address,
    platform=ids.filter(bool),
    kind=st.sampled_from(Kind),
    chat=ids,
    account=ids,
    thread=optional,
    alt_chat=optional,
    parent=optional,
    scope=optional,
    chat_name=optional,
    topic=optional,
)
senders = st.builds(
    Sender, id=optional, alt_id=optional, name=optional, is_bot=st.booleans(), by_role=st.booleans()
)


def test_empty_optional_fields_are_none() -> None:
    """Platforms send an empty text where they mean nothing; there is one way to say nothing."""
    blank = Address(
        platform="x",
        kind=Kind.DM,
        thread="",
        alt_chat="",
        parent="",
        scope="",
        chat_name="",
        topic="",
    )

    assert blank == Address(platform="x", kind=Kind.DM)
    assert Sender(id="", alt_id="", name="") == Sender()


@pytest.mark.parametrize(
    "name", ["platform", "kind", "chat", "account", "thread", "alt_chat", "parent", "scope"]
)
@pytest.mark.parametrize(
    "value", ["a\0b", "\ud800", "x" * 256, 7], ids=["nul", "half", "long", "int"]
)
def test_an_address_refuses_an_id_that_cannot_be_stored(name: str, value: object) -> None:
    """The error names the field, whether the address is made in code or read from JSON."""
    given = {"platform": "telegram", "kind": "dm", name: value}

    with pytest.raises(Invalid, match=f"^{name} cannot be"):
        Address(**given)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=f"^{name} cannot be"):
        address_from(given)


@pytest.mark.parametrize("name", ["id", "alt_id", "name"])
@pytest.mark.parametrize("value", ["a\0b", "\ud800", 7], ids=["nul", "half", "int"])
def test_a_sender_refuses_what_cannot_be_stored(name: str, value: object) -> None:
    """The error names the field, whether the sender is made in code or read from JSON."""
    with pytest.raises(Invalid, match=f"^sender {name} cannot be"):
        Sender(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=f"^sender {name} cannot be"):
        sender_from({name: value})


@pytest.mark.parametrize("name", ["is_bot", "by_role"])
@pytest.mark.parametrize("value", ["no", 1, 0])
def test_a_flag_is_true_or_false(name: str, value: object) -> None:
    """The text "no" would count as true; so nothing but a truth is taken."""
    with pytest.raises(Invalid, match=f"^{name} cannot be"):
        Sender(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=f"^{name} cannot be"):
        sender_from({name: value})


@pytest.mark.parametrize("name", ["chat_name", "topic"])
def test_labels_are_text_that_can_be_stored(name: str) -> None:
    """Labels come from strangers, too."""
    with pytest.raises(Invalid, match=f"^{name} cannot be"):
        Address(**{"platform": "x", "kind": Kind.DM, name: "a\0"})  # type: ignore[arg-type]


def test_an_address_needs_a_platform_and_a_known_kind() -> None:
    """Without them nothing could be routed or answered."""
    with pytest.raises(Invalid, match=r"^platform cannot be ''"):
        Address(platform="", kind=Kind.DM)
    with pytest.raises(Invalid, match=r"^platform cannot be None"):
        address_from({"kind": "dm"})
    with pytest.raises(Invalid, match="one of dm, group, channel, thread"):
        address_from({"platform": "telegram", "kind": "forum"})


def test_a_kind_may_be_written_as_text() -> None:
    """Code that compares kinds by identity may rely on members all the same."""
    assert Address(platform="x", kind="dm").kind is Kind.DM  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sender", "canonical"),
    [
        (Sender(), None),
        (Sender(id="u1"), "u1"),
        (Sender(alt_id="alt"), "alt"),
        (Sender(id="u1", alt_id="alt"), "alt"),
        (Sender(id="u1", alt_id=""), "u1"),
    ],
)
def test_the_alternative_id_wins(sender: Sender, canonical: str | None) -> None:
    """A stable id tells people apart better than one that changes; a name never does."""
    assert sender.canonical == canonical


def test_plain_values_leave_out_what_is_empty() -> None:
    """What is stored for each message stays small."""
    assert Address(platform="x", kind=Kind.DM).as_dict() == {"platform": "x", "kind": "dm"}
    assert Sender(id="u1").as_dict() == {"id": "u1"}
    assert type(FULL_ADDRESS.as_dict()["kind"]) is str
    assert len(FULL_ADDRESS.as_dict()) == 10
    assert len(FULL_SENDER.as_dict()) == 5


@given(addresses, senders)
def test_plain_values_give_the_same_back(address: Address, sender: Sender) -> None:
    """Through JSON and back, an address and a sender are what they were."""
    assert address_from(json.loads(json.dumps(address.as_dict()))) == address
    assert sender_from(json.loads(json.dumps(sender.as_dict()))) == sender


def test_reading_takes_null_and_empty_as_missing_and_ignores_the_rest() -> None:
    """JSON from outside has nulls, and may have fields that we do not know."""
    blank = dict.fromkeys(FULL_ADDRESS.as_dict(), None) | {
        "platform": "x",
        "kind": "dm",
        "trust": 1,
    }

    assert address_from(blank) == Address(platform="x", kind=Kind.DM)
    assert sender_from({"id": None, "alt_id": "", "is_bot": None, "trust": True}) == Sender()


@pytest.mark.parametrize(
    ("given", "scope"),
    [
        ({"guild_id": "g"}, "g"),
        ({"scope": "s", "guild_id": "g"}, "s"),
        ({"scope": "", "guild_id": "g"}, "g"),
        ({}, None),
    ],
)
def test_a_scope_is_also_read_under_its_old_name(
    given: dict[str, object], scope: str | None
) -> None:
    """Older payloads call it `guild_id`; the new name wins where both are there."""
    assert address_from({"platform": "discord", "kind": "group", **given}).scope == scope


def test_only_named_fields_can_be_read() -> None:
    """A list or a text is no address, and no sender."""
    with pytest.raises(Invalid, match=r"^address cannot be"):
        address_from(["telegram", "dm"])  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=r"^sender cannot be"):
        sender_from("alice")  # type: ignore[arg-type]
