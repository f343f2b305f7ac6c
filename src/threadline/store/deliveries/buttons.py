"""Buttons: what can be pressed under words that are owed, and how it is kept."""

import json
from collections.abc import Iterable

from threadline.core.address import Kind
from threadline.core.agent import Question
from threadline.core.approval import PermissionDuration
from threadline.core.errors import Invalid
from threadline.core.platform import Choice
from threadline.core.validation import checked_text, checked_type

MOST_CHOICES = 8
LABEL_LIMIT = 60
"""Characters."""
SAYS_LIMIT = 1000
"""Characters."""


def offer_answers(name: str, question: Question, kind: Kind) -> tuple[Choice, ...]:
    """Give the choices under a question; they name it, as another one may be asked there too.

    Leave for always is offered where one person speaks: among several most may not give it.
    """
    yes, no = Choice(label="Approve", says=f"/approve {name}"), f"/deny {name}"
    longer = []
    if question.tools:
        longer.append(_lasting("This session", name, PermissionDuration.SESSION))
    if question.tools and kind is Kind.DM:
        longer.append(_lasting("Always", name, PermissionDuration.ALWAYS))
    return (yes, *longer, Choice(label="Deny", says=no))


def _lasting(label: str, name: str, extent: PermissionDuration) -> Choice:
    return Choice(label=label, says=f"/approve {name} {extent}")


def pack_choices(choices: Iterable[Choice]) -> str | None:
    """Write choices as they are kept; None: there are none."""
    kept = [_checked(choice) for choice in choices]
    if len(kept) > MOST_CHOICES:
        raise Invalid(f"{len(kept)} choices are too many", hint=f"At most {MOST_CHOICES}")
    return json.dumps([[one.label, one.says] for one in kept]) if kept else None


def unpack_choices(kept: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
    """Return the choices that `pack_choices` wrote, from their labels and what they say."""
    return tuple(Choice(label=label, says=says) for label, says in kept)


def _checked(choice: Choice) -> Choice:
    checked_type(choice, "choice", Choice)
    if not checked_text(choice.label, "label of a choice", LABEL_LIMIT).strip():
        raise Invalid("A choice needs a label that can be read")
    checked_text(choice.says, "what a choice says", SAYS_LIMIT)
    return choice
