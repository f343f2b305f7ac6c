"""A conversation at a real terminal, key by key."""

from pathlib import Path

from tests.cli.program import Terminal, run_apart


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
