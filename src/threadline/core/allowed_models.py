"""Allowed models: the models that the settings name, of which everybody may choose one."""

from collections.abc import Sequence

from threadline.core.session import ModelChoice


def find_offered(written: str, offered: Sequence[str]) -> ModelChoice | None:
    """Find what is offered by its name, also without its provider where that says enough."""
    wanted = written.casefold()
    whole = [name for name in offered if name.casefold() == wanted]
    short = [name for name in offered if name.casefold().partition(":")[2] == wanted]
    found = whole[0] if whole else short[0] if len(short) == 1 else None
    return None if found is None else _choice_of(found)


def is_open(choice: ModelChoice, offered: Sequence[str]) -> bool:
    """Tell whether anybody may choose a model; where none is offered, any of them.

    It has to be one of them in every respect: the same name of another provider is another model.
    """
    return not offered or choice in map(_choice_of, offered)


def _choice_of(name: str) -> ModelChoice:
    provider, colon, model = name.partition(":")
    return ModelChoice(model=model, provider=provider) if colon else ModelChoice(model=name)
