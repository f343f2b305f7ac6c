import os
from pathlib import Path

import pytest

from threadline.config.provider_section import KNOWN


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a home of its own, and the working directory there."""
    keys = {variable for known in KNOWN.values() for variable in known.variables}
    for name in [name for name in os.environ if name.startswith("THREADLINE_") or name in keys]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
