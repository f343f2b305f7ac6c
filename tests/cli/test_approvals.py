"""`threadline approvals`: what agents may do without asking."""

import asyncio
import json
from pathlib import Path

import threadline
from tests.cli.program import run
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.command import parse_command
from threadline.core.inbound import Inbound
from threadline.store.commands.execute import execute

DM = Address(platform="telegram", kind=Kind.DM, chat="42")
ALICE = Sender(id="42", name="Alice")


def give_leave(home: Path, words: str) -> None:
    """Let Alice answer an agent that asks for a tool."""

    async def ask_and_answer() -> None:
        folder = home / ".threadline"
        folder.mkdir(exist_ok=True)
        async with threadline.open(folder / "threadline.db") as store:
            await store.receive(
                Inbound.text("clean up", address=DM, sender=ALICE, at=store.now(), message_id=words)
            )
            claim = await store.turns.claim()
            assert claim is not None
            await store.turns.wait(claim.lease, Question(text="May I?", tools=("shell_rm",)))
            answer = Inbound.text(
                words, address=DM, sender=ALICE, at=store.now(), message_id=f"{words}!"
            )
            call = parse_command(words)
            assert call is not None
            await execute(store.database, answer, call, AccessLevel.ADMIN)
            again = await store.turns.claim()
            assert again is not None
            await store.turns.finish(again.lease, [])

    asyncio.run(ask_and_answer())


def test_what_was_allowed_is_listed_and_taken_back(home: Path) -> None:
    """By its number, with who gave leave and where it holds."""
    give_leave(home, "/approve session")
    give_leave(home, "/approve always")
    listed = run("approvals", "list")

    assert "Alice" in listed.stdout
    assert "profile main" in listed.stdout
    assert "session 2" in listed.stdout
    found = json.loads(run("approvals", "list", "--json").stdout)
    (always,) = [one for one in found if one["session_id"] is None]
    assert always["tool"] == "shell_rm"

    gone = run("approvals", "revoke", str(always["key"]))
    assert gone.stdout == "Agents ask again for shell_rm (profile main).\n"
    assert len(json.loads(run("approvals", "list", "--json").stdout)) == 1
    again = run("approvals", "revoke", str(always["key"]))
    assert again.exit_code == 1
    assert "There is no such allowance" in again.stderr


def test_without_any_leave_it_says_so(home: Path) -> None:
    """And how leave is given; a profile that has none shows none."""
    give_leave(home, "/approve")
    assert "Agents ask for every tool." in run("approvals", "list").stdout

    give_leave(home, "/approve always")
    assert "shell_rm" in run("approvals", "list", "--profile", "main").stdout
    assert "Agents ask" in run("approvals", "list", "--profile", "coder").stdout
