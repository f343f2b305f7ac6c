"""What people install has the web app inside: they need no Node."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from tests.architecture.source import ROOT
from threadline.web.spa import BUILT


def test_the_wheel_has_the_web_app(tmp_path: Path) -> None:
    """A wheel has every file of the app that was built, the queries, and nothing of its source."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*command, "--directory", str(tmp_path)], cwd=ROOT, check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())

    built = {f"threadline/web/built/{path.relative_to(BUILT).as_posix()}" for path in _files()}
    assert "threadline/web/built/index.html" in built
    assert built <= names
    assert not [name for name in names if "node_modules" in name or name.endswith(".svelte")]


def _files() -> list[Path]:
    return [path for path in BUILT.rglob("*") if path.is_file()]
