"""`threadline forget` shows what would go, lets it go, and shows the certificate."""

import json
from pathlib import Path

import pytest

from tests.cli.program import run, run_apart


@pytest.fixture(name="ids")
def two_sessions() -> list[str]:
    run("chat", lines="the xylocarp\n/new\nsomething else\n")
    return [row["id"] for row in json.loads(run("sessions", "list", "--json").stdout)]


def test_without_a_yes_nothing_goes(ids: list[str]) -> None:
    """What would go is shown, and how to do it."""
    result = run("forget", "session", ids[1])

    assert result.exit_code == 0
    assert "1 session as a whole" in result.stdout
    assert "--yes" in result.stdout
    assert len(json.loads(run("sessions", "list", "--json").stdout)) == 2
    assert "Nothing was forgotten here." in run("forget", "list").stdout


def test_a_session_goes_and_a_certificate_says_so(ids: list[str], home: Path) -> None:
    """The words are in no file; the certificate can be read again later."""
    files = [file for file in (home / ".threadline").rglob("*") if file.is_file()]
    assert any(b"xylocarp" in file.read_bytes() for file in files)

    result = run("forget", "session", ids[1], "--yes", "--json")

    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert told["plan"]["sessions"] == [ids[1]]
    assert told["certificate"]["state"] == "done"
    assert [row["id"] for row in json.loads(run("sessions", "list", "--json").stdout)] == ids[:1]
    files = [file for file in (home / ".threadline").rglob("*") if file.is_file()]
    assert not any(b"xylocarp" in file.read_bytes() for file in files)
    assert json.loads(run("forget", "list", "--json").stdout) == [told["certificate"]]
    assert "Out of reach" in run("forget", "list").stdout


def test_a_dry_run_wins_over_a_yes(ids: list[str]) -> None:
    """Who asks for a dry run gets one."""
    assert run("forget", "session", ids[0], "--yes", "--dry-run").exit_code == 0
    assert len(json.loads(run("sessions", "list", "--json").stdout)) == 2


def test_a_person_goes(ids: list[str]) -> None:
    """The person at the terminal is a sender like any other."""
    (sender,) = {
        line["sender_id"]
        for line in json.loads(run("sessions", "show", ids[0], "--json").stdout)["messages"]
        if line["sender_id"]
    }

    result = run("forget", "person", f"local:{sender}", "--yes")

    assert result.exit_code == 0
    assert "2  sessions" in result.stdout
    assert json.loads(run("sessions", "list", "--json").stdout) == []


@pytest.mark.parametrize("who", ["alice", "telegram:nobody", ":", "telegram:"])
def test_nobody_is_forgotten_by_mistake(ids: list[str], who: str) -> None:
    """A name that names nobody is an error that says how it is written."""
    result = run("forget", "person", who, "--yes")

    assert result.exit_code == 1
    assert result.stderr.startswith("threadline: ")
    assert len(json.loads(run("sessions", "list", "--json").stdout)) == 2


def test_there_is_nothing_to_finish(ids: list[str]) -> None:
    """Without anything under way finishing says so."""
    assert "Nothing is waiting" in run("forget", "finish").stdout
    assert json.loads(run("forget", "finish", "--json").stdout) == []


def test_the_secret_is_for_its_owner_only(ids: list[str], home: Path) -> None:
    """The key of the tombstones lies beside the database, not in it, and nobody else reads it."""
    run_apart(home, "forget", "session", ids[0], "--yes")

    seal = home / ".threadline" / "threadline.db-seal"
    assert seal.stat().st_mode & 0o777 == 0o600
    assert seal.read_bytes() not in (home / ".threadline" / "threadline.db").read_bytes()
