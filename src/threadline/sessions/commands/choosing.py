"""The command that chooses: model."""

from threadline.core.errors import Invalid, Refused
from threadline.core.rank import Rank
from threadline.core.session import ModelChoice
from threadline.core.text import clean_title
from threadline.sessions import choices, views
from threadline.sessions.commands.ask import Ask, Reply

_DEFAULT = "default"


def model(ask: Ask) -> Reply:
    """Show or choose the model of this conversation."""
    id = ask.must_be_here()
    if not ask.argument:
        return Reply(text=_shown(views.read_session(ask.tx, id).choice))
    choice = None if ask.argument.lower() == _DEFAULT else _read(ask)
    choices.choose_model(ask.tx, id, choice, now=ask.now)
    return Reply(text=_shown(choice))


def _read(ask: Ask) -> ModelChoice:
    """Read `name`, `provider:name`, and perhaps the address of a server after it."""
    if clean_title(ask.argument, len(ask.argument)) != " ".join(ask.argument.split()):
        raise Invalid("The name of a model has signs in it that nobody can see")
    name, *rest = ask.argument.split()
    if len(rest) > 1:
        raise Invalid("A model has one name", hint="/model provider:name, or /model default")
    if rest and not ask.rank.may(Rank.ADMIN):
        # Whoever chooses the server gets to see the credentials that are sent there.
        raise Refused("Only an admin may choose the server of a model")
    provider, colon, model = name.partition(":")
    base_url = rest[0] if rest else None
    if not colon:
        return ModelChoice(model=name, base_url=base_url)
    if not provider or not model:
        raise Invalid("A provider and a model stand on the two sides of a colon")
    return ModelChoice(model=model, provider=provider, base_url=base_url)


def _shown(choice: ModelChoice | None) -> str:
    if choice is None:
        return "This conversation uses the model of the configuration."
    of = f" of {choice.provider}" if choice.provider else ""
    at = f" at {choice.base_url}" if choice.base_url else ""
    return f"This conversation uses {choice.model}{of}{at}. /model default takes that back."
