# ruff: noqa: INP001 - the documents are no package
"""Reads what the code says of itself: signatures, docstrings, and the words below fields."""

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import threadline.assembly
from threadline.store import Store
from threadline.store.facade.connection import StoreConnection
from threadline.store.facade.search import SearchMethods
from threadline.store.library.approvals import ApprovalGroup
from threadline.store.library.attachments import AttachmentGroup
from threadline.store.library.deliveries import DeliveryGroup
from threadline.store.library.feed import FeedGroup
from threadline.store.library.jobs import JobGroup
from threadline.store.library.people import PeopleGroup
from threadline.store.library.sessions import SessionGroup
from threadline.store.library.transcripts import TranscriptGroup
from threadline.store.library.transfer import TransferGroup
from threadline.store.library.turns import TurnGroup
from threadline.store.library.usage import UsageGroup

PARTS: tuple[tuple[str, type], ...] = (
    ("Groups", Store),
    ("store.turns", TurnGroup),
    ("store.sessions", SessionGroup),
    ("store.transcripts", TranscriptGroup),
    ("store.people", PeopleGroup),
    ("store.deliveries", DeliveryGroup),
    ("store.jobs", JobGroup),
    ("store.usage", UsageGroup),
    ("store.feed", FeedGroup),
    ("store.attachments", AttachmentGroup),
    ("store.approvals", ApprovalGroup),
    ("store.transfer", TransferGroup),
    ("store.search", SearchMethods),
    ("The store itself", StoreConnection),
)
ANSWERS = (
    "threadline.core.export_format.file_records",
    "threadline.store.inbound.deduplication",
    "threadline.store.sessions.bindings",
    "threadline.store.deliveries.payload",
    "threadline.store.deliveries.recovery",
    "threadline.store.sessions.session_end",
    "threadline.store.sessions.route_explanation",
    "threadline.store.transfer.document",
    "threadline.store.transfer.importer",
    "threadline.store.feed",
    "threadline.store.person_links.link_codes",
    "threadline.store.person_links.unlink",
    "threadline.store.admin_queries",
    "threadline.store.branches.lineage",
    "threadline.store.turn_queue.claim",
    "threadline.store.turn_queue.crash_recovery",
    "threadline.store.queries",
    "threadline.database.port",
)
INNER = {
    *("Opening", "Seat", "Row", "Transaction", "Watch", "Database"),
    *("Environment", "Attempt"),
    *("Linking", "LinkOutcome", "Taker"),
}
"""Classes in those modules that never reach a user of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One operation: how it is called, and its docstring."""

    name: str
    signature: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """One value: its docstring, and its fields with their types and the words below them."""

    name: str
    says: str
    is_choice: bool
    fields: tuple[tuple[str, str, str], ...]


def methods_of() -> Iterator[tuple[str, str, list[Method]]]:
    """Walk over the parts of the store: heading, docstring, methods."""
    opening = ast.parse(textwrap.dedent(inspect.getsource(threadline.assembly.open)))
    function = next(node for node in opening.body if isinstance(node, ast.AsyncFunctionDef))
    method = _method(function)
    yield "Opening", "One function makes a store.", [_opening(method)]
    for heading, part in PARTS:
        tree = _class_of(part)
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        found = [
            _method(node)
            for node in tree.body
            if isinstance(node, functions) and not _is_setter(node)
        ]
        public = [one for one in found if not one.name.startswith("_")]
        yield heading, _fenced(inspect.getdoc(part) or ""), public


def values_of() -> Iterator[tuple[str, str, list[Documented]]]:
    """Walk over the modules that hold values: name, docstring, values."""
    for module in (*_core(), *map(importlib.import_module, ANSWERS)):
        tree = ast.parse(inspect.getsource(module))
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        found = [
            _documented(node)
            for node in classes
            if not node.name.startswith("_") and node.name not in INNER and not _is_error(node)
        ]
        if found:
            yield module.__name__, inspect.getdoc(module) or "", found


def _core() -> Iterator[ModuleType]:
    core = importlib.import_module("threadline.core")
    for info in pkgutil.iter_modules(core.__path__, "threadline.core."):
        yield importlib.import_module(info.name)


def _class_of(part: type) -> ast.ClassDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef))


def _is_setter(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(getattr(mark, "attr", "") == "setter" for mark in node.decorator_list)


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Method:
    given = list(_arguments(node))
    gives = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    is_property = any(getattr(mark, "id", "") == "property" for mark in node.decorator_list)
    call = "" if is_property else f"({', '.join(given)})"
    if len(node.name + call + gives) > 80 and given:
        call = "(\n" + "".join(f"    {one},\n" for one in given) + ")"
    is_stream = any(isinstance(inner, ast.Yield) for inner in ast.walk(node))
    wait = "await " if isinstance(node, ast.AsyncFunctionDef) and not is_stream else ""
    return Method(
        name=node.name,
        signature=f"{wait}{node.name}{call}{gives}",
        says=_fenced(ast.get_docstring(node) or ""),
    )


def _fenced(says: str) -> str:
    """Put the example of a docstring, which is its last paragraph, into a code block."""
    text, mark, example = says.partition("\n\n>>> ")
    return f"{text}\n\n```pycon\n>>> {example.rstrip()}\n```" if mark else text


def _opening(method: Method) -> Method:
    signature = method.signature.replace("open(", "async with threadline.open(", 1)
    signature = signature.replace("AsyncIterator[Store]", "Store")
    return Method(name="threadline.open", signature=signature, says=method.says)


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Write each argument with its type and default."""
    plain = [*node.args.posonlyargs, *node.args.args][1 if _has_self(node) else 0 :]
    defaults = [None] * (len(plain) - len(node.args.defaults)) + list(node.args.defaults)
    for one, default in zip(plain, defaults, strict=True):
        yield _argument(one, default)
    if node.args.vararg is not None:
        yield f"*{_argument(node.args.vararg)}"
    elif node.args.kwonlyargs:
        yield "*"
    for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        yield _argument(one, default)
    if node.args.kwarg is not None:
        yield f"**{_argument(node.args.kwarg)}"


def _has_self(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return bool(node.args.args) and node.args.args[0].arg == "self"


def _argument(one: ast.arg, default: ast.expr | None = None) -> str:
    return ast.unparse(one) + ("" if default is None else f" = {ast.unparse(default)}")


def _is_error(node: ast.ClassDef) -> bool:
    names = {ast.unparse(base) for base in node.bases}
    return bool(names & {"Exception", "ThreadlineError", "Conflict", "Refused", "Invalid"})


def _documented(node: ast.ClassDef) -> Documented:
    is_choice = any(ast.unparse(base) == "StrEnum" for base in node.bases)
    return Documented(
        name=node.name,
        says=ast.get_docstring(node) or "",
        is_choice=is_choice,
        fields=tuple(_fields(node, is_choice=is_choice)),
    )


def _fields(node: ast.ClassDef, *, is_choice: bool) -> Iterator[tuple[str, str, str]]:
    for n, one in enumerate(node.body):
        below = node.body[n + 1] if n + 1 < len(node.body) else None
        if is_choice and isinstance(one, ast.Assign):
            yield str(ast.literal_eval(one.value)), "", _words(below)
        elif not is_choice and isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            default = "" if one.value is None else f" = {ast.unparse(one.value)}"
            yield one.target.id, f"{ast.unparse(one.annotation)}{default}", _words(below)


def _words(node: ast.stmt | None) -> str:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return inspect.cleandoc(str(node.value.value)) if is_text else ""  # type: ignore[union-attr]
