"""`threadline doctor`: whether everything is well."""

import asyncio
from typing import Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database


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
    from threadline.cli.doctor_checks import render_checks, run_checks
    from threadline.cli.output import show_text, write_json

    found = asyncio.run(run_checks({"database": database}, deep=deep, offline=offline))
    if as_json:
        write_json(found.as_dict())
    else:
        show_text(render_checks(found))
    if not found.is_well:
        raise typer.Exit(1)
