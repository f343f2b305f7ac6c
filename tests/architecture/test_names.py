"""Names say what a thing is: no word stands for nothing."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, modules, sample

EMPTY = {"manager", "managers", "helper", "helpers", "util", "utils", "handler", "handlers"}
FIELD_WORDS = {"formatting", "pairing", "polling", "splitting", "tracing"}
PATTERNS = (re.compile(r"get_or_create"), re.compile(r"_locked$"), re.compile(r"_v\d+$"))


def words(name: str) -> list[str]:
    """Take a name apart: `SessionManager` and `session_manager` are session, manager."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", name)
    return spaced.lower().split()


def defined(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Walk over all names that the module gives: its own, classes, functions, arguments, values."""
    yield module.tree, module.path.stem
    for node in ast.walk(module.tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node, node.name
            case ast.arg():
                yield node, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node, node.id
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
                yield node, node.attr
            case _:
                pass


def empty_names(module: Module) -> list[str]:
    """Name the places where a name hides what it stands for."""
    found = []
    for node, name in defined(module):
        parts = words(name)
        a_base = isinstance(node, ast.ClassDef | ast.Module) and "base" in parts[:1] + parts[-1:]
        if a_base or EMPTY & set(parts) or any(p.search(name) for p in PATTERNS):
            found.append(f"{module.at(node)}: {name}")
    return found


def doubled_names(module: Module) -> list[str]:
    """Name the fields that repeat the name of their class: `session.session_id`."""
    return [
        f"{module.at(field)}: {node.name}.{field.target.id}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if field.target.id.startswith("_".join(words(node.name)) + "_")
    ]


def test_no_module_is_a_gerund() -> None:
    """A module is named by a noun: only words of the field may end in -ing."""
    found = {
        str(module)
        for module in modules("src")
        if module.path.stem.endswith("ing") and module.path.stem not in FIELD_WORDS
    }

    assert not found, "name them by a noun:\n" + "\n".join(sorted(found))


def test_no_two_classes_share_a_name() -> None:
    """One name means one thing in the whole package."""
    places: dict[str, list[str]] = {}
    for module in modules("src"):
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module.at(node))

    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_no_name_is_empty() -> None:
    """Never Manager, Helper, Utils, Base, Handler, get_or_create, _locked or _v2."""
    found = [offence for module in modules("src") for offence in empty_names(module)]

    assert not found, "say what it is or does instead:\n" + "\n".join(found)


def test_no_field_repeats_its_class() -> None:
    """It is `session.id`, not `session.session_id`."""
    found = [offence for module in modules("src") for offence in doubled_names(module)]

    assert not found, "the class says it already:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "class SessionManager: ...",
        "class BaseStore: ...",
        "class StoreBase: ...",
        "def helper(): ...",
        "async def get_or_create_session(): ...",
        "def claim_locked(tx): ...",
        "route_v2 = 1",
        "def on(event_handler): ...",
        "self.url_utils = 1",
    ],
)
def test_empty_names_are_found(code: str) -> None:
    """Each of the words that stand for nothing is found, wherever a name is given."""
    assert len(empty_names(sample(code))) == 1


@pytest.mark.parametrize(
    "code", ["base_id = 1", "class Database: ...", "logging.Handler()", "theirs.accept_handler = 1"]
)
def test_honest_names_pass(code: str) -> None:
    """A word inside another word, a field about a base, and other people's names are right."""
    assert not empty_names(sample(code))


def test_doubled_names_are_found() -> None:
    """`Session.session_id` is found; an id of something else is right."""
    assert doubled_names(sample("class Session:\n    session_id: int\n    turn_id: int")) == [
        "src/threadline/core/sample.py:2: Session.session_id"
    ]
