"""`threadline chat`: a conversation in this terminal."""

import asyncio
import sys

import typer

from threadline.cli.identity_argument import Database, Profile


def chat(database: Database = None, profile: Profile = None) -> None:
    """Talk to the agent in this terminal.

    A gateway that serves the same database answers; where there is none, this program does so
    itself. What was said is kept, also over a crash, and goes on with the next start. Lines can
    also be piped in: each of them is answered before the next one is read.
    """
    from threadline.cli.chat_loop import talk
    from threadline.config import load_config

    config = load_config({"database": database, "profile": profile})
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not asyncio.run(talk(config, is_terminal=is_terminal)):
        raise typer.Exit(1)
