"""The chat's commands that change a conversation, link people, and let things go."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import Terminal, run
from tests.cli.test_chat import chat


def test_undo_and_redo() -> None:
    """What was taken back is not there for the agent, until it is brought back."""
    lines = chat("one", "two", "/undo", "three", "/undo 9")

    assert lines[3:] == [
        "Took back 1 turn (2 messages). /redo brings them back.",
        "You said “three”. That is message 2 of our conversation.",
        "Took back 2 turns (4 messages). There was no more. /redo brings them back.",
    ]
    nothing = run("chat", lines="/undo\nfour\n/undo\nfive\n/redo\n").stderr
    assert "There is nothing to undo" in nothing
    assert "Everything was undone." in nothing
    assert "the conversation has continued since" in nothing


def test_redo_brings_it_back() -> None:
    """As long as nothing was said in between."""
    lines = chat("one", "two", "/undo", "/redo", "three")

    assert lines[4:] == [
        "Brought back 2 messages.",
        "You said “three”. That is message 3 of our conversation.",
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("/undo", "There is no conversation here yet. Say something first."),
        ("/undo 0", "“0” is not a number of turns. /undo 2 takes two."),
        ("/undo -1", "“-1” is not a number of turns. /undo 2 takes two."),
        ("/undo ²", "“²” is not a number of turns. /undo 2 takes two."),
        ("/redo now", "/redo takes nothing after it."),
        ("/retry", "There is no conversation here yet. Say something first."),
        ("/branch \u200b", "A title needs at least one visible character."),
        ("/compress", "There is no conversation here yet. Say something first."),
        ("/export pdf", "“pdf” is not a format. One of: md, html, jsonl."),
        ("/forget", "Say what to forget: this conversation, or everything of yours."),
        ("/forget this maybe", "Say what to forget: this conversation, or everything of yours."),
        ("/usage all", "/usage takes nothing after it."),
        ("/unlink me", "/unlink takes nothing after it."),
    ],
)
def test_what_cannot_be_done_is_said(line: str, sentence: str) -> None:
    """In a sentence that tells what to do, and nothing is changed."""
    result = run("chat", lines=f"{line}\n")

    assert result.exit_code == 1
    assert f"threadline: {sentence}" in result.stderr


def test_retry_asks_once_more() -> None:
    """The same words get another answer in the place of the first."""
    lines = chat("one", "/retry", "two")

    assert lines[2:] == [
        "Once more.",
        "You said “one”. That is message 1 of our conversation.",
        "You said “two”. That is message 2 of our conversation.",
    ]


def test_a_branch_goes_another_way() -> None:
    """It knows what was said before it; the first way does not know what was said in it."""
    lines = chat("one", "/branch Other way", "two", "/resume one", "three")

    assert lines[2].startswith("This is a branch called “Other way” now. /resume ")
    assert lines[3] == "You said “two”. That is message 2 of our conversation."
    assert lines[-1] == "You said “three”. That is message 2 of our conversation."


def test_a_branch_without_a_title_is_told_apart() -> None:
    """It says how to go back, and lists mark it."""
    told = re.fullmatch(
        r"This is a branch now\. (/resume [0-9a-f_]+) leads back\.", chat("one", "/branch")[2]
    )
    assert told is not None
    listed = chat("/sessions", told[1], "two")

    assert [line.partition(" · a moment ago")[2] for line in listed if "“one” ·" in line] == [
        " · branch · you are here",
        "",
    ]
    assert listed[-1] == "You said “two”. That is message 2 of our conversation."
    assert json.loads(run("sessions", "list", "--json").stdout)[0]["id"] in told[1]


def test_a_summary_stands_for_the_older_part() -> None:
    """It is written, and taken back."""
    lines = chat("one", "two", "three", "/compress the numbers", "/compress undo")

    assert lines[4] == "Writing a summary of the older part.", lines
    assert lines[5].startswith("A summary stands for the first 3 lines now."), lines
    assert lines[6] == "The agent reads the first 3 lines again."
    assert "Nothing is compacted" in run("chat", lines="/compress undo\n").stderr


def test_a_code_is_shown_and_a_wrong_one_refused() -> None:
    """A wrong code is told, and five of them lock the door."""
    lines = chat("hello", "/link", *["/link AAAAAAAA"] * 6, "/unlink")

    assert re.fullmatch(
        r"Send this from the other app within 10 minutes: /link [2-9A-HJ-NP-Z]{8}", lines[2]
    )
    assert lines[3] == "This code is not valid. Send /link in the other app for a new one."
    assert lines[8] == "Too many wrong codes came from here. Try again in an hour."
    assert lines[9] == "You were not linked with anybody."


def test_usage_is_told() -> None:
    """By model, as far as the cost is known."""
    assert chat("one two", "/usage")[-1] == "echo: 15 tokens in, 11 out; cost unknown."


def test_a_conversation_is_written_to_a_file(home: Path) -> None:
    """For its owner's eyes only, and it goes when the conversation is forgotten."""
    lines = chat("my word is xyzzy", "/export", "/export jsonl")
    (page,) = home.glob(".threadline/output/main/*.md")

    assert lines[-1] == f"It is in {page.with_suffix('.jsonl')}."
    assert "xyzzy" in page.read_text()
    assert page.stat().st_mode & 0o077 == 0
    assert chat("/forget this yes")[-1].startswith("Forgotten: ")
    assert not list(home.glob(".threadline/output/main/*"))
    assert all(b"xyzzy" not in file.read_bytes() for file in home.rglob("*") if file.is_file())


def test_forgetting_shows_first_what_would_go() -> None:
    """Nothing goes until that was confirmed; afterwards a new conversation begins."""
    lines = chat("hello", "/forget this", "/forget me", "/forget me yes", "again", "/sessions")

    assert lines[2] == (
        "This would delete 1 conversation with 3 messages, for good."
        " To do it, send /forget this yes."
    )
    assert lines[3].endswith("To do it, send /forget me yes.")
    assert lines[5].startswith("Forgotten: ")
    assert lines[6] == "You said “again”. That is message 1 of our conversation."
    assert [line for line in lines if line.startswith("1. ")] == [
        "1. “again” · a moment ago · you are here"
    ]


def test_what_was_taken_back_is_offered_again(home: Path) -> None:
    """At a terminal it stands in the line, to be changed and said again."""
    with Terminal(home) as terminal:
        terminal.say("first words")
        terminal.expect("That is message 1")
        terminal.say("/undo")
        terminal.expect("Took back 1 turn")
        terminal.press(", changed\r")
        terminal.expect("You said “first words, changed”. That is message 1")
        assert terminal.leave() == 0


def test_a_command_takes_the_place_of_what_is_offered(home: Path) -> None:
    """Nobody has to clear the line before /redo; what was only typed keeps its slashes."""
    with Terminal(home) as terminal:
        terminal.say("one")
        terminal.expect("That is message 1")
        terminal.say("/undo")
        terminal.expect("Took back 1 turn")
        terminal.say("/redo")
        terminal.expect("Brought back 2 messages.")
        terminal.say("/undo")
        terminal.expect("Took back 1 turn")
        terminal.press("\x03")
        terminal.say("one/two")
        terminal.expect("You said “one/two”. That is message 1")
        assert terminal.leave() == 0
