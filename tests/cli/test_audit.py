"""Commands in the terminal are in the audit log, as acts of no account."""

import asyncio
from pathlib import Path

import threadline
from tests.cli.program import run
from tests.web.resources.test_audit_table import COMMANDS
from threadline.core.account import AuditEntry
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.job import NewJob
from threadline.core.person import Viewer

ADA, EVE = Sender(id="ada", name="Ada"), Sender(id="eve", name="Eve")
LINES: dict[str, tuple[str, ...]] = {
    "config": ("set", "spend.day", "5"),
    "sessions export": ("{session}",),
    "export": ("-o", "lines.jsonl"),
    "backup": ("backup.db",),
    "sessions delete": ("{session}", "--yes"),
    "restore": ("backup.db", "--force"),
    "forget session": ("{other}", "--yes"),
    "account add": ("Bob",),
    "account link": (),
    "account password": (),
    "account end": ("Bob",),
    "people join": ("telegram:ada", "telegram:eve"),
    "people rename": ("1", "Both"),
    "people part": ("telegram:ada",),
    "pair approve": ("{code}",),
    "pair allow": ("telegram:dan",),
    "pair revoke": ("telegram:dan",),
    "jobs change": ("{job}", "--name", "News"),
    "jobs pause": ("{job}",),
    "jobs resume": ("{job}",),
    "jobs run": ("{job}",),
    "jobs delete": ("{job}",),
    "forget person": ("telegram:ada", "--yes"),
}
"""The commands that write to the audit log, each possible after those before it."""
ELSEWHERE = {"serve", "import", "prune", "approvals revoke"}
"""Commands that need more around them, and have tests of their own below or in their files."""


async def _furnish(file: Path) -> dict[str, str]:
    async with threadline.open(file) as store:
        ids: list[str] = []
        for sender in (ADA, EVE):
            at = Address(platform="telegram", kind=Kind.DM, chat=str(sender.id))
            said = Inbound.text("hello", address=at, sender=sender, at=store.now())
            ids.append(str((await store.receive(said)).session_id))
        at = Address(platform="telegram", kind=Kind.DM, chat="eve")
        job = NewJob(prompt="What is new?", schedule="every day 9:00")
        made = await store.jobs.create(job, Viewer(address=at, sender=EVE), platforms={"telegram"})
        shown = await store.people.request_pairing("telegram", Sender(id="zoe"))
        assert shown is not None
        return {"session": ids[0], "other": ids[1], "job": str(made.id), "code": shown.code}


async def _entries(file: Path) -> list[AuditEntry]:
    async with threadline.open(file) as store:
        return await store.audit()


def test_commands_write_what_the_table_says(home: Path) -> None:
    """Each command adds the entry that the table names, without an account and without a token."""
    file = home / ".threadline" / "threadline.db"
    assert run("account", "list").exit_code == 0
    things = asyncio.run(_furnish(file))
    told: dict[str, tuple[str, ...]] = {}
    before = len(asyncio.run(_entries(file)))
    for command, arguments in LINES.items():
        if command == "restore":
            before = list(LINES).index("backup")  # as many entries as the backup holds
        line = [one.format(**things) for one in arguments]
        done = run(*command.split(), *line, lines="three words of yours\n")
        assert done.exit_code == 0, f"{command}: {done.stderr}"
        entries = asyncio.run(_entries(file))
        written, before = entries[: len(entries) - before], len(entries)
        told[command] = tuple(one.act for one in written)
        assert {(one.account, one.token) for one in written} == {("", None)}, command

    assert told == {command: COMMANDS[command] for command in LINES}


def test_no_command_is_left_out() -> None:
    """Every command that the table says writes something is run here or named as tested apart."""
    writing = {name for name, acts in COMMANDS.items() if isinstance(acts, tuple)}

    assert writing == LINES.keys() | ELSEWHERE


def test_an_import_is_recorded(home: Path) -> None:
    """With how many sessions came in."""
    file = home / ".threadline" / "threadline.db"
    assert run("account", "list").exit_code == 0
    asyncio.run(_furnish(file))
    assert run("export", "-o", "lines.jsonl").exit_code == 0
    assert run("import", "lines.jsonl", "-d", "new.db").exit_code == 0

    (entry,) = asyncio.run(_entries(home / "new.db"))
    assert (entry.act, entry.subject, entry.account) == ("history.imported", "2 sessions", "")
