"""Targets: whatever a person may write is read, and whatever is written can be read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.address import Address, Kind
from threadline.core.errors import Invalid
from threadline.core.target import (
    TARGETS_LIMIT,
    Target,
    TargetKind,
    output_address,
    parse_target,
    parse_targets,
    target_of,
)

KNOWN = {"telegram", "matrix", "slack"}

ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ids |= st.text("!#@$:%,a ", max_size=12)
chats = ids.filter(bool)
platforms = st.sampled_from(["telegram", "matrix", "slack", "my-own_1"])
targets = st.one_of(
    st.sampled_from(["origin", "local", "all"]).map(lambda word: Target(kind=TargetKind(word))),
    platforms.map(lambda name: Target(kind=TargetKind.HOME, platform=name)),
    st.builds(
        Target,
        kind=st.just(TargetKind.CHAT),
        platform=platforms,
        account=ids,
        chat=chats,
        thread=st.none() | chats,
    ),
)


@given(targets)
def test_every_target_is_read_back(target: Target) -> None:
    """Whatever is in an id, what is written means the same target again."""
    assert parse_target(str(target)) == target


@given(st.lists(targets, min_size=1, max_size=5, unique=True))
def test_every_list_is_read_back(several: list[Target]) -> None:
    """Commas inside of ids do not part a list."""
    assert parse_targets(", ".join(map(str, several))) == tuple(several)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """There is no text over which reading breaks; what is read can be written again."""
    try:
        found = parse_targets(text)
    except Invalid:
        return
    assert parse_targets(",".join(map(str, found))) == found


@pytest.mark.parametrize(
    ("written", "platform", "account", "chat", "thread"),
    [
        ("telegram:42", "telegram", "", "42", None),
        ("Telegram:-100:7", "telegram", "", "-100", "7"),
        ("telegram@work:42", "telegram", "work", "42", None),
        ("slack:C1%3A2:3", "slack", "", "C1:2", "3"),
        ("matrix:!room:server.org", "matrix", "", "!room:server.org", None),
        ("matrix:!room:server.org:8448", "matrix", "", "!room:server.org:8448", None),
        ("matrix:!room:server.org:$event", "matrix", "", "!room:server.org", "$event"),
        ("matrix:!a:s.org:$event:s.org", "matrix", "", "!a:s.org", "$event:s.org"),
        ("matrix:#garden:server.org", "matrix", "", "#garden:server.org", None),
        ("matrix@%40bot%3As.org:!a:s.org", "matrix", "@bot:s.org", "!a:s.org", None),
        ("matrix:plain:thread", "matrix", "", "plain", "thread"),
    ],
)
def test_a_chat_is_read(
    written: str, platform: str, account: str, chat: str, thread: str | None
) -> None:
    """Platform, account, chat and thread are told apart, on Matrix by its own signs."""
    found = parse_target(written, platforms=KNOWN)

    assert found.kind is TargetKind.CHAT
    assert (found.platform, found.account, found.chat, found.thread) == (
        platform,
        account,
        chat,
        thread,
    )


def test_lists_and_words_are_read() -> None:
    """Words stand beside platforms, in any case, and what is named twice is meant once."""
    found = parse_targets("Origin, telegram ,local,all, telegram", platforms=KNOWN)

    assert [str(one) for one in found] == ["origin", "telegram", "local", "all"]
    assert found[1].kind is TargetKind.HOME


def test_an_unknown_platform_names_the_known_ones() -> None:
    """A typing mistake is an error that helps, and never a file somewhere."""
    with pytest.raises(Invalid, match="no platform “telegarm”.*matrix, slack, telegram"):
        parse_targets("telegarm:42", platforms=KNOWN)
    with pytest.raises(Invalid, match="none yet"):
        parse_targets("telegram", platforms=())


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        ",",
        "telegram,",
        "telegram:",
        "telegram@work",
        "telegram::7",
        "telegram:42:",
        "telegram:a:b:c",
        "local:42",
        "all@x",
        "tele gram",
        ":42",
        "telegram:%ff",
        "telegram:a%00",
        "telegram:" + "x" * 300,
    ],
)
def test_what_names_nothing_is_refused(wrong: str) -> None:
    """Half a target, a word with a chat, and ids that nobody could store are refused."""
    with pytest.raises(Invalid):
        parse_targets(wrong)


def test_too_many_targets_are_refused() -> None:
    """A list has an end."""
    with pytest.raises(Invalid, match=str(TARGETS_LIMIT)):
        parse_targets(",".join(f"telegram:{n}" for n in range(TARGETS_LIMIT + 1)))


def test_an_address_has_a_target() -> None:
    """Where something was said can be named as a target; a terminal is local."""
    thread = Address(platform="slack", kind=Kind.THREAD, chat="C1", thread="9", account="w")

    assert str(target_of(thread)) == "slack@w:C1:9"
    assert str(target_of(output_address("main"))) == "local"
