"""Config template: the file of settings that `threadline init` writes."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill

from msgspec import Struct
from msgspec.structs import replace

from threadline.config import Config
from threadline.config.setting_schema import help_of, walk_settings
from threadline.config.sources import Way
from threadline.core.database_url import checked_location, is_server


class InitAnswers(Struct, frozen=True, kw_only=True):
    """What somebody said who sets up an installation; None: nothing."""

    database: str | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    model: str | None = None
    telegram: str | None = None
    """The variable that holds the token of a bot."""
    webhook: bool | None = None
    port: int | None = None

    def absolute(self) -> "InitAnswers":
        """Let a path mean the same from wherever the file of settings lies."""
        where = None if self.database is None else checked_location(self.database)
        if where is None or is_server(where) or where.startswith("~"):
            return self
        return replace(self, database=str(Path(where).absolute()))


_HEAD = """\
# Threadline's settings. What stands behind a # is not set: the value there is the default, or an
# example. The environment wins over this file: THREADLINE_SERVER__PORT=9000.
# `threadline config` shows every value, and where it came from.
"""


def settings_file(answers: InitAnswers, *, secret: Path) -> str:
    """Write the file: what was answered is set, the rest stands there to be found.

    A setting that is not made stands behind a `#` without a space: take that away to make it.
    """
    said: dict[str, object] = {
        "database": answers.database,
        "profile": answers.profile,
        "agent.model": answers.model,
        "access.allow": list(answers.allow) or None,
        "platforms.telegram": answers.telegram and {"token": f"env:{answers.telegram}"},
        "platforms.webhook": {"secret": f"file:{secret}"} if answers.webhook else None,
        "server.port": answers.port,
    }
    tables: dict[Way, list[str]] = {(): [_HEAD]}
    for way, node in walk_settings(Config):
        example = next(iter(node.get("examples", ())), node["default"])
        choices = f" One of {', '.join(node['enum'])}." if "enum" in node else ""
        comment = _comment(f"{help_of(way, Config)}{choices}")
        if node["type"] == "object" and len(way) == 1:
            named = [_named_table((*way, name), said, values) for name, values in example.items()]
            tables[way] = [comment, *named]
            continue
        for depth in range(1, len(way)):
            opening = _comment(help_of(way[:depth], Config) or "")
            tables.setdefault(way[:depth], [opening, f"[{_key(way[:depth])}]"])
        tables[way[:-1]] += [comment, _setting(way, said, example)]
    return "\n".join("\n".join([*lines, ""]) for lines in tables.values())


def _named_table(way: Way, said: Mapping[str, object], example: Mapping[str, object]) -> str:
    """Write a table whose name the user chooses."""
    made = said.get(_key(way))
    values = made if isinstance(made, dict) else example
    lines = [f"[{_key(way)}]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
    return "\n".join(line if made else f"#{line}" for line in lines)


def _setting(way: Way, said: Mapping[str, object], example: object) -> str:
    made = said.get(_key(way))
    return f"#{way[-1]} = {_toml(example)}" if made is None else f"{way[-1]} = {_toml(made)}"


def _comment(text: str) -> str:
    return fill(text, 98, initial_indent="# ", subsequent_indent="# ")


def _key(way: Way) -> str:
    return ".".join(map(str, way))


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
