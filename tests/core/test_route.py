"""Routes: which conversation a message belongs to."""

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.route import (
    RouteParts,
    Scopes,
    Sharing,
    canonical_id,
    canonical_profile,
    canonical_sender,
    is_multi_user,
    parse_route,
    route,
)

MEMBER, SHARED = Sharing.MEMBER, Sharing.SHARED
ALICE = Sender(id="alice")
NOBODY = Sender()

# Whoever wants to make two conversations meet writes ids like these.
hostile = st.text(
    st.sampled_from("%:=@/+ab1\0\n\x1b\x7f\x85\u202e\u200bשé👍 ".replace("\0", ""))
    | st.characters(exclude_characters="\0", codec="utf-8"),
    max_size=12,
) | st.sampled_from(["%3A", "%25", "a:thread=7", "a:member=b", "thread=7", "@x", "main", "default"])
some = hostile.filter(bool)
maybe = st.none() | some
parts = st.builds(
    RouteParts,
    profile=some.filter(lambda profile: profile != "default"),
    platform=some.filter(lambda platform: platform != "whatsapp"),
    account=hostile,
    kind=st.sampled_from(Kind),
    chat=hostile,
    thread=maybe,
    member=maybe,
).map(lambda made: made if made.kind is not Kind.DM else without_member(made))


def without_member(made: RouteParts) -> RouteParts:
    return RouteParts(
        profile=made.profile,
        platform=made.platform,
        account=made.account,
        kind=made.kind,
        chat=made.chat,
        thread=made.thread,
    )


def said(made: RouteParts) -> str:
    """Route a message said in exactly this conversation."""
    address = Address(
        platform=made.platform,
        account=made.account,
        kind=made.kind,
        chat=made.chat,
        thread=made.thread,
        scope="never part of a route",
        alt_chat="nor this",
        parent="nor this",
    )
    scopes = Scopes(groups=MEMBER, threads=MEMBER)
    return route(address, Sender(id=made.member, name="nor a name"), scopes, made.profile)


def at(kind: Kind, chat: str = "", thread: str | None = None, **more: str) -> Address:
    return Address(platform=more.pop("platform", "x"), kind=kind, chat=chat, thread=thread, **more)


@pytest.mark.parametrize(
    ("address", "sender", "expected"),
    [
        (at(Kind.DM, "c"), ALICE, "agent:main:x:dm:c"),
        (at(Kind.DM, "c", "7"), ALICE, "agent:main:x:dm:c:thread=7"),
        (at(Kind.DM), ALICE, "agent:main:x:dm:alice"),
        (at(Kind.DM), Sender(id="alice", alt_id="uuid"), "agent:main:x:dm:uuid"),
        (at(Kind.DM, "", "7"), ALICE, "agent:main:x:dm:alice:thread=7"),
        (at(Kind.DM, "", "7"), NOBODY, "agent:main:x:dm::thread=7"),
        (at(Kind.DM), NOBODY, "agent:main:x:dm:"),
        (at(Kind.DM, "c", account="bot2"), ALICE, "agent:main:x@bot2:dm:c"),
        (at(Kind.DM, "c", scope="guild"), ALICE, "agent:main:x:dm:c"),
        (at(Kind.GROUP, "!r:m.org"), ALICE, "agent:main:x:group:!r%3Am.org:member=alice"),
        (at(Kind.DM, "@a:m.org"), ALICE, "agent:main:x:dm:@a%3Am.org"),
        (at(Kind.DM, "c", account="@bot:m.org"), ALICE, "agent:main:x@%40bot%3Am.org:dm:c"),
        (at(Kind.DM, "é\n%="), ALICE, "agent:main:x:dm:%C3%A9%0A%25%3D"),
        (at(Kind.DM, "a b/~"), ALICE, "agent:main:x:dm:a b/~"),
    ],
)
def test_a_route_reads_as_the_place_it_stands_for(
    address: Address, sender: Sender, expected: str
) -> None:
    """A dm is its chat, else its sender, else its thread, else one for the whole platform."""
    assert route(address, sender) == expected


