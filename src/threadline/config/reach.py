"""Reach: which settings may be changed from afar, and which only at the machine itself."""

from collections.abc import Mapping
from pathlib import Path

from threadline.config.layers import leaves
from threadline.core.errors import Refused
from threadline.core.reach import is_machine_own

_AT_HOME = frozenset({"command", "python", "environment", "folder"})
"""What decides which programs run here, and with what: somebody's login is no shell."""
_TABLES_AT_HOME = frozenset({"database", "hooks"})
_FROM_FILE = "file:"


def require_near(changes: Mapping[str, object], folder: Path) -> None:
    """Refuse changes from afar that would run a program here, or read a file outside a folder."""
    for key, value in leaves(dict(changes)):
        if not is_remote(key):
            hint = f"Run: threadline config set {key} …"
            raise Refused("This setting is changed at the machine itself", id=key, hint=hint)
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, str) and one.startswith(_FROM_FILE):
                _require_inside(key, one.removeprefix(_FROM_FILE), folder)
            if isinstance(one, str) and is_machine_own(one):
                hint = f"If it is meant, run: threadline config set {key} …"
                raise Refused("This is an address of the machine's own", id=key, hint=hint)


def is_remote(key: str) -> bool:
    """Tell whether a setting may be changed from afar."""
    names = key.split(".")
    if names[0] in _TABLES_AT_HOME:
        return False
    return names[0] == "platforms" or _AT_HOME.isdisjoint(names)


def _require_inside(key: str, path: str, folder: Path) -> None:
    """Refuse any other file of this machine: what it holds would be sent to somebody as a key."""
    try:
        place = (folder / Path(path).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):
        place = Path("/")
    if not place.is_relative_to(folder.resolve()):
        hint = f"Put it into {folder}, or change the setting at the machine itself"
        raise Refused("This setting names a file that lies elsewhere", id=key, hint=hint)
