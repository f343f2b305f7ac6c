"""The compiler of TypeScript, as the lock file of `ui/` pins it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from threadline.testing.deadline import HANG_SECONDS

UI = ROOT / "ui"
_COMPILER = UI / "node_modules" / "typescript" / "bin" / "tsc"


def compile_into(folder: Path, source: Path) -> str:
    """Compile what lies in a folder, by the settings of `ui/`; answer what is wrong with it."""
    settings = {
        "extends": str(UI / "tsconfig.json"),
        "compilerOptions": {"noEmit": False, "outDir": str(folder), "rootDir": str(source)},
        "include": [str(source)],
    }
    config = source / "tsconfig.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    return _run(_node(), str(_COMPILER), "--project", str(config)).stdout


def run_compiled(script: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run what was compiled."""
    return _run(_node(), str(script), *arguments)


def _node() -> str:
    node = shutil.which("node")
    if node is None or not _COMPILER.exists():
        pytest.skip("no compiler of TypeScript here: `make setup` brings it where Node is")
    return node


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=HANG_SECONDS
    )
