"""What `threadline -h` says about its commands can be read to its end."""

from collections.abc import Iterator

import typer
from typer.testing import CliRunner

from threadline.cli.main import app


def groups(command: object, way: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Walk over everything that lists commands."""
    inner: dict[str, object] = getattr(command, "commands", {})
    if inner:
        yield way
    for name, one in inner.items():
        yield from groups(one, (*way, name))


def test_no_summary_of_a_command_is_cut() -> None:
    """On a terminal of 80 columns every line about a command is a whole sentence."""
    found = list(groups(typer.main.get_command(app)))
    assert ("sessions",) in found
    for way in found:
        shown = CliRunner().invoke(app, [*way, "-h"], env={"COLUMNS": "80"}).output
        cut = [line for line in shown.splitlines() if line.endswith("...")]
        assert not [line for line in cut if "COMMAND [ARGS]..." not in line], way
