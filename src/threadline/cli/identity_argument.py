"""Identities as somebody types them."""

from typing import Annotated, TypeAlias

import typer

from threadline.cli.shell_completion import complete_project, complete_session
from threadline.core.errors import Invalid
from threadline.core.person import Identity


def read_identity(written: str) -> Identity:
    """Read who is meant: `telegram:42`."""
    platform, colon, id = written.partition(":")
    if not colon:
        raise Invalid(f"“{written[:60]}” names nobody", hint="Write it as telegram:42")
    return Identity(platform=platform, id=id)


Database: TypeAlias = Annotated[
    str | None,
    typer.Option("--database", "-d", metavar="PATH|URL", help="A file, or a PostgreSQL URL."),
]
Profile: TypeAlias = Annotated[
    str | None, typer.Option("--profile", "-p", metavar="NAME", help="Which profile.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
SessionArg: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Its id, or how that begins.", autocompletion=complete_session
    ),
]
SessionArgs: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="ID…", help="Their ids, or how those begin.", autocompletion=complete_session
    ),
]
Limit: TypeAlias = Annotated[
    int, typer.Option("--limit", "-n", min=1, help="How many at the most.")
]
OfProject: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--project", metavar="NAME", help="Only this project.", autocompletion=complete_project
    ),
]
