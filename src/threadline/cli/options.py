"""Options that several commands share."""

from typing import Annotated, TypeAlias

import typer

Database: TypeAlias = Annotated[
    str | None,
    typer.Option("--database", "-d", metavar="PATH|URL", help="A file, or a PostgreSQL URL."),
]
Profile: TypeAlias = Annotated[
    str | None, typer.Option("--profile", "-p", metavar="NAME", help="Which profile.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
Session: TypeAlias = Annotated[
    str, typer.Argument(metavar="ID", help="Its id, or how that begins.")
]
Sessions: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="ID…", help="Their ids, or how those begin.")
]
Limit: TypeAlias = Annotated[
    int, typer.Option("--limit", "-n", min=1, help="How many at the most.")
]
