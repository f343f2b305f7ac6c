"""`threadline init`: a first file of settings, with a word about each of them."""

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.files import require_free, write_file
from threadline.cli.screen import say
from threadline.core.errors import ConfigError

if TYPE_CHECKING:
    from threadline.cli.sample import Answers

_SECRET_FILE = "webhook.secret"  # noqa: S105 - the name of a file


def init(
    *,
    database: Annotated[
        str | None,
        typer.Option("--database", "-d", metavar="PATH|URL", help="Where everything is kept."),
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", metavar="NAME", help="Which profile.")
    ] = None,
    allow: Annotated[
        list[str],
        typer.Option("--allow", metavar="PLATFORM:ID", help="Who may speak; can be repeated."),
    ] = [],
    webhook: Annotated[
        bool | None,
        typer.Option("--webhook/--no-webhook", help="Take in signed messages over HTTP."),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65_535, help="Where the server listens.")
    ] = None,
    here: Annotated[
        bool, typer.Option("--here", help="Write ./threadline.toml, for this folder alone.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is there.")] = False,
) -> None:
    """Write a first file of settings, with a word about each of them.

    On a terminal it asks a few questions; what an option says is not asked.
    """
    from threadline.cli.sample import Answers, settings_file
    from threadline.config import FILE, FOLDER, parse_config

    folder = Path.cwd() if here else FOLDER.expanduser()
    target = folder / FILE
    require_free(str(target), force=force)
    answers = Answers(
        database=database, profile=profile, allow=tuple(allow), webhook=webhook, port=port
    )
    if not yes and sys.stdin.isatty() and sys.stdout.isatty():
        answers = _ask(answers)
    if not here:
        answers = answers.absolute()
    text = settings_file(answers, secret=folder / _SECRET_FILE)
    parse_config(text, str(target))  # so that what is written can be read
    asyncio.run(_write(target, text, with_secret=bool(answers.webhook), force=force))
    say(f"The settings are in {target}.")
    if answers.webhook:
        say(f"The key with which messages are signed is in {folder / _SECRET_FILE}.")
    say("`threadline config` shows them all, `threadline serve` starts.")


def _ask(answers: "Answers") -> "Answers":
    """Ask for what no option said."""
    from dataclasses import replace

    from threadline.config import Config

    known = Config()
    if answers.database is None:
        question = "Where shall everything be kept?"
        database = typer.prompt(question, known.database, value_proc=_checked("database"))
        answers = replace(answers, database=database)
    if answers.profile is None:
        profile = typer.prompt("Profile", known.profile, value_proc=_checked("profile"))
        answers = replace(answers, profile=profile)
    if answers.webhook is None:
        wanted = typer.confirm("Shall other programs send messages over HTTP?", default=False)
        answers = replace(answers, webhook=wanted)
    if answers.port is None and answers.webhook:
        port = typer.prompt("On which port?", known.server.port, value_proc=_port)
        answers = replace(answers, port=port)
    return answers


def _checked(key: str) -> Callable[[str], str]:
    """Judge what is said about one setting; what cannot be set is asked again."""
    from threadline.config import parse_config

    def judge(text: str) -> str:
        try:
            parse_config(f"{key} = {json.dumps(text)}", "your answer")
        except ConfigError as error:
            raise typer.BadParameter(str(error)) from None
        return text

    return judge


def _port(text: object) -> int:
    written = str(text).strip()
    if written.isascii() and written.isdigit() and 1 <= int(written[:6]) <= 65_535:
        return int(written[:6])
    raise typer.BadParameter("A port is a whole number from 1 to 65,535.")


async def _write(target: Path, text: str, *, with_secret: bool, force: bool) -> None:
    """Write the key before the settings that name it; one that is there is kept."""
    from threadline.cli.opening import make_private

    make_private(target.parent)
    key = target.parent / _SECRET_FILE
    if with_secret and not key.exists():
        await write_file(str(key), _block(secrets.token_urlsafe(32) + "\n"), force=False)
    await write_file(str(target), _block(text), force=force)


async def _block(text: str) -> AsyncIterator[bytes]:
    yield text.encode()