@pytest.mark.parametrize("kind", [Kind.GROUP, Kind.CHANNEL, Kind.THREAD])
@pytest.mark.parametrize(
    ("thread", "scopes", "tail", "multi_user"),
    [
        (None, Scopes(groups=MEMBER, threads=SHARED), ":member=alice", False),
        (None, Scopes(groups=MEMBER, threads=MEMBER), ":member=alice", False),
        (None, Scopes(groups=SHARED, threads=SHARED), "", True),
        (None, Scopes(groups=SHARED, threads=MEMBER), "", True),
        ("7", Scopes(groups=MEMBER, threads=SHARED), ":thread=7", True),
        ("7", Scopes(groups=MEMBER, threads=MEMBER), ":thread=7:member=alice", False),
        ("7", Scopes(groups=SHARED, threads=SHARED), ":thread=7", True),
        ("7", Scopes(groups=SHARED, threads=MEMBER), ":thread=7:member=alice", False),
    ],
)
def test_who_shares_a_conversation_outside_of_dms(
    kind: Kind, thread: str | None, scopes: Scopes, tail: str, multi_user: bool
) -> None:
    """Inside a thread only the rule for threads counts, outside only the one for groups."""
    address = at(kind, "c", thread)
    shared = tail.removesuffix(":member=alice")

    assert route(address, ALICE, scopes) == f"agent:main:x:{kind}:c{tail}"
    assert route(address, NOBODY, scopes) == f"agent:main:x:{kind}:c{shared}"
    assert is_multi_user(address, scopes) is multi_user


@pytest.mark.parametrize("groups", Sharing)
@pytest.mark.parametrize("threads", Sharing)
@pytest.mark.parametrize("thread", [None, "7"])
def test_a_dm_is_never_multi_user(groups: Sharing, threads: Sharing, thread: str | None) -> None:
    """Two speak there, whatever is set for groups."""
    assert not is_multi_user(at(Kind.DM, "c", thread), Scopes(groups=groups, threads=threads))


def test_by_default_groups_are_per_member_and_threads_are_shared() -> None:
    """So nobody reads another's conversation in a group, and a thread is talked in together."""
    assert route(at(Kind.GROUP, "c"), ALICE) == "agent:main:x:group:c:member=alice"
    assert route(at(Kind.GROUP, "c", "7"), ALICE) == "agent:main:x:group:c:thread=7"


def test_the_alternative_id_of_a_member_wins() -> None:
    """A stable id keeps the conversation when the other one changes."""
    sender = Sender(id="+49170", alt_id="uuid")
    assert route(at(Kind.GROUP, "c"), sender) == "agent:main:x:group:c:member=uuid"


def test_scopes_are_taken_as_text_and_refused_when_unknown() -> None:
    """Settings come from files."""
    assert Scopes(groups="shared").groups is SHARED  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=r"^threads cannot be 'own'.*one of member, shared"):
        Scopes(threads="own")  # type: ignore[arg-type]


@pytest.mark.parametrize(("profile", "name"), [("", "main"), ("default", "main"), ("main", "main")])
def test_the_main_profile_has_three_names(profile: str, name: str) -> None:
    """Empty and `default` mean main."""
    assert canonical_profile(profile) == name
    assert route(at(Kind.DM, "c"), ALICE, profile=profile) == "agent:main:x:dm:c"


