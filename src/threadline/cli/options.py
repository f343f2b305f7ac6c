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
