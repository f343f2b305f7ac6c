"""`threadline prune` lets go of what has been kept for long enough, and of nothing else."""

import json
from pathlib import Path

import apsw
import pytest

from tests.cli.program import run

YEAR = 365 * 86_400 * 1_000_000


@pytest.fixture(name="ids")
def two_sessions(home: Path) -> list[str]:
    run("chat", lines="old words\n/new\nyoung words\n")
    ids = [row["id"] for row in json.loads(run("sessions", "list", "--json").stdout)]
    connection = apsw.Connection(str(home / ".threadline" / "threadline.db"))
    age = "UPDATE sessions SET last_activity_at = last_activity_at - ? WHERE id = ?"
    connection.execute(age, (YEAR, ids[1]))
    connection.close()
    return ids


def listed() -> list[str]:
    """List what is left."""
    return [row["id"] for row in json.loads(run("sessions", "list", "--json").stdout)]


def test_without_rules_nothing_goes(ids: list[str]) -> None:
    """Nothing is configured, so nothing is too old."""
    assert "No session has been kept for too long." in run("prune").stdout
    assert listed() == ids


def test_a_dry_run_only_tells(ids: list[str]) -> None:
    """What would go is told, and stays."""
    told = json.loads(run("prune", "--days", "30", "--dry-run", "--json").stdout)

    assert told["sessions"] == [ids[1]]
    assert told["done"] is None
    assert "would go" in run("prune", "--days", "30", "--dry-run").stdout
    assert listed() == ids


def test_what_is_too_old_goes(ids: list[str]) -> None:
    """One session with its messages goes, and a certificate is kept."""
    result = run("prune", "--days", "30")

    assert result.exit_code == 0
    assert "1 session with" in result.stdout
    assert listed() == ids[:1]
    assert "retention forgotten" in run("forget", "list").stdout


def test_the_settings_say_how_long(ids: list[str], home: Path) -> None:
    """Rules in the file hold without any option, and routes are let go as well."""
    (home / "threadline.toml").write_text("[retention.platforms]\nlocal = 30\n")

    assert json.loads(run("prune", "--json").stdout)["done"]["sessions"] == 1
    assert listed() == ids[:1]


@pytest.mark.parametrize("days", ["0", "-1", "x"])
def test_nonsense_is_refused(ids: list[str], days: str) -> None:
    """A number of days from one on, and nothing else."""
    assert run("prune", "--days", days).exit_code != 0
    assert listed() == ids
