"""The examples in the docstrings of the library run, and show what they say."""

import ast
import asyncio
import contextlib
import doctest
import inspect
import io
from pathlib import Path

import pytest

import threadline
from threadline.store import Store
from threadline.store.library.group import Group

PRELUDE = """
from datetime import timedelta

from threadline import Address, Inbound, Kind, Role, Sender, say
from threadline.core.agent import Question
from threadline.core.approval import Approval, PermissionDuration
from threadline.core.delivery import SendOutcome, SentPiece
from threadline.core.errors import Conflict, ThreadlineError
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.job import NewJob
from threadline.core.message import MediaKind
from threadline.core.person import Identity, Viewer
from threadline.core.session_patch import SessionPatch
from threadline.core.usage import Usage, UsageBy
from threadline.store.jobs.jobs import JobChange

garden = Address(platform="telegram", kind=Kind.GROUP, chat="-100")
telegram = Address(platform="telegram", kind=Kind.DM, chat="7")
webhook = Address(platform="webhook", kind=Kind.DM, chat="alice")
alice, same = Sender(id="7", name="Alice"), Sender(id="alice")


def heard(words, where=garden, who=alice):
    return Inbound.text(words, address=where, sender=who, at=store.now())
"""
ARRIVAL = 'arrival = await store.receive(heard("When do we plant?"))\n'
CLAIM = ARRIVAL + "claim = await store.turns.claim()\n"
ANSWERED = CLAIM + (
    "numbers = {'input_tokens': 40, 'prompt_tokens': 40, 'output_tokens': 9}\n"
    'used = [Usage(provider="acme", model="small", **numbers)]\n'
    'reply = [say(Role.ASSISTANT, "In May.")]\n'
    "await store.turns.finish(claim.lease, reply, usage=used, deliver=False)\n"
    "id = arrival.session_id\n"
)
BEFORE = {
    "turns": ARRIVAL,
    "sessions": ARRIVAL,
    "transcripts": ANSWERED,
    "people": 'arrival = await store.receive(heard("Hello", telegram))\n'
    'await store.receive(heard("Hello", webhook, same))\n',
    "deliveries": ARRIVAL,
    "usage": ANSWERED,
    "approvals": CLAIM
    + 'await store.turns.wait(claim.lease, Question(text="May I?", tools=("order",)))\n',
    "transfer": ARRIVAL,
}
"""What has happened before the examples of a group, if anything."""


def groups() -> dict[str, type[Group]]:
    """Return the groups of the library by the names that a store gives them."""
    found = {}
    for name, member in inspect.getmembers(Store, lambda one: isinstance(one, property)):
        kind = member.fget.__annotations__.get("return")
        if inspect.isclass(kind) and issubclass(kind, Group):
            found[name] = kind
    return found


def public_methods(kind: type) -> list[str]:
    """Return the methods of a class that users call, in the order of its source."""
    return [name for name, one in vars(kind).items() if inspect.isfunction(one) and name[0] != "_"]


def run(source: str, names: dict[str, object], runner: asyncio.Runner) -> str:
    """Run an example, which may await; return what it prints and what its value is."""
    printed = io.StringIO()
    tree = ast.parse(source)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        call = ast.Call(ast.Name("show", ast.Load()), [last.value], [])
        tree.body[-1] = ast.copy_location(ast.Expr(call), last)
    code = compile(
        ast.fix_missing_locations(tree), "example", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    names["show"] = lambda value: None if value is None else print(repr(value))
    with contextlib.redirect_stdout(printed):
        awaitable = eval(code, names)
        if inspect.iscoroutine(awaitable):
            runner.run(awaitable)
    return printed.getvalue()


@pytest.mark.parametrize("group", sorted(groups()))
def test_the_examples_of_a_group_run(group: str, tmp_path: Path) -> None:
    """The examples of a group, one after the other, give what their docstrings show."""
    kind = groups()[group]
    names: dict[str, object] = {}
    parser, checker = doctest.DocTestParser(), doctest.OutputChecker()
    with asyncio.Runner() as runner:
        opened = threadline.open(tmp_path / "examples.db")
        names["store"] = runner.run(opened.__aenter__())
        try:
            run(PRELUDE + BEFORE.get(group, ""), names, runner)
            for method in public_methods(kind):
                for example in parser.get_examples(inspect.getdoc(getattr(kind, method)) or ""):
                    shown = run(example.source, names, runner)
                    is_shown = checker.check_output(example.want, shown, doctest.ELLIPSIS)
                    assert is_shown, f"{method}: {example.source}{shown}"
        finally:
            runner.run(opened.__aexit__(None, None, None))


@pytest.mark.parametrize("group", sorted(groups()))
def test_every_method_has_an_example(group: str) -> None:
    """Each method of a group shows in its docstring how it is called."""
    kind = groups()[group]
    missing = [
        name
        for name in public_methods(kind)
        if f"store.{group}.{name}(" not in (inspect.getdoc(getattr(kind, name)) or "")
    ]

    assert missing == []
