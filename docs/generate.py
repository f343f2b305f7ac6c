# ruff: noqa: INP001 - the documents are no package
"""Writes the reference from the code: `make docs`. A test fails when a page is out of date."""

import json
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import typer.main

from docs.http import describe_api, write_bodies, write_operations
from docs.meanings import ADVICE, EVENTS, LIMITS
from docs.reading import Documented, methods_of, values_of
from docs.typescript import Json, write_types
from threadline.config import PREFIX, Config
from threadline.config.setting_schema import help_of, must_be, walk_settings
from threadline.core.command import COMMANDS
from threadline.core.delivery import DELIVERY_TRANSITIONS
from threadline.core.errors import ThreadlineError
from threadline.core.event import EventKind
from threadline.core.export_format.codec import json_schema
from threadline.core.turn import TRANSITIONS
from threadline.gateway.intervals import Intervals
from threadline.store.feed import FeedLost
from threadline.web.feed.frames import DeltaKind

DOCS = Path(__file__).resolve().parent
SQL = DOCS.parent / "src" / "threadline" / "database" / "migrations"
CONCEPTS = "sessions-and-turns.md"

_HEAD = "<!-- Written by `make docs` from the code. Changes here are lost. -->\n\n"
_WIDTH = 96
_DAY = timedelta(days=1)
_REGION = re.compile(r"(<!-- begin: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_COMMENT = r"((?:^-- .*\n)*)"
_TABLE = re.compile(
    _COMMENT
    + r"^(CREATE (?:VIRTUAL )?TABLE (\w+)[^\n]*\((?: -- \w+)?\n(?:[^\n]*\n)*?\)[^\n]*;.*)$",
    re.MULTILINE,
)
_INDEX = re.compile(_COMMENT + r"^(CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)[^;]*;.*)$", re.MULTILINE)
_ALTERED = re.compile(_COMMENT + r"^(ALTER TABLE (\w+)[^;]*;.*)$", re.MULTILINE)


def pages() -> dict[str, str]:
    """Make all files that come from the code, by their path from docs/ on."""
    api = describe_api()  # first: with it all errors of the web are known
    made = {
        "reference/settings.md": settings(),
        "reference/commands.md": commands(),
        "reference/cli.md": command_line(),
        "reference/errors.md": errors(),
        "reference/events.md": events(),
        "reference/limits.md": limits(),
        "reference/library.md": library(),
        "reference/values.md": values(),
        "reference/schema.md": schema(),
        "reference/http.md": http(api),
    }
    made["reference/README.md"] = index(made)
    return made | {
        CONCEPTS: with_diagrams((DOCS / CONCEPTS).read_text(encoding="utf-8")),
        "schemas/export-v1.schema.json": json.dumps(json_schema(), indent=2) + "\n",
        "../ui/src/api/schema.ts": write_types(api, (EventKind, DeltaKind)),
    }


def index(made: dict[str, str]) -> str:
    """List the pages of the reference with their first sentence."""
    lines = []
    for path, text in sorted(made.items()):
        heading, _, rest = text.removeprefix(_HEAD).partition("\n\n")
        sentence = rest.partition("\n\n")[0].partition(". ")[0].replace("\n", " ").rstrip(".:")
        name = path.rpartition("/")[2]
        lines.append(f"| [{heading.strip().removeprefix('# ')}]({name}) | {sentence} |")
    intro = "What there is, read from the code itself."
    return _page("Reference", intro, "| page | |\n|---|---|\n" + "\n".join(lines))


def settings() -> str:
    """List all settings."""
    rows = []
    for way, node in walk_settings(Config):
        name = ".".join(map(str, way))
        more = "__…" if node["type"] == "object" else ""
        variable = f"{PREFIX}{name.upper().replace('.', '__')}{more}"
        wish, says = must_be(node) or "", help_of(way, Config) or ""
        rows.append((f"`{name}`", f"`{variable}`", _shown(node["default"]), wish, says))
    intro = (
        "Settings come from options of the command line, the environment, "
        "`./threadline.toml`, `~/.threadline/threadline.toml` and the defaults, and the first of "
        "these that has a setting wins. A name that does not exist is an error in a file and a "
        "warning in the environment; both suggest the name that may be meant."
    )
    example = (
        "```toml\n"
        'database = "~/notes/threadline.db"\n\n'
        "[reset.default]\n"
        'mode = "idle"\n'
        "idle_minutes = 480\n\n"
        "[reset.kinds.group]\n"
        'mode = "daily"\n'
        'timezone = "Europe/Berlin"\n'
        'carry = "last 6 messages"\n\n'
        "[sharing.platforms.slack]\n"
        'groups = "shared"\n\n'
        "[busy.platforms]\n"
        'telegram = "collect"\n'
        "```"
    )
    note = (
        "In the environment two underscores lead into a table, and words are written as they are: "
        "`THREADLINE_RESET__KINDS__GROUP__MODE=daily`. A list or a table is written as TOML or "
        "JSON writes it: `THREADLINE_ACCESS__ALLOW='[\"telegram:42\"]'`. More is told in "
        "[configuration](../configuration.md)."
    )
    table = _table(("setting", "variable", "default", "must be", "what it does"), rows)
    return _page("Settings", intro, table, note, "## A file", example)


def _shown(default: object) -> str:
    if default in (None, "", {}, []):
        return ""
    return f"`{default}`" if isinstance(default, str) else f"`{json.dumps(default)}`"


def commands() -> str:
    """List the commands of a chat."""
    rows = [
        (f"`{one.usage}`", one.help, f"`{one.who}`", f"`{one.while_running}`") for one in COMMANDS
    ]
    intro = (
        "What a person can ask for with a slash, in every chat. *Who* is the least rank that may. "
        "While a turn runs, a command is carried out at once (`run`), waits until what was asked "
        "before it has been answered (`wait`), or stops the turn and keeps what it said (`stop`)."
    )
    note = (
        "`/new@botname` is read as `/new`. A word with a slash that is no command is answered with "
        "the nearest one. [How commands work](../commands.md) tells more."
    )
    titles = ("command", "what it does", "who", "while a turn runs")
    return _page("Commands", intro, _table(titles, rows), note)


def command_line() -> str:
    """Show the help of every command of the terminal."""
    from threadline.cli.main import app

    shown = [
        f"## `{path}`\n\n```text\n{text}\n```"
        for path, text in command_helps(typer.main.get_command(app))
    ]
    intro = (
        "What one types in a terminal. Errors go to standard error as one sentence, with exit "
        "code 1; 2 means that the command was typed wrongly. `NO_COLOR` is honoured."
    )
    return _page("Command line", intro, *shown)


def command_helps(
    command: object, path: str = "threadline", parent: object = None
) -> Iterator[tuple[str, str]]:
    """Yield every command with its help text."""
    context = type(command).context_class(  # type: ignore[attr-defined]  # typer hides its click
        command,
        info_name=path.rpartition(" ")[2],
        parent=parent,
        terminal_width=_WIDTH,
        **command.context_settings,  # type: ignore[attr-defined]
    )
    yield path, command.get_help(context).rstrip()  # type: ignore[attr-defined]
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from command_helps(child, f"{path} {name}", context)


def errors() -> str:
    """List the family of errors."""
    rows = [
        (
            f"`{error.__name__}`",
            _base(error),
            str(error.status),
            error.__doc__ or "",
            ADVICE[error.__name__],
            error.chat,
        )
        for error in error_family(ThreadlineError)
    ]
    intro = (
        "One family. An error says what happened, to which `id`, and in its `hint` what to do; "
        "`status` is the HTTP status that it becomes, `chat` the sentence for a person in a chat, "
        "which tells no details."
    )
    note = (
        f"`{FeedLost.__name__}` is in `threadline.store.feed`; {_told_by_web()} are told by the "
        "HTTP API alone; all others are in `threadline.core.errors`."
    )
    heads = ("error", "is a", "status", "what happened", "what to do", "in a chat")
    return _page("Errors", intro, _table(heads, rows), note)


def error_family(error: type[ThreadlineError]) -> Iterator[type[ThreadlineError]]:
    """Yield the error and its subclasses, without those that are internal to adapters."""
    yield error
    for child in error.__subclasses__():
        rooms = child.__module__.split(".")
        if rooms[0] == "threadline" and rooms[1] not in {"agents", "gateway", "platforms"}:
            yield from error_family(child)


def _told_by_web() -> str:
    found = [
        f"`{error.__name__}`"
        for error in error_family(ThreadlineError)
        if error.__module__.startswith("threadline.web.")
    ]
    return ", ".join(sorted(found))


def _base(error: type[ThreadlineError]) -> str:
    return "" if error is ThreadlineError else f"`{error.__mro__[1].__name__}`"


def events() -> str:
    """List the kinds of events."""
    rows = [(f"`{kind.value}`", *EVENTS[kind.value]) for kind in EventKind]
    intro = (
        "The facts of the feed, each written in the transaction that made it true. An event has a "
        "`cursor`, a `kind`, the `session_id`, the session's `revision` (1, 2, 3, … without gaps), "
        "a `subject` and a moment `at`. It never carries text."
    )
    return _page("Events", intro, _table(("kind", "subject", "what became true"), rows))


def limits() -> str:
    """List the numbers by which everything goes."""
    rows = [(_amount(name, unit), what, f"`{name}`") for name, (unit, what) in LIMITS.items()]
    intro = (
        "The numbers by which everything goes. What can be changed is a [setting](settings.md), "
        "or a field of `Settings` in the library."
    )
    return _page("Limits", intro, _table(("how much", "of what", "in the code"), rows))


def _amount(name: str, unit: str) -> str:
    where, _, field = name.rpartition(".")
    # What a field of a dataclass begins with is seen only on one that was made.
    value = getattr(Intervals(), field) if where.endswith(".Pace") else pkgutil.resolve_name(name)
    if isinstance(value, timedelta):
        return _span(value)
    return f"{value:,} {unit}" if isinstance(value, int) else f"{value:g} {unit}"


def _span(length: timedelta) -> str:
    for noun, unit in (("day", _DAY), ("hour", _DAY / 24), ("minute", _DAY / 1440)):
        if length >= unit and length % unit == timedelta(0):
            return f"{length // unit} {noun}" + ("" if length == unit else "s")
    return f"{length.total_seconds():g} second" + ("" if length == timedelta(seconds=1) else "s")


def library() -> str:
    """List the methods of the store."""
    parts = []
    for heading, sentence, methods in methods_of():
        shown = "\n\n".join(
            f"### `{one.name}`\n\n```text\n{one.signature}\n```\n\n{one.says}" for one in methods
        )
        parts.append(f"## {heading}\n\n{sentence}\n\n{shown}")
    intro = (
        "Every operation of a store, made by `threadline.open`. [The how-to](../library.md) shows "
        "them at work; the values that they take and give are [here](values.md)."
    )
    return _page("Library", intro, *parts)


def values() -> str:
    """List the values that go in and out."""
    parts = [
        f"## `{module}`\n\n{says}\n\n" + "\n\n".join(map(_value, found))
        for module, says, found in values_of()
    ]
    intro = "The values that the library takes and gives: all frozen, all made with keywords."
    return _page("Values", intro, *parts)


def _value(value: Documented) -> str:
    text = f"### `{value.name}`\n\n{value.says}"
    if value.fields:
        heads = ("value", "meaning") if value.is_choice else ("field", "type", "")
        rows = [
            (f"`{name}`", says) if value.is_choice else (f"`{name}`", f"`{kind}`", says)
            for name, kind, says in value.fields
        ]
        text += "\n\n" + _table(heads, rows)
    return text


def http(api: Json) -> str:
    """List the operations of the HTTP API."""
    intro = (
        "Every operation that programs and the web app can ask for over HTTP. "
        "[The tour](../http-api.md) shows them at work with curl, and [the feed](../feed.md) is "
        "told on its own page. The description itself is served as `/api/openapi.json`."
    )
    return _page("HTTP API", intro, *write_operations(api), *write_bodies(api))


def schema() -> str:
    """Return the page of all tables: comment, columns, indexes and later changes of each."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(SQL.glob("*.sql")))
    meanings: dict[str, str] = {}
    statements: dict[str, list[str]] = {}
    found = [match for sort in (_TABLE, _INDEX, _ALTERED) for match in sort.finditer(text)]
    for match in sorted(found, key=lambda match: match.start()):
        comment, statement, name = match.groups()
        if name not in meanings:
            meanings[name] = " ".join(comment.replace("-- ", "").split())
            comment = ""
        statements.setdefault(name, []).append(comment + statement)
    parts = [
        f"## `{name}`\n\n{meanings[name]}\n\n```sql\n{chr(10).join(one)}\n```"
        for name, one in statements.items()
    ]
    intro = (
        "One schema for both databases. For PostgreSQL `INTEGER` is read as `BIGINT`, an `INTEGER "
        "PRIMARY KEY` as an identity column, `BLOB` as `BYTEA`; a line that ends in `-- postgres` "
        "or `-- sqlite` is for that database alone. Times are microseconds since 1970 in UTC. The "
        "table `migrations` lists the migrations that were applied."
    )
    return _page("Database schema", intro, *parts)


def with_diagrams(text: str) -> str:
    """Draw the tables of transitions into a document."""
    drawn = {
        "turns": _diagram("queued", TRANSITIONS),
        "deliveries": _diagram("pending", DELIVERY_TRANSITIONS),
    }
    return _REGION.sub(lambda found: f"{found[1]}{drawn[found[2]]}\n{found[3]}", text)


def _diagram(first: str, transitions: object) -> str:
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {first}"]
    for state, nexts in transitions.items():  # type: ignore[attr-defined]  # one of two mappings
        lines += [f"    {state} --> {then}" for then in type(state) if then in nexts]
        if not nexts:
            lines.append(f"    {state} --> [*]")
    return "\n".join([*lines, "```"])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    cells = ([" ".join(cell.replace("|", "\\|").split()) for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _page(title: str, *parts: str) -> str:
    return _HEAD + "\n\n".join([f"# {title}", *parts]) + "\n"


def main() -> None:
    """Write all pages."""
    for path, text in pages().items():
        file = DOCS / path
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{file.resolve().relative_to(DOCS.parent)}\n")


if __name__ == "__main__":
    main()
