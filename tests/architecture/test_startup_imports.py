"""`threadline --help` answers at once, because nothing heavy is imported before it is used."""

import json
import subprocess
import sys

import threadline

HEAVY = {
    "aiohttp",
    "apsw",
    "fastapi",
    "matplotlib",
    "numpy",
    "prompt_toolkit",
    "psycopg",
    "pydantic",
    "sqlite3",
    "uvicorn",
}
ASK_FOR_HELP = """
import json, sys
from threadline.cli.main import main
sys.argv = ["threadline", "--help"]
try:
    main()
except SystemExit as done:
    code = done.code
else:
    code = 0
print()
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def test_help_imports_nothing_heavy() -> None:
    """Databases, validation and prompts are imported by the commands that use them."""
    answer = subprocess.run(
        [sys.executable, "-c", ASK_FOR_HELP], capture_output=True, text=True, check=True
    )
    code, imported = json.loads(answer.stdout.splitlines()[-1])

    assert not code
    assert "Usage" in answer.stdout
    assert not HEAVY & set(imported), "import these where they are used, not at the top"


def test_the_package_is_imported_for_nothing() -> None:
    """Its names are found when they are asked for, as every part of it imports the package."""
    program = "import json, sys, threadline; print(json.dumps(sorted(sys.modules)))"
    imported = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    found = {name for name in json.loads(imported.stdout) if name.startswith("threadline")}
    assert found == {"threadline"}
    assert {name for name in threadline.__all__ if not hasattr(threadline, name)} == set()


def test_a_gateway_without_visitors_loads_no_api() -> None:
    """What serves a gateway is there without the API, which is loaded when it is asked for."""
    program = (
        "import json, sys, threadline.cli.server_process; print(json.dumps(sorted(sys.modules)))"
    )
    imported = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert not {"fastapi", "threadline.web.resources.app"} & set(json.loads(imported.stdout))
