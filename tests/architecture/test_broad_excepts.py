"""Failures are caught where they become a recorded state, and nowhere else."""

import ast

import pytest

from tests.architecture.source import PACKAGE, Module, modules, sample

BOUNDARIES = {
    "agents/model/model_call.py": "what a provider's package raises is told, or tried again",
    "agents/model/tools.py": "a tool's failure becomes the result that its model is told",
    "agents/model/pydantic_ai_adapter.py": "what a user's agent raises fails its turn",
    "agents/python.py": "what a user's module raises becomes a setting that cannot be used",
    "agents/model/one_shot.py": "a model's failure becomes the sentence that its scribe raises",
    "agents/model/mcp_client.py": "an MCP server's failure answers a call, or is logged",
    "core/errors.py": "an error that cannot say what it is becomes the sentence that is recorded",
    "gateway/platform_supervisor.py": "a platform's failure becomes its recorded state",
    "gateway/user_callables.py": "what a user's function raises answers its caller",
    "gateway/summary_writer.py": "a summarizer's failure is told or recorded",
    "gateway/scheduler.py": "a job that cannot be started gets a run that says why",
    "gateway/typing_indicator.py": "a platform's failure to show typing becomes a longer pause",
    "gateway/platform_call.py": "a platform's failure becomes the outcome of a delivery",
    "gateway/worker.py": "a turn's failure becomes the state of the turn",
    "store/sessions/endings.py": "a hook's failure becomes the recorded state of its ending",
    "database/thread_calls.py": "what no caller could be told becomes an error that it can",
    "database/postgres/workers.py": "a verb's or query's failure becomes the answer to its caller",
    "database/sqlite/readers.py": "a query's failure becomes the answer to its caller",
    "database/sqlite/writer.py": "a batch's failure becomes the answer to its callers",
    "web/request_limits.py": "a request's failure becomes the answer to its caller",
}
BROAD = {"Exception", "BaseException"}


def broad_catches(module: Module) -> list[str]:
    """Name the places that catch every failure; one that tidies up and raises it does not."""
    found = []
    for node in ast.walk(module.tree):
        match node:
            case ast.ExceptHandler(body=[*_, ast.Raise(exc=None)]):
                pass
            case ast.ExceptHandler(type=None):
                found.append(module.at(node))
            case ast.ExceptHandler(type=ast.expr() as caught) if _names(caught) & BROAD:
                found.append(module.at(node))
            case ast.Call(func=function, args=args) if ast.unparse(function).endswith("suppress"):
                found += [module.at(node)] * bool(set().union(*map(_names, args)) & BROAD)
            case _:
                pass
    return found


def test_broad_catches_stand_at_boundaries() -> None:
    """A broad `except` stands only where a failure becomes a recorded state."""
    found = [
        place
        for module in modules("src")
        if module.path.relative_to(PACKAGE).as_posix() not in BOUNDARIES
        for place in broad_catches(module)
    ]

    assert not found, "catch what you expect, or make it a boundary:\n" + "\n".join(found)


def test_every_boundary_is_one() -> None:
    """The list of boundaries holds no module that is gone, or that no longer needs to be on it."""
    catching = {
        module.path.relative_to(PACKAGE).as_posix()
        for module in modules("src")
        if broad_catches(module)
    }

    assert not BOUNDARIES.keys() - catching


@pytest.mark.parametrize(
    "code",
    [
        "try: ...\nexcept: ...",
        "try: ...\nexcept Exception: ...",
        "try: ...\nexcept (ValueError, BaseException) as error: raise Other from error",
        "with contextlib.suppress(Exception): ...",
    ],
)
def test_broad_catches_are_found(code: str) -> None:
    """Every way to catch everything is found."""
    assert len(broad_catches(sample(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "try: ...\nexcept (KeyError, ValueError): ...",
        "try: ...\nexcept BaseException:\n    file.close()\n    raise",
    ],
)
def test_other_catches_pass(code: str) -> None:
    """Catching what one expects is right everywhere, and so is tidying up on the way out."""
    assert not broad_catches(sample(code))


def _names(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
