"""A conversation whose answers come from a gateway in another process."""

from pathlib import Path

from tests.cli.gateway_process import Served
from tests.cli.program import Pipe, Terminal, run_apart


def test_a_gateway_answers_what_is_said_here(home: Path) -> None:
    """Where one serves the same database, the terminal runs no worker of its own."""
    with Served(home), Terminal(home, "--database", "chat.db") as terminal:
        terminal.expect("gateway on there")
        terminal.say("hello")
        terminal.expect("You said “hello”. That is message 1 of our conversation.")
        assert terminal.leave() == 0


def test_an_answer_grows_as_it_is_stored(home: Path) -> None:
    """It is seen before it is whole, and each number once."""
    with Served(home), Pipe(home, "--database", "chat.db") as pipe:
        pipe.say("slow please")
        seen = pipe.expect("Slowly, then: 1 2")
        assert "Done" not in seen
        seen = pipe.expect("19 20. Done.")

        numbers = seen.partition("Slowly, then:")[2].partition(". Done.")[0].split()
        assert numbers == [str(number) for number in range(1, 21)]


def test_ctrl_c_stops_an_answer_of_the_gateway(home: Path) -> None:
    """What was stored of it by then is kept, and shown once."""
    with Served(home), Terminal(home, "--database", "chat.db") as terminal:
        terminal.say("slow please")
        terminal.expect("Slowly")
        terminal.press("\x03")
        terminal.expect("⚠ Stopped.")
        terminal.say("on we go")
        terminal.expect("That is message 2 of our conversation.")
        assert terminal.leave() == 0
    shown = run_apart(home, "sessions", "show", "2", "--database", "chat.db")

    assert shown.stdout.count(b"Slowly, then:") == 1
    assert b"Done" not in shown.stdout


def test_who_leaves_early_finds_the_answer_later(home: Path) -> None:
    """The gateway goes on when the terminal is closed, so that nobody is kept waiting."""
    with Served(home, pause=0.1):
        with Terminal(home, "--database", "chat.db") as terminal:
            terminal.say("slow please")
            terminal.expect("Slowly")
            assert terminal.leave() == 0
        with Terminal(home, "--database", "chat.db") as terminal:
            terminal.expect("Continuing")
            terminal.expect("19 20. Done.")


def test_a_gateway_that_dies_is_missed(home: Path) -> None:
    """The person is told, and the next gateway answers what was said meanwhile."""
    with Terminal(home, "--database", "chat.db") as first:
        first.expect("A new conversation.")  # makes the database
    with Served(home) as gateway, Terminal(home, "--database", "chat.db") as terminal:
        terminal.expect("gateway on there")
        gateway.kill()
        terminal.expect("The gateway has stopped.")
        terminal.say("is anybody there?")
        with Served(home):
            terminal.expect("You said “is anybody there?”.")
            terminal.expect("The gateway is back.")
            assert terminal.leave() == 0


def test_nobody_waits_for_ever_behind_a_pipe(home: Path) -> None:
    """When the gateway dies, the program says so and ends; what was said is kept."""
    with Served(home) as gateway, Pipe(home, "--database", "chat.db") as pipe:
        pipe.say("slow please")
        pipe.expect("Slowly")
        gateway.kill()
        assert pipe.ends() == 1
    shown = run_apart(home, "sessions", "show", "2", "--database", "chat.db")

    assert b"slow please" in shown.stdout


def test_what_a_gateway_does_in_the_background_is_shown(home: Path) -> None:
    """The conversation goes on meanwhile, and the answer comes with its name."""
    with Served(home, pause=0.05), Pipe(home, "--database", "chat.db") as pipe:
        pipe.say("/background slow please")
        pipe.expect("is being done in the background.")
        pipe.say("hello")
        pipe.expect("You said “hello”.")
        seen = pipe.expect("19 20. Done.")

    assert "“slow please”: Slowly, then: 1 2" in seen
