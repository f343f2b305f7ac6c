"""Model: model."""

from collections.abc import Sequence

from threadline.core.access_level import AccessLevel
from threadline.core.allowed_models import find_offered
from threadline.core.errors import Invalid, Refused
from threadline.core.platform import Choice
from threadline.core.session import ModelChoice
from threadline.core.validation import clean_title
from threadline.store import queries
from threadline.store.commands.context import CommandContext, CommandReply
from threadline.store.deliveries.buttons import LABEL_LIMIT, MOST_CHOICES
from threadline.store.sessions import session_settings

LISTED = 20
"""Models that a list in a chat shows."""
_DEFAULT = "default"


def model(ask: CommandContext) -> CommandReply:
    """Show or choose the model of this conversation."""
    id = ask.must_be_here()
    if not ask.argument:
        return _offer(queries.read_session(ask.tx, id).choice, ask.tx.settings.models)
    choice = None if ask.argument.lower() == _DEFAULT else _read(ask)
    session_settings.set_choice(ask.tx, id, session_settings.set_model(choice))
    return CommandReply(text=_shown(choice))


def _offer(choice: ModelChoice | None, offered: Sequence[str]) -> CommandReply:
    """Say which model is used, and from which others one may choose."""
    if not offered:
        return CommandReply(text=_shown(choice))
    used = None if choice is None else _written(choice)
    lines = [f"- {name}{' · in use' if name == used else ''}" for name in offered[:LISTED]]
    if len(offered) > LISTED:
        lines.append(f"… and {len(offered) - LISTED:,} more")
    others = [name for name in offered if name != used]
    if used is not None:
        others = [_DEFAULT, *others]
    return CommandReply(
        text="\n".join([_shown(choice), "To choose from:", *lines, "/model and a name takes one."]),
        choices=tuple(
            Choice(label=clean_title(name, LABEL_LIMIT), says=f"/model {name}")
            for name in others[:MOST_CHOICES]
        ),
    )


def _written(choice: ModelChoice) -> str:
    return f"{choice.provider}:{choice.model}" if choice.provider else choice.model


def _read(ask: CommandContext) -> ModelChoice:
    """Read the name of a model; where some are offered, only an admin may choose another one."""
    offered = find_offered(ask.argument, ask.tx.settings.models)
    if offered is not None:
        return offered
    if ask.tx.settings.models and not ask.rank.may(AccessLevel.ADMIN):
        raise Refused("This model is not offered here", hint="/model lists those that are")
    return _read_free(ask)


def _read_free(ask: CommandContext) -> ModelChoice:
    """Read `name`, `provider:name`, and perhaps the address of a server after it."""
    if clean_title(ask.argument, len(ask.argument)) != " ".join(ask.argument.split()):
        raise Invalid("The name of a model cannot contain invisible characters")
    name, *rest = ask.argument.split()
    if len(rest) > 1:
        raise Invalid("A model has one name", hint="/model provider:name, or /model default")
    if rest and not ask.rank.may(AccessLevel.ADMIN):
        # Whoever chooses the server gets to see the credentials that are sent there.
        raise Refused("Only an admin may choose the server of a model")
    provider, colon, model = name.partition(":")
    base_url = rest[0] if rest else None
    if not colon:
        return ModelChoice(model=name, base_url=base_url)
    if not provider or not model:
        raise Invalid("Write a provider, a colon and a model")
    return ModelChoice(model=model, provider=provider, base_url=base_url)


def _shown(choice: ModelChoice | None) -> str:
    if choice is None:
        return "This conversation uses the model of the configuration."
    of = f" of {choice.provider}" if choice.provider else ""
    at = f" at {choice.base_url}" if choice.base_url else ""
    return f"This conversation uses {choice.model}{of}{at}. /model default takes that back."