def test_two_profiles_never_meet() -> None:
    """The profile is part of the route; one that cannot be stored is refused."""
    assert route(at(Kind.DM, "c"), ALICE, profile="a:b") == "agent:a%3Ab:x:dm:c"
    with pytest.raises(Invalid, match=r"^profile cannot be"):
        route(at(Kind.DM, "c"), ALICE, profile="a\0")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("491701234567", "491701234567"),
        ("+491701234567", "491701234567"),
        ("491701234567@s.whatsapp.net", "491701234567"),
        ("491701234567:3@s.whatsapp.net", "491701234567"),
        ("+491701234567:12@c.us", "491701234567"),
        ("491701234567:3", "491701234567"),
        ("1234@lid", "1234@lid"),
        ("1234:5@lid", "1234@lid"),
        ("1234:99@hosted.lid", "1234@lid"),
        ("1234-5678@g.us", "1234-5678@g.us"),
        ("1234@g.us", "1234@g.us"),
        ("status@broadcast", "status@broadcast"),
        ("1234@newsletter", "1234@newsletter"),
        ("C1", "C1"),
        ("-1001", "-1001"),
        ("+", "+"),
        ("@s.whatsapp.net", "@s.whatsapp.net"),
        (":3@s.whatsapp.net", ":3@s.whatsapp.net"),
        ("1:x@s.whatsapp.net", "1:x@s.whatsapp.net"),
        ("١٢٣@s.whatsapp.net", "١٢٣@s.whatsapp.net"),
        ("1@\n", "1@\n"),
        ("++1", "++1"),
    ],
)
def test_a_whatsapp_number_has_one_form(written: str, canonical: str) -> None:
    """Plus, device and domain go; a LID is no phone number; anything odd is a plain id."""
    assert canonical_id("whatsapp", written) == canonical
    assert canonical_id("whatsapp", canonical) == canonical
    assert canonical_id("telegram", written) == written


def test_whatsapp_forms_meet_in_dms_and_members_but_not_in_groups() -> None:
    """One human has one conversation; a group's id is not a human's."""
    phone, jid = "+49170", "49170:3@s.whatsapp.net"
    dm = [at(Kind.DM, chat, platform="whatsapp") for chat in (phone, jid)]
    group = [at(Kind.GROUP, chat, platform="whatsapp") for chat in (phone, jid)]

    assert {route(address, NOBODY) for address in dm} == {"agent:main:whatsapp:dm:49170"}
    assert len({route(address, NOBODY) for address in group}) == 2
    assert route(group[0], Sender(id=jid)) == route(group[0], Sender(id="x", alt_id=phone))
    assert route(at(Kind.DM, platform="whatsapp"), Sender(id=jid)) == route(dm[0], NOBODY)


@pytest.mark.parametrize(
    ("platform", "sender", "canonical"),
    [
        ("whatsapp", Sender(id="+49170"), "49170"),
        ("whatsapp", Sender(id="49170", alt_id="12:1@lid"), "12@lid"),
        ("telegram", Sender(id="+49170"), "+49170"),
        ("telegram", Sender(name="Alice"), None),
        ("whatsapp", Sender(), None),
    ],
)
def test_a_sender_has_one_id_on_a_platform(
    platform: str, sender: Sender, canonical: str | None
) -> None:
    """The alternative one wins; without any there is none, and a name is never taken for one."""
    assert canonical_sender(platform, sender) == canonical


@given(parts, parts)
@example(
    RouteParts(platform="a@b", kind=Kind.DM), RouteParts(platform="a", account="b", kind=Kind.DM)
)
@example(
    RouteParts(platform="x", kind=Kind.GROUP, chat="a:member=b"),
    RouteParts(platform="x", kind=Kind.GROUP, chat="a", member="b"),
)
@example(
    RouteParts(platform="x", kind=Kind.GROUP, chat="a", thread="t:member=b"),
    RouteParts(platform="x", kind=Kind.GROUP, chat="a", thread="t", member="b"),
)
@example(
    RouteParts(platform="x", kind=Kind.DM, chat="%3A"),
    RouteParts(platform="x", kind=Kind.DM, chat=":"),
)
def test_two_different_conversations_never_share_a_route(one: RouteParts, two: RouteParts) -> None:
    """Whatever strangers call themselves and their rooms."""
    assert (said(one) == said(two)) == (one == two)


