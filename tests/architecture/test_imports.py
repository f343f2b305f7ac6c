"""Every room touches only what it may touch."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from typing import Any

import pytest

from tests.architecture.source import PACKAGE, ROOT, Module, modules, sample

ADAPTERS = ("agents", "importers", "platforms")
OUTSIDE = re.compile(
    r"(asyncio|io|logging|os|pathlib|shutil|socket|sqlite3|subprocess|tempfile|threading"
    r"|multiprocessing|urllib\.request|http)\b"
)
"""Files, networks, threads: what the core has no business with."""

CHANCE = re.compile(r"(random|secrets|time)\b|uuid\.uuid[14]$|os\.urandom$")
CLOCK = re.compile(r"\b(datetime|date)\.(now|utcnow|today)$|\btime\.\w+$|\buuid\.uuid[14]$")


def strangers(module: Module) -> list[str]:
    """Name what a module of the core imports beside the core, msgspec and pure modules."""
    return [
        f"{module.at(node)}: {name}"
        for node, name in module.imports()
        if not name.startswith("threadline.core.")
        and name.split(".")[0] != "msgspec"
        and (name.split(".")[0] not in sys.stdlib_module_names or OUTSIDE.match(name))
    ]


def hidden_inputs(module: Module) -> list[str]:
    """Name the places where time or chance come in by another way than as an argument."""
    found = [module.at(node) for node, name in module.imports() if CHANCE.match(name)]
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    return found + [module.at(call) for call in calls if CLOCK.search(ast.unparse(call.func))]


def front_doors(module: Module) -> list[str]:
    """Name the places where a room uses the package's front door instead of another room's."""
    rooms = {path.stem for path in PACKAGE.iterdir()}
    return [
        f"{module.at(node)}: {name}"
        for node, name in module.imports()
        if name == "threadline"
        or (name.startswith("threadline.") and name.split(".")[1] not in rooms)
    ]


def project() -> dict[str, Any]:
    """Read pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_contracts_are_kept() -> None:
    """Imports point downward, neighbours are strangers, and no verb knows its database."""
    # In a process of its own, as it silences every log that is there before it.
    lint = (
        "import sys; from importlinter.cli import lint_imports as lint; sys.exit(lint(no_cache=1))"
    )
    done = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, check=False)

    assert done.returncode == 0, done.stdout.decode()


def test_every_adapter_is_under_contract() -> None:
    """Each room of adapters that exists stands in the contract that lets it know only core."""
    contracts = {c["name"]: c for c in project()["tool"]["importlinter"]["contracts"]}
    bound = set(contracts["Adapters know only core"]["source_modules"])
    there = {f"threadline.{name}" for name in ADAPTERS if (PACKAGE / name).exists()}

    assert there
    assert there <= bound


def test_every_dependency_is_declared_and_used() -> None:
    """What the package imports of others is what pyproject.toml asks for, no more and no less."""
    declared = project()["project"]
    lines = [*declared["dependencies"], *chain(*declared["optional-dependencies"].values())]
    wanted = {_plain(line) for line in lines if "sys_platform" not in line}
    owners = packages_distributions()
    tops = {name.split(".")[0] for module in modules("src") for _, name in module.imports()}
    # Several packages share a namespace: the one counts that was asked for, if one was.
    possible = [{_plain(name) for name in owners.get(top, [top])} for top in tops]
    used = {min(names & wanted or names) for names in possible} - sys.stdlib_module_names

    assert used - {"threadline"} == wanted


def test_core_needs_only_the_standard_library_and_msgspec() -> None:
    """The core imports itself, msgspec and pure modules of Python: no I/O, no threads."""
    found = [place for module in modules("src/threadline/core") for place in strangers(module)]

    assert not found, "not for the core:\n" + "\n".join(found)


def test_time_and_chance_are_arguments() -> None:
    """The core and the verbs never look at a clock or throw dice; the transaction has both."""
    found = [
        place
        for module in modules("src/threadline/core", "src/threadline/store")
        for place in hidden_inputs(module)
    ]

    assert not found, "use `tx.now` and `tx.new_id()`:\n" + "\n".join(found)


def test_no_room_uses_the_front_door() -> None:
    """`from threadline import open` is for users; inside, a name comes from where it lives."""
    found = [place for module in modules("src") for place in front_doors(module)]

    assert not found, "import from the module that defines it:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "import apsw",
        "from pathlib import Path",
        "from threadline.database import port",
        "from urllib.request import urlopen",
    ],
)
def test_strangers_in_core_are_found(code: str) -> None:
    """Packages of others, other rooms and I/O are found."""
    assert len(strangers(sample(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "from datetime import UTC, datetime\nat = datetime.now(UTC)",
        "import random",
        "from uuid import uuid4",
        "import datetime as dt\nat = dt.datetime.now(dt.UTC)",
    ],
)
def test_hidden_inputs_are_found(code: str) -> None:
    """Every way to look at a clock or to throw dice is found."""
    assert hidden_inputs(sample(code))


def test_front_doors_are_found() -> None:
    """The package's own name is found; a room's name is right."""
    assert front_doors(sample("import threadline"))
    assert front_doors(sample("from threadline import open"))
    assert not front_doors(sample("from threadline import core\nimport threadline.core.validation"))


def _plain(requirement: str) -> str:
    name = re.split(r"[^\w.-]", requirement)[0]
    return re.sub(r"[-_.]+", "-", name).lower()
