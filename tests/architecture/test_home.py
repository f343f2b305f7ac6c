"""The home of whoever runs the tests: none of them looks or writes there."""

from pathlib import Path

import pytest

from threadline.config import data_folder
from threadline.database.installation_secret import secret_file


def test_every_test_is_at_home_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Settings, secrets and what is written are in a folder of the tests."""
    base = tmp_path_factory.getbasetemp()
    for place in (Path.home(), data_folder(), secret_file("postgresql://here/threadline")):
        assert place.is_relative_to(base)
