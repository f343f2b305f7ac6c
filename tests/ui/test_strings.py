"""The words of the app: nothing that can be set is left without a name."""

import re
from pathlib import Path

from threadline.config import Config
from threadline.config.setting_list import list_settings

FACTS = Path(__file__).parents[2] / "ui" / "src" / "strings" / "setting_names.ts"


def test_every_setting_has_a_name_on_screen() -> None:
    """Else a new one would be called after its key, without a word about what it does."""
    named = set(re.findall(r'^  "?([\w.*]+)"?: "', FACTS.read_text(), re.MULTILINE))
    known = {setting.key for setting in list_settings(Config())}

    assert known - named == set()
    assert {key for key in named - known if "*" not in key} == set()
