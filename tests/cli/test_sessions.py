"""`threadline sessions` and `threadline doctor` tell what is there."""

import json
from pathlib import Path

import apsw
import pytest
from rich.cells import cell_len

from tests.cli.program import Pipe, run, run_apart


@pytest.fixture(name="ids")
def two_sessions() -> list[str]:
    run("chat", lines="first words\n/new\nsecond [bold]words[/bold]\nfail\n")
    return [row["id"] for row in json.loads(run("sessions", "list", "--json").stdout)]


def test_the_list_is_a_table(ids: list[str]) -> None:
    """Latest activity first, whole titles in a pipe, and markup is text."""
    lines = run("sessions", "list").stdout.splitlines()

    assert lines[0].split() == ["ID", "PLATFORM", "STATE", "LINES", "ACTIVE", "TITLE"]
    assert [line.split()[0] for line in lines[1:]] == ids
    assert lines[1].rstrip().endswith("second [bold]words[/bold]")
    assert lines[2].split()[1:3] == ["local", "ended"]


def test_the_table_fits_into_80_columns(ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column is there and whole; only a long title is cut, and that is to be seen."""
    run("chat", lines=f"/title {'漢字 long ' * 20}\n")
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("sessions", "list").stdout.splitlines()

    assert lines[0].split() == ["ID", "PLATFORM", "STATE", "LINES", "ACTIVE", "TITLE"]
    assert lines[1].split()[:4] == [ids[0], "local", "open", "4"]
    assert lines[1].rstrip().endswith("…")
    assert max(map(cell_len, lines)) <= 80


def test_a_narrow_terminal_loses_no_column(ids: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines get longer than it instead."""
    monkeypatch.setenv("COLUMNS", "20")
    lines = run("sessions", "list").stdout.splitlines()

    assert lines[0].split() == ["ID", "PLATFORM", "STATE", "LINES", "ACTIVE", "TITLE"]
    assert [line.split()[0] for line in lines[1:]] == ids


def test_the_list_has_a_limit_and_a_profile(ids: list[str]) -> None:
    """Both are options; a profile without sessions says so."""
    assert len(json.loads(run("sessions", "list", "--limit", "1", "--json").stdout)) == 1
    assert run("sessions", "list", "--limit", "1").stdout.splitlines()[2:] == [
        "… and more; --limit shows them"
    ]
    assert "more" not in run("sessions", "list", "--limit", "2").stdout
    assert run("sessions", "list", "--profile", "coder").stdout == (
        "Profile coder has no sessions yet.\n"
    )
    assert run("sessions", "list", "--limit", "0").exit_code == 2


def test_a_session_is_shown_by_the_beginning_of_its_id(ids: list[str]) -> None:
    """A unique beginning is enough; an ambiguous one names the candidates."""
    shown = run("sessions", "show", ids[0][:-1])
    ambiguous = run("sessions", "show", ids[0][:8])

    assert "second [bold]words[/bold]" in shown.stdout
    assert "[Failed. The echo was asked to fail, and did. Say something else.]" in shown.stdout
    assert f"follows {ids[1]}" in shown.stdout
    assert ambiguous.exit_code == 1
    assert all(id in ambiguous.stderr for id in ids)


def test_lines_are_shown_with_their_numbers(ids: list[str]) -> None:
    """And whether there are earlier ones, of which those that were undone are none."""
    whole = run("sessions", "show", ids[1], "--limit", "3").stdout
    part = run("sessions", "show", ids[1], "--limit", "2").stdout.splitlines()
    run("chat", lines=f"/resume {ids[1]}\n/undo\nagain\n")
    undone = run("sessions", "show", ids[1], "--limit", "3").stdout.splitlines()

    assert "earlier" not in whole
    assert part[-3] == "… and earlier lines; --limit shows them"
    assert [line.split()[0] for line in part[-2:]] == ["2", "3"]
    assert [line.split()[0] for line in undone[-3:]] == ["1", "4", "5"]
    assert not any("earlier" in line for line in undone)


def test_a_session_is_shown_in_json(ids: list[str]) -> None:
    """With its turns and messages, part by part, and as many of them as wanted."""
    shown = json.loads(run("sessions", "show", ids[0], "--json", "--limit", "2").stdout)

    assert shown["id"] == ids[0]
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant"]
    assert shown["messages"][1]["parts"][1]["type"] == "marker"
    assert [turn["state"] for turn in shown["turns"]] == ["failed", "done"]
    assert shown["routes"] == ["agent:main:local:dm:terminal"]


@pytest.mark.parametrize("id", ["../../etc/passwd", "nope", "%", "_", "x" * 300, "", "a\nb"])
def test_hostile_ids_are_not_found(ids: list[str], id: str) -> None:
    """Path parts, wildcards and anything odd get one sentence."""
    result = run("sessions", "show", "--", id)

    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert len(result.stderr) < 300


def test_a_missing_database_is_said(home: Path) -> None:
    """Reading never makes a database."""
    result = run("sessions", "list")

    assert result.exit_code == 1
    assert "There is no database yet" in result.stderr
    assert not (home / ".threadline").exists()
    assert run("sessions", "list", "-d", "n" * 300).exit_code == 1
    assert run("chat", "-d", "no/such/folder/x.db").exit_code == 1


def test_a_file_that_is_no_database_is_said(home: Path) -> None:
    """By every command, in one sentence, with exit code 1."""
    (home / "bad.db").write_bytes(b"this is no database, but a text that is long enough" * 99)

    for command in (["sessions", "list"], ["sessions", "show", "2"], ["chat"], ["explain"]):
        result = run(*command, "-d", "bad.db", lines='{"platform": "x", "kind": "dm"}\n')
        assert result.exit_code == 1
        assert "The file is no SQLite database" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    doctor = run("doctor", "-d", "bad.db")
    assert doctor.exit_code == 1
    assert "GRAVE  The store cannot be used. The file is no SQLite database" in doctor.stdout


def test_a_newer_database_is_refused(ids: list[str], home: Path) -> None:
    """A schema of tomorrow is named, and nothing is changed."""
    connection = apsw.Connection(str(home / ".threadline" / "threadline.db"))
    connection.execute("INSERT INTO migrations VALUES (9999, 'tomorrow', 0)")
    connection.close()

    for command in (["sessions", "list"], ["chat"]):
        result = run(*command)
        assert result.exit_code == 1
        assert "written by a newer Threadline: its schema is 9999" in result.stderr
    assert run("doctor").exit_code == 1


def test_a_torn_page_is_grave(ids: list[str], home: Path) -> None:
    """The doctor finds damage inside a file that still opens."""
    path = home / ".threadline" / "threadline.db"
    data = bytearray(path.read_bytes())
    for page in range(8, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    path.write_bytes(data)
    result = run("doctor", "--deep")

    assert result.exit_code == 1
    assert "GRAVE" in result.stdout
    assert "Something is gravely wrong" in result.stdout


def test_the_doctor_is_content(ids: list[str]) -> None:
    """Versions, integrity, schema, what is under way, and disk space."""
    result = run("doctor", "--deep", "--json")
    told = json.loads(result.stdout)

    assert result.exit_code == 0
    assert told["ok"] is True
    assert set(told["facts"]) == {
        *("threadline", "python", "database", "agent", "disk", "integrity", "engine", "schema"),
        *("sessions", "turns", "deliveries", "leases"),
    }
    assert told["facts"]["sessions"] == "2, 1 of them open"
    assert run("doctor").stdout.endswith("All is well.\n")


def test_the_doctor_sees_what_is_under_way(home: Path) -> None:
    """A running turn and its lease are facts; one whose process is gone is a finding."""
    with Pipe(home) as pipe:
        pipe.say("slow")
        pipe.expect("Slowly")
        running = json.loads(run("doctor", "--json").stdout)
        pipe.kill()
    orphaned = json.loads(run("doctor", "--json").stdout)

    assert running["facts"]["leases"] == "1 held"
    assert running["findings"] == []
    assert "which is gone" in orphaned["findings"][0]["what"]
    assert orphaned["ok"] is True


def test_the_doctor_without_anything() -> None:
    """Before the first message there is nothing wrong."""
    result = run("doctor")

    assert result.exit_code == 0
    assert "There is no database yet" in result.stdout


def test_a_wrong_setting_is_grave(home: Path) -> None:
    """The doctor tells it as a finding; other commands refuse to work."""
    (home / "threadline.toml").write_text("lease_seconds = 0\n")

    assert "GRAVE  lease_seconds cannot be 0" in run("doctor").stdout
    assert "lease_seconds cannot be 0" in run("sessions", "list").stderr


def test_no_password_is_shown() -> None:
    """Neither by the doctor nor in an error."""
    url = "postgresql://me:s3cret@127.0.0.1:1/x?connect_timeout=1"
    for command in (["doctor"], ["doctor", "--json"], ["sessions", "list"]):
        assert "s3cret" not in run(*command, "-d", url).output


def test_the_front_door(home: Path) -> None:
    """--version answers; nonsense is a usage error; no colour where none is wanted."""
    assert run("--version").stdout.startswith("threadline 0.")
    assert run("nonsense").exit_code == 2
    assert run("sessions", "list", "--nonsense").exit_code == 2
    run("chat", lines="hello\n")
    plain = run_apart(home, "sessions", "list", more={"NO_COLOR": "1", "FORCE_COLOR": "1"})
    assert b"\x1b[3" not in plain.stdout
