"""Tests tell a story, and fake nothing behind anybody's back."""

import ast

import pytest

from tests.architecture.source import Module, modules, sample

_METHODS = ("delete", "get", "head", "options", "patch", "post", "put", "request", "stream")
_CLIENTS = {f"httpx.{name}" for name in ("AsyncClient", "Client", *_METHODS)}


def silent_tests(module: Module) -> list[str]:
    """Name the tests whose docstring is missing or is no sentence."""
    return [
        f"{module.at(function)}: {function.name}"
        for function in module.functions()
        if function.name.startswith("test_")
        and not (ast.get_docstring(function) or "").endswith((".", "!", "?"))
    ]


def patches(module: Module) -> list[str]:
    """Name the places where a test patches the code instead of giving it a fake."""
    found = [module.at(node) for node, name in module.imports() if "mock" in name.split(".")]
    for function in module.functions():
        arguments = [*function.args.args, *function.args.kwonlyargs]
        found += [module.at(argument) for argument in arguments if argument.arg == "mocker"]
    return found


def hasty_clients(module: Module) -> list[str]:
    """Name the HTTP clients that wait for a server no longer than httpx does by itself."""
    found = []
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in _CLIENTS:
            continue
        given = {one.arg: ast.unparse(one.value) for one in node.keywords}
        # A transport calls the app itself, and knows no timeouts.
        if "transport" not in given and "HANG_SECONDS" not in given.get("timeout", ""):
            found.append(module.at(node))
    return found


def test_every_test_has_a_sentence() -> None:
    """Every test says in a sentence what is so; a reader learns the product from them."""
    found = [offence for module in modules("tests", "src") for offence in silent_tests(module)]

    assert not found, "tests without a sentence as docstring:\n" + "\n".join(found)


def test_nothing_is_patched() -> None:
    """Fakes are written by hand; nobody imports mock."""
    found = [offence for module in modules("tests", "src") for offence in patches(module)]

    assert not found, "write a fake by hand:\n" + "\n".join(found)


def test_clients_wait_on_a_busy_machine() -> None:
    """An HTTP client in a test waits for a server until it must have hung."""
    found = [offence for module in modules("tests") for offence in hasty_clients(module)]

    assert not found, "pass timeout=HANG_SECONDS:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    ["def test_a(): ...", "async def test_a():\n  'no stop'", "class T:\n  def test_a(self): ..."],
)
def test_silent_tests_are_found(code: str) -> None:
    """A test without docstring, or with one that is no sentence, is found."""
    assert len(silent_tests(sample(code))) == 1


@pytest.mark.parametrize(
    "code",
    ["from unittest import mock", "from unittest.mock import patch", "def test_a(mocker): ..."],
)
def test_patches_are_found(code: str) -> None:
    """Every door to patching is found."""
    assert len(patches(sample(code))) == 1


@pytest.mark.parametrize(
    "code",
    ["httpx.get(url)", "httpx.AsyncClient(base_url=url)", "httpx.Client(timeout=30)"],
)
def test_hasty_clients_are_found(code: str) -> None:
    """A client with the default timeout of five seconds, or with a number, is found."""
    assert len(hasty_clients(sample(code))) == 1