TRICKY = ["a", ":", "%", "%3A", "=", "@", "a:member=a", "thread=a", "a@a", "a%"]


def test_no_combination_of_tricky_ids_meets_another() -> None:
    """All of them in all places at once, and also left out, make as many routes."""
    made = [
        RouteParts(
            platform=platform, account=account, kind=kind, chat=chat, thread=thread, member=member
        )
        for kind in (Kind.GROUP, Kind.THREAD)
        for platform in TRICKY[::3]
        for account, chat in product(["", *TRICKY[::2]], ["", *TRICKY])
        for thread, member in product([None, *TRICKY], repeat=2)
    ]

    assert len({said(one) for one in made}) == len(made)


@given(parts)
def test_a_route_can_be_parsed_back(made: RouteParts) -> None:
    """Into just the parts it was made of, and it is printable ASCII."""
    text = said(made)

    assert parse_route(text) == made
    assert str(made) == text
    assert text.isascii()
    assert text.isprintable()


whatsapp_ids = hostile | st.from_regex(
    r"\+?[0-9]{1,2}(:[0-9])?(@(s\.whatsapp\.net|c\.us|lid|g\.us|x))?", fullmatch=True
)


@given(whatsapp_ids)
def test_canonical_forms_are_final(written: str) -> None:
    """Taking the canonical form again changes nothing, so stored ids compare as they are."""
    canonical = canonical_id("whatsapp", written)

    assert canonical_id("whatsapp", canonical) == canonical


@given(st.integers(0, 99), st.integers(0, 99))
def test_a_lid_never_meets_a_phone_number(lid: int, phone: int) -> None:
    """Equal digits are an accident: only a known alias makes two ids one human."""
    chats = (f"{lid}@lid", f"+{phone}", f"{phone}@s.whatsapp.net")
    routes = [route(at(Kind.DM, chat, platform="whatsapp"), NOBODY) for chat in chats]

    assert routes[0] != routes[1] == routes[2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "agent",
        "agent:main:x:dm",
        "bot:main:x:dm:c",
        "agent::x:dm:c",
        "agent:default:x:dm:c",
        "agent:main::dm:c",
        "agent:main:x@:dm:c",
        "agent:main:x@a@b:dm:c",
        "agent:main:x:forum:c",
        "agent:main:x:DM:c",
        "agent:main:x:dm:c:member=a",
        "agent:main:x:group:c:thread=",
        "agent:main:x:group:c:member=",
        "agent:main:x:group:c:member=a:thread=7",
        "agent:main:x:group:c:extra",
        "agent:main:x:dm:c\n",
        "agent:main:x:dm:é",
        "agent:main:x:dm:a=b",
        "agent:main:x:dm:%",
        "agent:main:x:dm:%4",
        "agent:main:x:dm:%zz",
        "agent:main:x:dm:%61",
        "agent:main:x:dm:%3a",
        "agent:main:x:dm:%FF",
        "agent:main:x:dm:%ED%A0%80",
        "agent:main:x:dm:%00",
        "agent:main:whatsapp:dm:+49170",
        "agent:main:whatsapp:group:g:member=1@c.us",
        "agent:main:x:dm:" + "c" * 256,
    ],
)
def test_what_no_route_can_look_like_is_refused(text: str) -> None:
    """A text that comes in through a URL or a command must be one that we could have made."""
    with pytest.raises(Invalid, match="cannot be"):
        parse_route(text)


@given(st.text(st.sampled_from("agentmixdm:=%@3A7\n"), max_size=30).map("agent:main:".__add__))
def test_parsing_never_fails_in_another_way(text: str) -> None:
    """Either a text is a route, and its parts write it again, or it is refused as invalid."""
    try:
        made = parse_route(text)
    except Invalid:
        return
    assert str(made) == text


def test_a_route_is_text() -> None:
    """Anything else is refused by name."""
    with pytest.raises(Invalid, match=r"^route cannot be None"):
        parse_route(None)  # type: ignore[arg-type]
