"""`threadline pair`: the owner lets people in, and shows them out."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import threadline
from tests.cli.program import run
from threadline.core.address import Sender


@pytest.fixture(autouse=True)
def a_store() -> None:
    """Make the store that the settings name."""
    assert run("chat", lines="hello\n").exit_code == 0


def ask(*words: str) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def code_for(id: str, home: Path, platform: str = "telegram", name: str | None = None) -> str:
    """Ask to be let in, as a stranger in a chat."""

    async def pair() -> str:
        async with threadline.open(home / ".threadline" / "threadline.db") as store:
            shown = await store.people.request_pairing(platform, Sender(id=id, name=name))
            assert shown is not None
            return shown.code

    return asyncio.run(pair())


def test_nobody_waits_at_first() -> None:
    """And somebody who looks is told how that changes."""
    assert "Whoever writes to your bot is shown a code" in run("pair", "list").stdout
    assert ask("pair", "list") == {"waiting": [], "let_in": []}


def test_a_code_lets_somebody_in(home: Path) -> None:
    """They wait in the list, without their code, and are let in by it, however it is typed."""
    code = code_for("42", home, name="Ada")
    waiting = run("pair", "list").stdout
    assert "telegram:42" in waiting
    assert "Ada" in waiting
    assert code not in waiting
    assert code not in json.dumps(ask("pair", "list"))

    result = run("pair", "approve", f"{code[:4]}-{code[4:].lower()}")

    assert result.stdout == "Ada (telegram:42) may speak now.\n"
    listed = ask("pair", "list")
    assert listed["waiting"] == []
    assert [one["identity"] for one in listed["let_in"]] == [{"platform": "telegram", "id": "42"}]
    assert "let in" in run("pair", "list").stdout


def test_wrong_codes_are_refused_and_counted(home: Path) -> None:
    """Five, and not even the right one works; the owner can still name them."""
    code = code_for("42", home)
    for _ in range(5):
        result = run("pair", "approve", "22222222")
        assert result.exit_code == 1
        assert "This code is not valid" in result.stderr

    locked = run("pair", "approve", code, "--platform", "telegram")

    assert locked.exit_code == 1
    assert "No code works for telegram" in locked.stderr
    assert run("pair", "allow", "telegram:42").stdout == "telegram:42 may speak now.\n"


def test_somebody_is_shown_out() -> None:
    """Once; who was never let in is named."""
    assert ask("pair", "allow", "telegram:42")["identity"]["id"] == "42"

    assert "may speak no longer" in run("pair", "revoke", "telegram:42").stdout
    again = run("pair", "revoke", "telegram:42")

    assert again.exit_code == 1
    assert "telegram:42" in again.stderr
    assert ask("pair", "list") == {"waiting": [], "let_in": []}


def test_profiles_are_apart() -> None:
    """Who is let into one is not let into another."""
    run("pair", "allow", "telegram:42", "--profile", "work")

    assert ask("pair", "list")["let_in"] == []
    assert len(ask("pair", "list", "--profile", "work")["let_in"]) == 1


@pytest.mark.parametrize("who", ["telegram", ":42", "telegram:", "tele\0gram:42"])
def test_who_names_nobody_is_told_so(who: str) -> None:
    """With a sentence, and no trace of a stack."""
    result = run("pair", "allow", who)

    assert result.exit_code == 1
    assert result.stderr.startswith("threadline: ")


def test_a_hostile_name_steers_no_terminal(home: Path) -> None:
    """What somebody calls themselves is shown without escape sequences."""
    code_for("4\x1b[2J2", home, name="\x1b]0;owned\x07Ada\u202e\nlet in")

    shown = run("pair", "list").stdout

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len([line for line in shown.splitlines() if "Ada" in line]) == 1
