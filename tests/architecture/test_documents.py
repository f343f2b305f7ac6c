"""Everything a user can meet is written down: words, commands, errors, events, settings."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from enum import Enum
from types import ModuleType, UnionType
from typing import Union, get_args, get_origin

import msgspec
import pydantic
import pytest
import typer.main

from tests.architecture.source import document, mentions, quotes

OWN_PAGE = "reference/*.md"
GLOSSARY = "glossary.md"

NOT_WORDS: dict[str, str] = {"ExportedLine": "what all lines of an export have in common"}
"""Public classes of the core that are no words of the domain, each with the reason."""


def core_modules() -> Iterator[ModuleType]:
    """Import every module of the core."""
    core = importlib.import_module("threadline.core")
    for info in pkgutil.walk_packages(core.__path__, "threadline.core."):
        yield importlib.import_module(info.name)


def core_classes() -> list[type]:
    """List the public classes that the core defines."""
    found = [
        value
        for module in core_modules()
        for name, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__ and not name.startswith("_")
    ]
    assert len(found) > 10
    return found


def commands(command: object, path: str) -> Iterator[str]:
    """Walk over a command of the terminal and all commands below it, as they are typed."""
    children = getattr(command, "commands", {})
    for name, child in children.items():
        if not child.hidden:
            yield from commands(child, f"{path} {name}")
    if not children:
        yield path


def settings(model: object, path: str = "") -> Iterator[str]:
    """Walk over all settings of a typed configuration, as dotted names."""
    for name, annotation in _fields(model).items():
        inner = [part for part in _parts(annotation) if _fields(part)]
        if inner:
            for part in inner:
                yield from settings(part, f"{path}{name}.")
        else:
            yield f"{path}{name}"


def test_every_word_is_in_the_glossary() -> None:
    """Every public class of the core is a word of the domain, explained in docs/glossary.md."""
    errors = importlib.import_module("threadline.core.errors")
    text = document(GLOSSARY)
    words = {c.__name__ for c in core_classes() if not issubclass(c, errors.ThreadlineError)}
    missing = sorted(word for word in words - NOT_WORDS.keys() if not mentions(text, word))

    assert not missing, f"not in docs/{GLOSSARY}: {', '.join(missing)}"


def test_no_excuse_is_left_over() -> None:
    """Whatever is excused from the glossary exists."""
    assert not NOT_WORDS.keys() - {c.__name__ for c in core_classes()}


def test_every_choice_is_documented() -> None:
    """Every value that is stored as a choice is explained, in the glossary or the reference."""
    text = document(GLOSSARY, OWN_PAGE)
    missing = [
        f"{choice.__name__} `{member.value}`"
        for choice in core_classes()
        if issubclass(choice, Enum)
        for member in choice
        if not quotes(text, str(member.value))
    ]

    assert not missing, f"not in docs/{GLOSSARY} or docs/{OWN_PAGE}: {', '.join(missing)}"


def test_every_command_of_a_chat_is_documented() -> None:
    """Every row of the command table is in the reference."""
    table = importlib.import_module("threadline.core.command").COMMANDS
    assert table
    _assert_documented([f"/{command.name}" for command in table])


def test_every_command_of_the_terminal_is_documented() -> None:
    """Every command of `threadline` is in the reference, as one types it."""
    app = importlib.import_module("threadline.cli.main").app
    typed = list(commands(typer.main.get_command(app), "threadline"))
    assert typed
    _assert_documented(typed)


def test_every_error_is_documented() -> None:
    """Every error of the family is in the reference, with what to do about it."""
    errors = importlib.import_module("threadline.core.errors")
    family = [c.__name__ for c in core_classes() if issubclass(c, errors.ThreadlineError)]
    assert len(family) > 5
    _assert_documented(family)


def test_every_event_is_documented() -> None:
    """Every kind of event that the feed can bring is in the reference."""
    kinds = importlib.import_module("threadline.core.event").EventKind
    _assert_documented([kind.value for kind in kinds])


def test_every_setting_is_documented() -> None:
    """Every setting is in the reference, by its dotted name."""
    names = list(settings(importlib.import_module("threadline.config").Config))
    assert names
    _assert_documented(names)


@pytest.mark.parametrize("plain", [True, False])
def test_settings_are_read_from_types(plain: bool) -> None:
    """The names of settings are found in structs and in pydantic's models, nested ones too."""
    inner: type
    outer: type
    if plain:
        inner = msgspec.defstruct("Inner", [("url", str)])
        outer = msgspec.defstruct("Outer", [("store", inner | None), ("name", str)])
    else:
        inner = pydantic.create_model("Inner", url=(str, ...))
        outer = pydantic.create_model("Outer", store=(inner | None, ...), name=(str, ...))

    assert list(settings(outer)) == ["store.url", "name"]


def _fields(model: object) -> dict[str, object]:
    if isinstance(model, type) and issubclass(model, pydantic.BaseModel):
        return {name: field.annotation for name, field in model.model_fields.items()}
    if isinstance(model, type) and issubclass(model, msgspec.Struct):
        return {field.name: field.type for field in msgspec.structs.fields(model)}
    return {}


def _parts(annotation: object) -> tuple[object, ...]:
    if get_origin(annotation) in {Union, UnionType}:
        return get_args(annotation)
    return (annotation,)


def _assert_documented(names: list[str]) -> None:
    text = document(OWN_PAGE)
    missing = [name for name in names if not quotes(text, name)]

    assert not missing, f"not in docs/{OWN_PAGE} (write it in backticks): {', '.join(missing)}"
