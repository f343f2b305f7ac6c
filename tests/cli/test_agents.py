"""Agents of the settings at a terminal: thoughts, tools, questions, and models to choose."""

from pathlib import Path

from prompt_toolkit.completion import Completion

from tests.cli.program import Terminal, run, run_apart
from threadline.assembly import list_models
from threadline.cli.autocomplete import offer_models
from threadline.cli.output import show_call
from threadline.config import parse_config
from threadline.core.message import ToolCall

MODULE = """
from threadline.core.agent import Question, ReasoningDelta
from threadline.core.message import NewMessage, Role, ToolCall, ToolResult, say


async def answer(request):
    if request.turn.answer is None and "shell_rm" in request.allowed:
        yield say(Role.ASSISTANT, "Gone again.")
    elif request.turn.answer is None:
        yield ReasoningDelta(text="Let me see.\\nThat may ")
        yield ReasoningDelta(text="hurt.")
        yield Question(text="May I use shell_rm?", tools=("shell_rm",))
    else:
        call = ToolCall(id="1", name="shell_rm", arguments='{"path": "notes"}')
        yield NewMessage(role=Role.ASSISTANT, parts=(call,))
        result = ToolResult(call_id="1", text="done")
        yield NewMessage(role=Role.TOOL, parts=(result,))
        yield say(Role.ASSISTANT, f"It is gone: {request.turn.answer}.")
"""


def settle(home: Path, settings: str) -> None:
    """Write an agent of one's own, and settings."""
    (home / "mine.py").write_text(MODULE)
    (home / "threadline.toml").write_text(settings)


def test_an_agent_thinks_asks_and_uses_a_tool(home: Path) -> None:
    """Its thoughts are seen, leave is given for the session, and the tool is named."""
    settle(home, "[agent]\npython = 'mine:answer'\n")

    with Terminal(home) as terminal:
        terminal.expect("Threadline · mine:answer")
        terminal.say("clean up")
        terminal.expect("Let me see.")
        terminal.expect("That may hurt.")
        terminal.expect("May I use shell_rm? (/approve, /approve session, /approve always or")
        terminal.say("/approve session")
        terminal.expect('· shell_rm {"path": "notes"}')
        terminal.expect("It is gone: approved.")
        terminal.say("once more")
        terminal.expect("Gone again.")
        assert terminal.leave() == 0


def test_thoughts_are_no_part_of_a_piped_answer(home: Path) -> None:
    """What another program reads is the answer, and what is asked."""
    settle(home, "[agent]\npython = 'mine:answer'\n")

    done = run_apart(home, "chat", lines=b"clean up\n/deny\n")

    assert b"May I use shell_rm?" in done.stdout
    assert b"It is gone: denied." in done.stdout
    assert b"Let me see." not in done.stdout


def test_an_agent_is_told_that_it_speaks_in_a_terminal(home: Path) -> None:
    """It is the owner's machine, a person can answer, and no target is promised."""
    (home / "mine.py").write_text(
        "from threadline.core.message import Role, say\n\n\n"
        "async def answer(request):\n"
        "    yield say(Role.ASSISTANT, request.instructions)\n"
    )
    (home / "threadline.toml").write_text("[agent]\npython = 'mine:answer'\n")

    told = run_apart(home, "chat", lines=b"where are you?\n").stdout.decode()

    assert "- Where: a terminal on the owner's machine, which runs Threadline\n" in told
    assert "can answer" in told
    assert not any(word in told for word in ("arget", "origin", '"local"'))


def test_an_agent_that_cannot_be_had_is_named_at_once(home: Path) -> None:
    """Before anything is asked of it, with what is missing."""
    settle(home, "[agent]\nmodel = 'openai:gpt-5.1'\n")

    done = run("chat", lines="hello\n")

    assert done.exit_code == 1
    assert "providers.openai.api_key is missing (agent.model)" in done.stderr


def test_status_says_who_answers(home: Path) -> None:
    """By its name in the settings."""
    run("chat", lines="hello\n")
    assert "Agent: echo." in run("status").stdout

    settle(home, "[agent]\nmodel = 'ollama:qwen3:8b'\n[profiles.x.agent]\ncommand = ['/bin/mind']")
    assert "Agent: ollama:qwen3:8b." in run("status").stdout


def test_models_are_offered(home: Path) -> None:
    """Those of the settings first, then what is known of providers whose key is there."""
    config = parse_config(
        "[agent]\nmodel = 'ollama:qwen3:8b'\nmodels = ['anthropic:claude-mine']\n",
        "threadline.toml",
        environ={"ANTHROPIC_API_KEY": "x"},
    )
    names = list_models(config)

    assert names[:2] == ["ollama:qwen3:8b", "anthropic:claude-mine"]
    assert "anthropic:claude-sonnet-5" in names
    assert not [name for name in names if name.startswith(("openai:", "google:"))]
    offered = list(offer_models(names, "QWEN"))
    assert offered == [Completion("ollama:qwen3:8b", start_position=-4)]


def test_models_are_completed_at_a_terminal(home: Path) -> None:
    """While `/model` is typed."""
    settle(home, "[agent]\ntype = 'echo'\nmodels = ['ollama:qwen3:8b']\n")

    with Terminal(home) as terminal:
        terminal.expect("A new conversation.")
        terminal.press("/model qw")
        terminal.expect("ollama:qwen3:8b")
        terminal.press("\x03")
        assert terminal.leave() == 0


def test_a_call_is_shown_in_one_line() -> None:
    """However long and broken its arguments are."""
    long = ToolCall(id="1", name="write", arguments='{\n  "text": "' + "x" * 500 + '"\n}')

    shown = show_call(long)

    assert shown.startswith('· write { "text": "xxx')
    assert len(shown) < 120
    assert "\n" not in shown
    assert show_call(ToolCall(id="1", name="now", arguments="{}")) == "· now"


def test_a_summary_stands_for_the_older_part(home: Path) -> None:
    """`/compress` is done by whoever writes summaries here, and can be taken back."""
    done = run("chat", lines="one\ntwo\nthree\nfour\nfive\nsix\n/compress\n/compress undo\n")

    assert done.exit_code == 0, done.output
    assert "A summary stands for the first" in done.stdout
    assert "The agent reads the first" in done.stdout
