"""A conversation behind a pipe: plain lines in, plain lines out."""

import json
import re
import time
from pathlib import Path

import pytest

from tests.cli.program import Pipe, run, run_apart
from threadline.core.command import COMMANDS
from threadline.testing.deadline import HANG_SECONDS

ANSWER = "You said “{}”. That is message {} of our conversation."


def chat(*lines: str) -> list[str]:
    result = run("chat", lines="".join(f"{line}\n" for line in lines))
    assert result.exit_code == 0, result.output
    # A busy machine may take longer than a moment.
    return re.sub(r"\b\d+ seconds ago\b", "a moment ago", result.stdout).splitlines()


def test_every_line_is_answered() -> None:
    """Each piped line gets its answer, in order, and nothing else is in the way."""
    assert chat("hello", "", "how are you") == [
        "A new conversation. Say something.",
        ANSWER.format("hello", 1),
        ANSWER.format("how are you", 2),
    ]


def test_a_conversation_goes_on_where_it_was_left() -> None:
    """The next start says what it continues and shows the last lines."""
    chat("hello")

    assert chat("and again") == [
        "Continuing “hello” from a moment ago — 2 messages.",
        "you: hello",
        f"echo: {ANSWER.format('hello', 1)}",
        ANSWER.format("and again", 2),
    ]


def test_new_begins_a_new_conversation_and_resume_leads_back() -> None:
    """/new ends the session; /resume finds it by number, id and title, and shows its end."""
    lines = chat("hello", "/new", "second", "/resume hello", "third")

    assert lines[2] == "This is a new conversation. /resume leads back to the last one."
    assert lines[3] == ANSWER.format("second", 1)
    assert lines[4] == "Continuing “hello” from a moment ago — 2 messages."
    assert lines[-1] == ANSWER.format("third", 2)


def test_new_with_a_title_is_there_at_once() -> None:
    """/new gives a title, cleaned of what cannot be seen; /reset takes none."""
    lines = chat("/new  Shopping\u202e  list", "/title", "/reset")

    assert lines[1:3] == [
        "This is a new conversation called “Shopping list”.",
        "This is “Shopping list”.",
    ]
    assert run("chat", lines="/reset now\n").exit_code == 1


def test_resume_without_argument_lists_conversations() -> None:
    """With numbers that /resume takes, and a mark at the one that is here."""
    lines = chat("one", "/new", "two", "/resume", "/resume 2", "/resume 1", "/sessions")

    assert lines[4:8] == [
        "Your conversations:",
        "1. “two” · a moment ago · you are here",
        "2. “one” · a moment ago",
        "/resume and a number goes on with one of them.",
    ]
    assert lines[8] == "Continuing “one” from a moment ago — 2 messages."
    assert lines[11] == "You are there already: “one” from a moment ago — 2 messages."


