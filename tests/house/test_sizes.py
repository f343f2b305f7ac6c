"""Modules and functions stay small enough to be read at once."""

from tests.house.source import Module, modules, sample

MODULE_LINES = 400
FUNCTION_LINES = 50


def too_long(module: Module) -> list[str]:
    """Name the module and its functions that have too many lines."""
    found = []
    lines = len(module.text.splitlines())
    if lines > MODULE_LINES:
        found.append(f"{module}: {lines} lines")
    for function in module.functions():
        lines = (function.end_lineno or 0) - function.lineno + 1
        if lines > FUNCTION_LINES:
            found.append(f"{module.at(function)}: {function.name} has {lines} lines")
    return found


def test_modules_and_functions_are_short() -> None:
    """No module has more than 400 lines, and no function more than 50."""
    found = [offence for module in modules("src", "tests") for offence in too_long(module)]

    assert not found, "too long:\n" + "\n".join(found)


def test_long_ones_are_found() -> None:
    """A function of 51 lines is found, and so is a module of 401; one line less is right."""
    assert too_long(sample("def f():\n" + "    pass\n" * 50)) == [
        "src/threadline/core/sample.py:1: f has 51 lines"
    ]
    assert too_long(sample("x = 1\n" * 401)) == ["src/threadline/core/sample.py: 401 lines"]
    assert not too_long(sample("def f():\n" + "    pass\n" * 49 + "x = 1\n" * 350))
