"""Reads the house: its files, its syntax trees, its queries and its documents."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "threadline"
SQL = PACKAGE / "store"
MIGRATIONS = PACKAGE / "database" / "migrations"
DOCS = ROOT / "docs"

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_GENERATED = {".git", ".venv", ".venv-lock", "__pycache__", "build", "dist", "node_modules"}
_QUERY = re.compile(r"^-- name:(.*)\n(.*)\n((?:(?!-- (?:name|fragment):).*\n?)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Python file: where it is, what it says, and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    def __str__(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def room(self) -> str:
        """The part of the package it lies in: `core`, `store`, …, or its own name."""
        return self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")

    def at(self, node: ast.AST) -> str:
        """Name a place in it, so that an editor can jump there."""
        return f"{self}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[Function]:
        """Walk over all its functions, the inner ones too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def imports(self) -> Iterator[tuple[ast.AST, str]]:
        """Walk over everything it imports, as full names: `from a import b` is `a.b`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One named query: its file, its name, the comment below, and the statement."""

    file: str
    name: str
    comment: str
    statement: str


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Read all Python files of these folders; a folder that has none is a mistake."""
    found = []
    for folder in folders:
        paths = sorted((ROOT / folder).rglob("*.py"))
        if not paths:
            raise FileNotFoundError(f"{folder} has no modules to look at")
        found += [_module(path) for path in paths]
    return tuple(found)


@cache
def _module(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path=path, text=text, tree=ast.parse(text, filename=str(path)))


def sample(text: str, path: str = "src/threadline/core/sample.py") -> Module:
    """Make a module that is not there, to see whether a check would find what is wrong with it."""
    return Module(path=ROOT / path, text=text, tree=ast.parse(text))


@cache
def queries() -> tuple[Query, ...]:
    """Read all named queries, apart from the migrations."""
    found = [
        Query(file=path.name, name=name.strip(), comment=comment, statement=statement.strip())
        for path in sorted(SQL.rglob("*.sql"))
        for name, comment, statement in _QUERY.findall(path.read_text(encoding="utf-8"))
    ]
    if not found:
        raise FileNotFoundError("store/ has no named queries to look at")
    return tuple(found)


@cache
def migrations() -> dict[str, str]:
    """Read the migrations by file name, without their comments."""
    found = {
        path.name: re.sub(r"--.*", "", path.read_text(encoding="utf-8"))
        for path in sorted(MIGRATIONS.glob("*.sql"))
    }
    if not found:
        raise FileNotFoundError("database/migrations has no migrations to look at")
    return found


@cache
def document(*patterns: str) -> str:
    """Read these documents as one text, patterns being relative to docs/."""
    paths = sorted(path for pattern in patterns for path in DOCS.glob(pattern))
    if not paths:
        raise FileNotFoundError(f"docs has no {' or '.join(patterns)}")
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def mentions(text: str, word: str) -> bool:
    """Tell whether a text holds a word as a whole."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def quotes(text: str, code: str) -> bool:
    """Tell whether a text holds a piece of code in backticks, perhaps with arguments after it."""
    return re.search(rf"`{re.escape(code)}(?: [^`]*)?`", text) is not None


@cache
def own_files() -> tuple[Path, ...]:
    """List the files that belong to the repository, those not yet committed too."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode == 0 and (names := listing.stdout.decode().rstrip("\0")):
        paths = [ROOT / name for name in names.split("\0")]
    else:  # an unpacked archive
        paths = [path for path in ROOT.rglob("*") if not _GENERATED & set(path.parts)]
    return tuple(sorted(path for path in paths if path.is_file()))
