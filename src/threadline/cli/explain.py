"""`threadline explain`: why a message goes where it goes."""

import asyncio
import sys
from typing import Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, Profile

Field = Annotated[str | None, typer.Option(metavar="ID")]
Sharing = Annotated[str | None, typer.Option(metavar="member|shared")]


def explain(
    *,
    platform: Annotated[str | None, typer.Option(help="telegram, slack, local, …")] = None,
    kind: Annotated[str | None, typer.Option(metavar="dm|group|channel|thread")] = None,
    chat: Field = None,
    thread: Field = None,
    sender: Field = None,
    sender_alt: Field = None,
    account: Field = None,
    groups: Sharing = None,
    threads: Sharing = None,
    profile: Profile = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Tell why a message goes where it goes.

    The answer is its route, the session bound to it, the reset policy there, and the verdict.

    Without --platform, messages are read from standard input, one JSON object a line with the
    same names; the options given fill in what a line leaves out. One JSON answer a line.
    """
    given: dict[str, object] = {
        "platform": platform,
        "kind": kind,
        "chat": chat,
        "thread": thread,
        "sender": sender,
        "sender_alt": sender_alt,
        "account": account,
        "groups": groups,
        "threads": threads,
        "profile": profile,
    }
    if platform is None and sys.stdin.isatty():
        raise typer.BadParameter("say which platform, or give JSON lines", param_hint="--platform")
    from threadline.cli.explain_format import answer_lines, answer_one
    from threadline.config import load_config

    config = load_config({"database": database, "profile": profile})
    fields = {name: value for name, value in given.items() if value is not None}
    if platform is not None:
        asyncio.run(answer_one(config, {"kind": "dm", **fields}, as_json=as_json))
    elif asyncio.run(answer_lines(config, fields)):
        raise typer.Exit(1)
