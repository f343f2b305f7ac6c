"""A conversation at a real terminal, key by key."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from tests.cli.program import Terminal, run_apart
from threadline.cli.chat_session import Conversation
from threadline.cli.terminal import LINES_AHEAD
from threadline.cli.terminal import Terminal as Display
from threadline.testing.deadline import HANG_SECONDS


def test_a_walk_at_the_terminal(home: Path) -> None:
    """Say something, complete a command, rename, leave, come back: it all goes on."""
    with Terminal(home) as terminal:
        terminal.expect("Ctrl-C stops an answer, Ctrl-D leaves")
        terminal.expect("A new conversation.")
        terminal.say("hello")
        terminal.expect("You said “hello”. That is message 1 of our conversation.")
        terminal.press("/tit")
        terminal.expect("Show or set the title")
        terminal.press("\t Greetings\r")
        terminal.expect("This is “Greetings” now.")
        assert terminal.leave() == 0
    with Terminal(home) as terminal:
        terminal.expect("Continuing “Greetings” from")
        terminal.expect("› hello")
        terminal.press("\x1b[A")  # the arrow up brings back what was said
        terminal.press("\r")
        terminal.expect("That is message 2 of our conversation.")
        assert terminal.leave() == 0


def test_ctrl_c_stops_the_answer_and_nothing_else(home: Path) -> None:
    """What was shown is kept, what waits comes next, at rest the key only tells how to leave."""
    with Terminal(home) as terminal:
        terminal.say("slow please")
        terminal.expect("Slowly")
        terminal.say("next")
        terminal.expect("› next")
        terminal.press("\x03")
        terminal.expect("⚠ Stopped.")
        terminal.expect("You said “next”.")
        terminal.say("/status")
        terminal.expect("Nothing is running.")
        terminal.press("unfinished\x03")
        terminal.press("\x03")
        terminal.expect("Ctrl-D leaves.")
        assert terminal.leave() == 0
    shown = run_apart(home, "sessions", "show", "2")

    assert b"assistant: Slowly, then:" in shown.stdout
    assert b"unfinished" not in shown.stdout


def test_stop_is_a_command_too(home: Path) -> None:
    """/stop does what Ctrl-C does, while the answer streams."""
    with Terminal(home) as terminal:
        terminal.say("slow please")
        terminal.expect("Slowly")
        terminal.say("/status")
        terminal.expect("A turn is running")
        terminal.say("/stop")
        terminal.expect("⚠ Stopped.")
        terminal.say("on we go")
        terminal.expect("That is message 2 of our conversation.")


def test_who_leaves_twice_leaves_at_once(home: Path) -> None:
    """The first Ctrl-D waits for the answer, the second leaves it to the next start."""
    with Terminal(home) as terminal:
        terminal.say("slow please")
        terminal.expect("Slowly")
        terminal.press("\x04")
        terminal.expect("Waiting for the answer.")
        assert terminal.leave() == 0
    with Terminal(home) as terminal:
        terminal.expect("⚠ Interrupted.")
        terminal.expect("It comes now.")
        terminal.expect("Slowly")
        terminal.press("\x03")
        terminal.expect("⚠ Stopped.")


def test_errors_are_sentences_at_the_terminal_too(home: Path) -> None:
    """A mistake is marked, and the conversation goes on."""
    with Terminal(home) as terminal:
        terminal.say("/resume 0")
        terminal.expect("⚠ There is no conversation number 0.")
        terminal.say("hello")
        terminal.expect("That is message 1 of our conversation.")


def test_two_terminals_share_one_conversation(home: Path) -> None:
    """What is said at one is seen at the other, with its answer, once."""
    with Terminal(home) as first, Terminal(home) as second:
        first.expect("A new conversation.")
        second.expect("A new conversation.")
        first.say("hello")
        first.expect("That is message 1 of our conversation.")
        second.say("me too")
        second.expect("That is message 2 of our conversation.")
        seen = first.expect("That is message 2 of our conversation.")

        assert seen.count("› me too") == 1


def test_titles_are_completed(home: Path) -> None:
    """After /resume the conversations are offered, by title or id, and the tab key takes one."""
    with Terminal(home) as terminal:
        for title in ("Garden plans", "Tax papers"):
            terminal.say(f"/new {title}")
            terminal.expect(title)
            terminal.say(f"about {title}")
            terminal.expect(f"You said “about {title}”.")
        terminal.press("/resume gard")
        terminal.expect("Garden plans")
        terminal.press("\t\r")
        terminal.expect("Continuing “Garden plans”")
        terminal.expect("› about Garden plans")
        assert terminal.leave() == 0


def test_words_of_earlier_conversations_come_back(home: Path) -> None:
    """The arrow up reaches what was said before a new conversation began, also after a restart."""
    with Terminal(home) as terminal:
        terminal.say("remember the milk")
        terminal.expect("That is message 1 of our conversation.")
        terminal.say("/new")
        terminal.say("something else")
        terminal.expect("You said “something else”.")
        assert terminal.leave() == 0
    with Terminal(home) as terminal:
        terminal.expect("› something else")
        terminal.press("\x1b[A\x1b[A\r")
        terminal.expect("You said “remember the milk”. That is message 2 of our conversation.")
        assert terminal.leave() == 0


def test_answers_have_emphasis_unless_colours_are_unwanted(home: Path) -> None:
    """Markdown is shown with its look, and as it was written where NO_COLOR is set or in a pipe."""
    with Terminal(home) as terminal:
        terminal.say("this is **bold**")
        terminal.expect("You said “this is bold”.")
        assert terminal.leave() == 0
    with Terminal(home, more={"NO_COLOR": "1"}) as terminal:
        terminal.expect("You said “this is **bold**”.")
    piped = run_apart(home, "chat", lines=b"and *this*\n")

    assert "You said “and *this*”." in piped.stdout.decode()


def test_an_error_is_broken_between_words_at_a_terminal(home: Path) -> None:
    """A program that reads it gets one line."""
    wrong = {"THREADLINE_CONCURRENCY": "many"}
    with Terminal(home, command="serve", more=wrong) as terminal:
        seen = terminal.expect("10,000.")
    piped = run_apart(home, "serve", more=wrong).stderr.decode()

    assert all(len(line) <= 80 for line in seen.splitlines())
    assert seen.split() == piped.split()
    assert len(piped.splitlines()) == 1


@dataclass
class View:
    """A view of which nothing is shown."""

    over: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class BrokenConversation:
    """A conversation that breaks when something is said in it."""

    is_served = False
    is_busy = False

    def __init__(self) -> None:
        self.view = View()

    async def last_words(self) -> list[str]:
        return []

    async def hear(self, text: str) -> None:
        raise RuntimeError("a bug")


async def test_a_conversation_that_breaks_is_left() -> None:
    """A bug ends the program with its error: what is typed next would go nowhere."""
    with (
        create_pipe_input() as keys,
        create_app_session(input=keys, output=DummyOutput()),
        pytest.raises(RuntimeError, match="a bug"),
    ):
        keys.send_text("hello\r")
        async with asyncio.timeout(HANG_SECONDS):
            conversation = cast("Conversation", BrokenConversation())
            await Display("test").run(conversation, drain=timedelta(0))


async def test_lines_that_wait_are_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    """One too many stays in the prompt, and the terminal says why."""
    display, line = Display("test"), Buffer()
    for n in range(LINES_AHEAD + 1):
        line.text = f"{n}"
        display._accept(line)

    assert line.text == f"{LINES_AHEAD}"
    assert "Too many lines wait" in capsys.readouterr().out
