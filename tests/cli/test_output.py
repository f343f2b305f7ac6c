"""What somebody wrote is shown, and steers nothing."""

import json
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from tests.cli.program import PROGRAM, environment, run
from threadline.cli.chat_loop import PlainDisplay
from threadline.cli.chat_view import Display
from threadline.cli.terminal import Terminal
from threadline.cli.text_wrap import wrap
from threadline.testing.deadline import HANG_SECONDS

HOSTILE = "a\x1b[31mb\x1b]0;owned\x07c\x9b2Jd\u202ee\x7ff\rg\x08"
HARMLESS = "a[31mb]0;ownedc2Jdefg"
COLORS = ("\x1b[2m", "\x1b[33m", "\x1b[36m", "\x1b[0m")


@pytest.mark.parametrize("no_color", ["", "1"], ids=["colour", "no colour"])
@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "pipe"])
def test_nothing_that_is_shown_steers_the_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    no_color: str,
) -> None:
    """Lines, notes, titles and errors lose what is not to be seen; our own colours stay."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", no_color)
    display: Display = Terminal("x.db") if is_terminal else PlainDisplay()
    display.quote("you", HOSTILE)
    display.quote("echo", HOSTILE)
    display.note(HOSTILE)
    display.mark(HOSTILE)
    display.stream(HOSTILE)
    display.settle()
    shown = capsys.readouterr().out

    assert shown.count(HARMLESS) == 5
    for escape in COLORS if is_terminal and not no_color else ():
        assert escape in shown
        shown = shown.replace(escape, "")
    assert not steering(shown)


def test_the_path_of_the_database_steers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The greeting names the database, whatever that is called."""
    with Terminal(HOSTILE):
        pass

    assert HARMLESS in capsys.readouterr().out


def test_json_is_plain_ascii() -> None:
    """What was said comes back whole from JSON, and nothing in the output itself is unseen."""
    run("chat", lines=f"/title {HOSTILE}\n{HOSTILE} “é”\n".replace("\r", ""))
    (row,) = json.loads(run("sessions", "list", "--json").stdout)
    shown = run("sessions", "show", row["id"], "--json").stdout
    said = [line["text"] for line in json.loads(shown)["messages"] if line["role"] == "user"]

    assert said == [HOSTILE.replace("\r", "") + " “é”"]
    for output in (shown, run("sessions", "list", "--json").stdout):
        assert output.isascii()
        assert not steering(output)


@pytest.mark.parametrize(
    "command", ["sessions list", "sessions list --json", "export -o -", "chat", "--help"]
)
def test_a_full_disk_is_told_in_a_sentence(home: Path, command: str) -> None:
    """What cannot be written out costs no traceback."""
    run("chat", lines="hello\n")
    result = run_in_shell(home, f'echo again | "$@" {command} >/dev/full')

    assert result.returncode == 1
    assert result.stderr.decode() == (
        "threadline: The output cannot be written: No space left on device.\n"
    )


def test_closed_streams_are_empty(home: Path) -> None:
    """Whoever closes what would be read or written gets a short conversation."""
    result = run_in_shell(home, '"$@" chat <&-')

    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == b"A new conversation. Say something.\n"
    assert run_in_shell(home, 'echo hello | "$@" chat >&- 2>&-').returncode == 0


def run_in_shell(home: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of the shell, in which the program is the arguments."""
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", *PROGRAM],
        capture_output=True,
        check=False,
        cwd=home,
        env=environment(home),
        timeout=HANG_SECONDS,
    )


def steering(text: str) -> list[str]:
    """Name the characters of a text that are no letters, breaks aside."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs"}]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ["short"]),
        ("", [""]),
        ("one two three four five six", ["one two three four", "five six"]),
        ("first\nsecond", ["first", "second"]),
        ("  - a list item that is long", ["  - a list item that", "  is long"]),
        ("x" * 50, ["x" * 50]),
        ("漢字 " * 6, ["漢字 漢字 漢字 漢字", "漢字 漢字"]),
    ],
)
def test_lines_end_between_words(text: str, lines: list[str]) -> None:
    """A note is cut where a word ends, counted in the cells that a terminal uses."""
    assert [line.rstrip() for line in wrap(text, 20)] == lines


def test_what_goes_on_stands_below_its_column() -> None:
    """A list of commands can be read down its columns, however narrow the terminal is."""
    text = "/title  Show or set the title of this\n/x      Short"

    assert wrap(text, 24, columns=True) == [
        "/title  Show or set the",
        "        title of this",
        "/x      Short",
    ]


def test_no_argument_of_a_tool_can_look_like_two() -> None:
    """Where a long argument goes on, its line is further in than that of the next argument."""
    text = f"  command: ls #{'x' * 200} dry_run: true\n  path: /a"
    arguments = [line for line in wrap(text, 60, columns=True) if re.match(r" {2}\S", line)]

    assert [line.split(":")[0] for line in arguments] == ["  command", "  path"]
