"""`threadline init`: a first file of settings, with a word about each of them."""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.files import require_free, write_private_file
from threadline.cli.output import show_text

if TYPE_CHECKING:
    from threadline.cli.config_template import InitAnswers

_SECRET_FILE = "webhook.secret"  # noqa: S105 - the name of a file


Where = Annotated[
    str | None,
    typer.Option("--database", "-d", metavar="PATH|URL", help="Where everything is kept."),
]
InProfile = Annotated[
    str | None, typer.Option("--profile", "-p", metavar="NAME", help="Which profile.")
]
Allow = Annotated[
    list[str],
    typer.Option("--allow", metavar="PLATFORM:ID", help="Who may speak; can be repeated."),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="PROVIDER:MODEL", help="Who answers, as openai:gpt-5.1."),
]
Telegram = Annotated[
    str | None,
    typer.Option("--telegram", metavar="VARIABLE", help="The variable with a bot's token."),
]
Webhook = Annotated[
    bool | None,
    typer.Option("--webhook/--no-webhook", help="Take in signed messages over HTTP."),
]
Port = Annotated[
    int | None, typer.Option("--port", min=1, max=65_535, help="Where the server listens.")
]


def init(
    *,
    database: Where = None,
    profile: InProfile = None,
    allow: Allow = [],
    model: Model = None,
    telegram: Telegram = None,
    webhook: Webhook = None,
    port: Port = None,
    here: Annotated[
        bool, typer.Option("--here", help="Write ./threadline.toml, for this folder alone.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is there.")] = False,
) -> None:
    """Write a first file of settings, with a word about each of them.

    On a terminal it asks a few questions; what an option says is not asked.
    """
    from threadline.cli.config_template import InitAnswers, settings_file
    from threadline.cli.init_prompts import ask_all, checked_variable
    from threadline.config import FILE, data_folder, parse_config

    folder = Path.cwd() if here else data_folder()
    target = folder / FILE
    require_free(str(target), force=force)
    answers = InitAnswers(
        database=database,
        profile=profile,
        allow=tuple(allow),
        model=model,
        telegram=None if telegram is None else checked_variable(telegram),
        webhook=webhook,
        port=port,
    )
    if not yes and sys.stdin.isatty() and sys.stdout.isatty():
        answers = ask_all(answers)
    if not here:
        answers = answers.absolute()
    text = settings_file(answers, secret=folder / _SECRET_FILE)
    parse_config(text, str(target))  # so that what is written can be read
    asyncio.run(_write(target, text, with_secret=bool(answers.webhook), force=force))
    _tell(target, answers)


def _tell(target: Path, answers: "InitAnswers") -> None:
    """Say what was written, and what is to be done before the start."""
    show_text(f"The settings are in {target}.")
    if answers.webhook:
        show_text(f"The key with which messages are signed is in {target.parent / _SECRET_FILE}.")
    for variable in _missing(answers):
        show_text(f"Set the variable {variable} before you start.")
    show_text(
        "`threadline config` shows them, `threadline doctor` tries them, `threadline serve` starts."
    )


def _missing(answers: "InitAnswers") -> list[str]:
    """Name the variables that must hold a secret, and that are not set here."""
    from threadline.config.provider_section import KNOWN

    known = KNOWN.get((answers.model or "").partition(":")[0])
    usual = known.variables if known and known.asks_for_key else ()
    missing = list(usual[:1]) if not any(os.environ.get(one) for one in usual) else []
    if answers.telegram and not os.environ.get(answers.telegram):
        missing.append(answers.telegram)
    return missing


async def _write(target: Path, text: str, *, with_secret: bool, force: bool) -> None:
    """Write the key before the settings that name it; one that is there is kept."""
    from threadline.cli.store_opener import make_private

    make_private(target.parent)
    key = target.parent / _SECRET_FILE
    if with_secret and not key.exists():
        await write_private_file(str(key), _block(secrets.token_urlsafe(32) + "\n"), force=False)
    await write_private_file(str(target), _block(text), force=force)


async def _block(text: str) -> AsyncIterator[bytes]:
    yield text.encode()
