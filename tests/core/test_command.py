"""The command table, and how commands, decisions and kept messages are written and read."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.approval import Approval, read_answer, write_answer
from threadline.core.command import (
    COMMANDS,
    HELP_LIMIT,
    NAME_LIMIT,
    START,
    Command,
    command_text,
    help_text,
    list_commands,
    parse_command,
    without_command,
)
from threadline.core.deferred_message import decode_message, encode_message
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, BlobHash, MediaKind, Text
from threadline.store.commands import VERBS

PICTURE = Attachment(kind=MediaKind.IMAGE, blob=BlobHash("0" * 64), media_type="image/png", size=1)
storable = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)


def test_every_command_has_a_verb_and_every_verb_a_command() -> None:
    """The table in core and the verbs in sessions name the same commands, each once."""
    names = [command.name for command in (*COMMANDS, START)]

    assert sorted(names) == sorted(VERBS)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("New", "Begin"),
        ("a b", "Begin"),
        ("", "Begin"),
        ("x" * (NAME_LIMIT + 1), "Begin"),
        ("new", ""),
        ("new", "two\nlines"),
        ("new", "x" * (HELP_LIMIT + 1)),
    ],
)
def test_what_no_menu_could_show_is_refused(name: str, help: str) -> None:
    """Names are short and plain, and help is one line."""
    with pytest.raises(Invalid):
        Command(name=name, help=help)


def test_a_menu_and_the_help_show_what_a_rank_may() -> None:
    """A later rank sees all that an earlier one does, and a stranger nothing."""
    shown = [set(list_commands(rank)) for rank in AccessLevel]

    assert shown[0] == set()
    assert shown == sorted(shown, key=len)
    assert shown[-1] == set(COMMANDS)
    assert help_text(AccessLevel.STRANGER) == ""
    assert len(help_text(AccessLevel.MEMBER).splitlines()) == len(list_commands(AccessLevel.MEMBER))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/queue buy milk", "buy milk"),
        ("/STEER@bot  shorter\nplease ", "shorter\nplease"),
        ("/queue", "/queue"),
        ("/new plans", "/new plans"),
        ("buy /queue milk", "buy /queue milk"),
    ],
)
def test_words_stand_without_their_command(text: str, said: str) -> None:
    """Only where the command's words are something said; what came along stays."""
    assert without_command((Text(text=text), PICTURE)) == (Text(text=said), PICTURE)


def test_a_command_without_words_leaves_what_came_along() -> None:
    """And nothing else."""
    assert command_text("", (Text(text="/queue"), PICTURE)) == (PICTURE,)


@given(st.sampled_from(Approval), storable.map(str.strip))
def test_a_decision_reads_as_it_was_written(approval: Approval, words: str) -> None:
    """Whatever is said with it."""
    assert read_answer(write_answer(approval, words)) == (approval, words)


@pytest.mark.parametrize("answer", ["yes", "", "approvedly", "I denied: it"])
def test_free_words_are_no_decision(answer: str) -> None:
    """They reach the agent as they are."""
    assert read_answer(answer) == (None, answer)


@given(storable, storable.filter(bool), storable, st.sampled_from(Kind))
def test_a_kept_message_is_read_as_it_was_written(
    text: str, chat: str, name: str, kind: Kind
) -> None:
    """Its place, its sender, its parts and its ids are the same."""
    inbound = Inbound(
        address=Address(platform="telegram", kind=kind, chat=chat, thread="7", chat_name=name),
        sender=Sender(id="a:b", name=name, is_bot=True),
        parts=(Text(text=text), PICTURE),
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        message_id="m1",
        reply_to="m0",
        profile="work",
    )

    assert decode_message(encode_message(inbound)) == inbound


def test_nobody_is_vouched_for_by_what_was_kept() -> None:
    """That a transport answers for a sender is never stored, nor read."""
    address = Address(platform="relay", kind=Kind.DM, chat="1")
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    said = Inbound(address=address, parts=(Text(text="/redo"),), at=moment, is_trusted=True)

    assert "trusted" not in encode_message(said)
    assert not decode_message(encode_message(said)).is_trusted


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"address": 1}', "\x00"])
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    """Of our family, whatever is wrong with it."""
    with pytest.raises(Invalid):
        decode_message(text)


def test_every_usage_parses() -> None:
    """How a command is written in the help is how it is read."""
    for command in COMMANDS:
        call = parse_command(command.usage)
        assert call is not None
        assert (call.command, call.argument) == (command, command.arguments)
