"""`threadline doctor`: whether everything is well."""

import asyncio
from typing import Annotated

import typer

from threadline.cli.options import AsJson, Database


def doctor(
    database: Database = None,
    deep: Annotated[bool, typer.Option("--deep", help="Read every page and index.")] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Call no model, server or platform.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look whether everything is well.

    Settings, store, disk, what is under way, and whether models, servers of tools and platforms
    answer: a model is asked for one word. The exit code is 1 when something is gravely wrong.
    """
    from threadline.cli.examination import examine, page
    from threadline.cli.screen import say, write_json

    found = asyncio.run(examine({"database": database}, deep=deep, offline=offline))
    if as_json:
        write_json(found.as_dict())
    else:
        say(page(found))
    if not found.is_well:
        raise typer.Exit(1)
