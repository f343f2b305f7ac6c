"""Init prompts: what `threadline init` asks at a terminal, each until its answer can be used."""

import json
import re
from collections.abc import Callable

import typer
from msgspec.structs import replace

from threadline.cli.config_template import InitAnswers
from threadline.config import DEFAULT, PREFIX, parse_config
from threadline.config.provider_section import KNOWN
from threadline.core.errors import ConfigError, Invalid

NOBODY = "echo"
"""The answer of whoever has no model yet."""
_USUAL = {
    "openai": "gpt-5.1",
    "anthropic": "claude-sonnet-5",
    "google": "gemini-2.5-flash",
    "openrouter": "anthropic/claude-sonnet-5",
    "ollama": "qwen3:8b",
}
"""The providers that are offered, each with a model to begin with."""
_TOKEN = "TELEGRAM_TOKEN"  # noqa: S105 - the name of a variable
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def ask_all(answers: InitAnswers) -> InitAnswers:
    """Ask for what no option said."""
    known = parse_config("", DEFAULT)
    if answers.database is None:
        question = "Where shall everything be kept?"
        database = typer.prompt(question, known.database, value_proc=_checked("database"))
        answers = replace(answers, database=database)
    if answers.profile is None:
        profile = typer.prompt("Profile", known.profile, value_proc=_checked("profile"))
        answers = replace(answers, profile=profile)
    if answers.model is None:
        answers = replace(answers, model=_ask_model())
    if answers.telegram is None:
        answers = replace(answers, telegram=_ask_telegram())
    if answers.webhook is None:
        wanted = typer.confirm("Shall other programs send messages over HTTP?", default=False)
        answers = replace(answers, webhook=wanted)
    if answers.port is None and answers.webhook:
        port = typer.prompt("On which port?", known.server.port, value_proc=_port)
        answers = replace(answers, port=port)
    return answers


def _ask_model() -> str | None:
    """Ask who answers, and with which model; None: nobody yet."""
    question = f"Who shall answer? {NOBODY} (needs no key), {', '.join(_USUAL)}"
    said: str = typer.prompt(question, NOBODY, value_proc=_provider)
    if said == NOBODY or ":" in said:
        return None if said == NOBODY else said
    judge = _checked("agent.model")

    def judge_model(text: str) -> str:
        return judge(f"{said}:{text.strip().removeprefix(f'{said}:')}")

    model: str = typer.prompt("Which of its models?", _USUAL.get(said), value_proc=judge_model)
    return model


def _provider(text: str) -> str:
    said = text.strip()
    if said.lower() in {NOBODY, *KNOWN}:
        return said.lower()
    if ":" in said:
        return _checked("agent.model")(said)
    offered = ", ".join((NOBODY, *KNOWN))
    raise typer.BadParameter(f"It is one of {offered}, or a model such as openai:gpt-5.1.")


def _ask_telegram() -> str | None:
    """Ask for the variable with the token of a bot; None: there is no bot."""
    if not typer.confirm("Shall a Telegram bot answer?", default=False):
        return None

    def judge(text: str) -> str:
        try:
            return checked_variable(text)
        except Invalid as error:
            raise typer.BadParameter(str(error)) from None

    question = "Which variable holds the token that BotFather gave you?"
    said: str = typer.prompt(question, _TOKEN, value_proc=judge)
    return said


def checked_variable(text: str) -> str:
    """Take the name of a variable; what may be the secret itself is not repeated."""
    said = text.strip()
    if not _VARIABLE.fullmatch(said):
        hint = "Put the token into it, such as TELEGRAM_TOKEN, and say its name here"
        raise Invalid("This is no name of a variable", hint=hint)
    if said.startswith(PREFIX):
        raise Invalid(
            "A variable with a secret cannot be called so",
            id=said,
            hint=f"Variables that begin with {PREFIX} are settings",
        )
    return said


def _checked(key: str) -> Callable[[str], str]:
    """Judge what is said about one setting; what cannot be set is asked again."""

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
