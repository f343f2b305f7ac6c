"""`threadline --help` answers at once, because nothing heavy is imported before it is used."""

import json
import subprocess
import sys

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