def test_resume_takes_an_id() -> None:
    """The id that /status shows leads back, also after /new."""
    chat("hello")
    (row,) = json.loads(run("sessions", "list", "--json").stdout)

    assert "Continuing “hello” from a moment ago — 2 messages." in chat(
        "/new", f"/resume {row['id']}"
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("/resume 0", "There is no conversation number 0. Numbers begin at 1."),
        ("/resume -3", "There is no conversation number -3. Numbers begin at 1."),
        ("/resume 9", "You have no conversation “9”. You have 1; /resume lists them."),
        ("/resume nope", "You have no conversation “nope”. You have 1; /resume lists them."),
        ("/resume 20260101_000000_00000000", "There is no such session"),
        ("/frobnicate", "There is no command /frobnicate. /help lists the commands."),
        ("/rezume", "There is no command /rezume. Did you mean /resume?"),
        ("/title \u200b", "A title needs at least one visible character"),
        ("/new \u200b", "A title needs at least one visible character"),
        ("a\0b", "text cannot be 'a\\x00b'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(line: str, sentence: str) -> None:
    """An error costs its own line: the next one is answered, and the exit code is 1."""
    chat("hello")
    result = run("chat", lines=f"{line}\nstill there\n")

    assert result.exit_code == 1
    assert sentence in result.stderr
    assert ANSWER.format("still there", 2) in result.stdout
    assert "Traceback" not in result.output


def test_one_title_of_several_conversations_is_a_choice() -> None:
    """/resume lists what matches, and the number leads there."""
    lines = chat("hello", "/new", "hello", "more", "/new", "other", "/resume hello", "/resume 3")

    assert "Several match “hello”:" in lines
    assert "2. “hello” · a moment ago" in lines
    assert "3. “hello” · a moment ago" in lines
    assert "Continuing “hello” from a moment ago — 2 messages." in lines


def test_a_conversation_can_be_renamed() -> None:
    """/title shows and sets the title; without a conversation there is none to set."""
    assert run("chat", lines="/title x\n").exit_code == 1
    assert chat("hello", "/title Greetings", "/title")[2:] == [
        "This is “Greetings” now.",
        "This is “Greetings”.",
    ]


def test_sessions_can_be_searched_by_title() -> None:
    """/sessions with a word lists those with the word, under their /resume numbers."""
    lines = chat("red apples", "/new", "blue sky", "/sessions RED", "/sessions green")

    assert "2. “red apples” · a moment ago" in lines
    assert lines[-1] == "There are no such conversations."


def test_status_tells_where_one_is() -> None:
    """Place, conversation, what runs, and when it ends by itself."""
    lines = chat("/status", "hello", "/status")

    assert lines[1:4] == [
        "Here: local terminal, profile main.",
        "The next message begins a new conversation: nobody has spoken here before.",
        "It ends by itself: never.",
    ]
    assert lines[6].startswith("Conversation: “hello” (20")
    assert lines[7] == "Nothing is running."


def test_help_lists_every_command() -> None:
    """/help is made from the table; every command in it can be carried out."""
    text = "\n".join(chat("/help"))

    assert all(command.usage in text for command in COMMANDS)
    for command in COMMANDS:
        tried = run("chat", lines=f"hello\n/{command.name}\n")
        assert isinstance(tried.exception, SystemExit | None), command.name
        assert "There is no command" not in tried.stderr


def test_a_path_is_no_command() -> None:
    """What begins with a slash but is no command's name is said to the agent."""
    assert ANSWER.format("/etc/hosts is a file", 1) in chat("/etc/hosts is a file")


def test_a_question_takes_the_next_line_as_answer() -> None:
    """The agent asks once, waits, and goes on with what it was told."""
    assert chat("ask me", "yes")[1:] == [
        "Shall I go on? (Your next line is the answer.)",
        "I asked, and you answered “yes”.",
    ]


def test_a_question_survives_the_end_of_the_program() -> None:
    """The next start asks again, and takes the answer."""
    chat("ask me")

    assert chat("no")[-2:] == [
        "Shall I go on? (Your next line is the answer.)",
        "I asked, and you answered “no”.",
    ]


def test_a_failed_answer_is_marked() -> None:
    """What was said stays, and the mark says why there is no more."""
    assert chat("fail now")[1:] == [
        "I will try, but",
        "[Failed. The echo was asked to fail, and did. Say something else.]",
    ]


def test_a_reset_is_told(home: Path) -> None:
    """After a night of silence the notice comes before the next answer, once."""
    chat("hello")
    folder = home / ".threadline"
    (folder / "threadline.toml").write_text('[reset.platforms.local]\nmode = "daily"\n')
    age(folder / "threadline.db")
    lines = chat("good morning", "and again")

    assert lines[1:] == [
        "A new day has begun, so this is a fresh conversation.",
        ANSWER.format("good morning", 1),
        ANSWER.format("and again", 2),
    ]


def age(database: Path) -> None:
    """Let a store believe that everything in it happened two days ago."""
    import apsw

    connection = apsw.Connection(str(database))
    two_days = 2 * 24 * 3600 * 1_000_000
    connection.execute(f"UPDATE sessions SET last_activity_at = last_activity_at - {two_days}")
    connection.close()


def test_control_characters_do_not_reach_the_terminal() -> None:
    """What somebody wrote cannot steer the terminal of whoever reads it."""
    result = run("chat", lines="\x1b[31mred\x07\n")

    assert "\x1b" not in result.stdout
    assert "You said “[31mred”." in result.stdout


def test_bytes_that_are_no_text_are_refused() -> None:
    """A line that is no UTF-8 is an error with a name, not a crash."""
    result = run("chat", lines=b"\xff\xfe\nfine\n")

    assert result.exit_code == 1
    assert "without NUL and half characters" in result.stderr
    assert ANSWER.format("fine", 1) in result.stdout


def test_a_huge_line_is_refused(home: Path) -> None:
    """A text of ten megabytes gets one short sentence, and nothing of it is stored."""
    result = run_apart(home, "chat", lines=b"x" * 10_000_000 + b"\nhello\n")

    assert result.returncode == 1
    assert b"at most 4,194,304 characters" in result.stderr
    assert len(result.stderr) < 500
    assert ANSWER.format("hello", 1).encode() in result.stdout


def test_profiles_never_meet() -> None:
    """Another profile is another conversation; its name cannot leave its folder."""
    chat("hello")

    assert "A new conversation" in run("chat", "--profile", "coder", lines="").stdout
    assert run("chat", "--profile", "../x", lines="").exit_code == 1


def test_kill_in_mid_turn_loses_nothing(home: Path) -> None:
    """After kill -9 what was said is kept and marked, and the message is answered anew."""
    with Pipe(home) as pipe:
        pipe.say("slow one")
        pipe.expect("Slowly, then: 1 2 3")
        pipe.kill()
    with Pipe(home) as pipe:
        pipe.expect("Continuing “slow one”")
        pipe.expect("[Interrupted. The program stopped while this was being answered.]")
        pipe.expect("A message was left without an answer. It comes now.")
        seen = pipe.expect("20. Done.")

    assert seen.count("you: slow one") == 1


def test_kill_before_the_answer_begins_loses_nothing(home: Path) -> None:
    """Lines that were waiting are answered by the next start, in order, each once."""
    with Pipe(home) as pipe:
        pipe.say("ask me")
        pipe.expect("Shall I go on?")
        pipe.kill()
    result = run_apart(home, "chat", lines=b"maybe\nnext\n")

    assert "I asked, and you answered “maybe”.".encode() in result.stdout
    assert ANSWER.format("next", 2).encode() in result.stdout
    assert result.returncode == 0


def test_what_is_done_in_the_background_is_shown_when_it_ends() -> None:
    """The conversation goes on meanwhile; the answer comes with the name of what was asked."""
    lines = chat("hello", "/background slow please", "and now")

    assert lines[2].startswith("“slow please” is being done in the background.")
    assert lines[3] == ANSWER.format("and now", 2)
    assert lines[4].startswith("“slow please”: Slowly, then: 1 2 3")
    assert lines[4].endswith("20. Done.")


def test_a_failure_in_the_background_is_shown_too() -> None:
    """With what was said until then, and why there is no more."""
    assert chat("/background fail now")[2:] == [
        "“fail now”: I will try, but",
        "“fail now”: Failed. The echo was asked to fail, and did. Say something else.",
    ]


def test_a_question_in_the_background_is_answered_where_it_is() -> None:
    """It is shown with the way there; whoever goes there is asked, and answers."""
    asked = chat("hello", "/background ask me")[-1]
    answered = chat("/resume ask me", "yes")

    assert asked.startswith("“ask me” asks: Shall I go on? (/resume 20")
    assert answered[-2:] == [
        "Shall I go on? (Your next line is the answer.)",
        "I asked, and you answered “yes”.",
    ]


def test_a_job_that_is_run_here_comes_to_its_end(home: Path) -> None:
    """Where no gateway serves, the chat answers it, writes the file, and closes the run."""
    with Pipe(home) as pipe:
        pipe.say('/job add "every day 9:00" What is new?')
        pipe.expect("No gateway serves: its time comes while `threadline serve` runs.")
        pipe.say("/job run 1")
        pipe.expect("Job 1 runs now.")
        over = time.monotonic() + HANG_SECONDS
        while True:
            pipe.say("/job runs 1")
            if "done" in pipe.expect(" ago: "):
                break
            assert time.monotonic() < over, "The run was not closed"
            pipe.seen = ""
            time.sleep(0.05)
        assert pipe.ends() == 0
    (file,) = (home / ".threadline" / "output" / "main").iterdir()

    assert "You said “What is new?”." in file.read_text()
