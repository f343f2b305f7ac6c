"""The documents do what they say."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.architecture.source import DOCS, ROOT
from tests.cli.server_process import Server
from tests.docs.examples import Examples, commands
from tests.docs.login_link import link_of

SERVED = ("docs/http-api.md", "docs/feed.md")
"""Documents whose shell speaks to a server that runs, at URL; LINK logs in to it."""
EXAMPLES = (
    "README.md",
    "docs/tutorial.md",
    "docs/library.md",
    "docs/operations.md",
    "docs/configuration.md",
    "docs/sessions-and-turns.md",
    "docs/transcripts.md",
    "docs/people.md",
    "docs/access.md",
    "docs/login.md",
    "docs/commands.md",
    "docs/approvals.md",
    "docs/lists-and-projects.md",
    "docs/spending.md",
    "docs/search.md",
    "docs/jobs.md",
    "docs/hooks.md",
    "docs/webhook.md",
    "docs/platforms.md",
    "docs/context.md",
    "docs/agents.md",
    "docs/own-agent.md",
    *SERVED,
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_runs(name: str, tmp_path: Path) -> None:
    """Whoever types in the examples of a document, one after the other, sees what it shows."""
    with surroundings(name, tmp_path) as variables:
        assert Examples(ROOT / name, tmp_path, variables).run() > 0


@contextmanager
def surroundings(name: str, home: Path) -> Iterator[dict[str, str]]:
    """Give a document what it presumes: a server, for some."""
    if name not in SERVED:
        yield {}
        return
    with Server(home) as server:
        yield {"URL": server.url(), "LINK": link_of(server)}


def test_no_document_with_examples_is_left_out() -> None:
    """A document that shows Python or a shell is among those that are tried out."""
    paths = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]
    shown = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if any(f"```{language}\n" in path.read_text("utf-8") for language in ("python", "console"))
    }

    assert shown == set(EXAMPLES)


@pytest.mark.parametrize(
    "block",
    [
        "```python\nassert 1 == 2\n```\n",
        "```python\nprint('one')\n```\n\n```output\ntwo\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "```python\nawait store.receive()\n```\n",
    ],
)
def test_a_wrong_example_is_found(block: str, tmp_path: Path) -> None:
    """An example that fails, or shows something else than the document says, is found."""
    document = tmp_path / "wrong.md"
    document.write_text(block, encoding="utf-8")

    with pytest.raises((AssertionError, NameError)):
        Examples(document, tmp_path).run()


def test_an_example_may_await(tmp_path: Path) -> None:
    """Python in a document may await at its top, and later examples see what earlier ones made."""
    document = tmp_path / "right.md"
    document.write_text(
        "```python\nimport asyncio\nn = await asyncio.sleep(0, 5)\n```\n\n"
        "```python\nprint(n)\n```\n\n```output\n5\n```\n",
        encoding="utf-8",
    )

    assert Examples(document, tmp_path).run() == 3


def test_commands_are_parted_from_their_output() -> None:
    """What is typed and what is shown are told apart by the dollar sign."""
    assert commands("$ one\nfirst\nsecond\n$ two\n") == [("one", "first\nsecond\n"), ("two", "")]


def test_a_long_command_goes_on_in_the_next_line() -> None:
    """A line that ends in a backslash is typed together with the next one."""
    assert commands("$ one \\\n    two\nshown\n") == [("one \\\n    two", "shown\n")]


def test_a_shell_remembers(tmp_path: Path) -> None:
    """What one command sets is known to the next, and to later blocks."""
    document = tmp_path / "shell.md"
    block = "```console\n{}\n```\n\n"
    document.write_text(
        block.format("$ NAME=$(echo Ann)\n$ echo $NAME and $OTHER\nAnn and Bob")
        + block.format("$ echo $NAME\nAnn"),
        encoding="utf-8",
    )

    assert Examples(document, tmp_path, {"OTHER": "Bob"}).run() == 2
