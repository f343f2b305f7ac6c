"""`threadline export`, `sessions export` and `import`: files that are safe, and come back."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.program import run, run_apart


@pytest.fixture(name="ids")
def two_sessions() -> list[str]:
    run("chat", lines="first words to ann@example.org\n/new\nsecond *words*\nfail\n")
    return [row["id"] for row in json.loads(run("sessions", "list", "--json").stdout)]


def test_a_session_is_shown_as_a_page(ids: list[str]) -> None:
    """Without a file it is written to standard output, as Markdown."""
    page = run("sessions", "export", ids[0])

    assert page.exit_code == 0
    assert page.stdout.startswith("# second \\*words\\*\n")
    assert "*Failed. The echo was asked to fail" in page.stdout


def test_a_page_becomes_a_file_of_its_owner(ids: list[str], home: Path) -> None:
    """HTML in a file that nobody else can read, and nothing else is left in the folder."""
    before = {*home.iterdir()}

    said = run("sessions", "export", ids[0][:-1], "-f", "html", "-o", "page.html")

    page = home / "page.html"
    assert said.exit_code == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert {*home.iterdir()} - before == {page}
    assert said.stdout == f"page.html is written: {page.stat().st_size:,} bytes.\n"


def test_no_file_is_written_over(ids: list[str], home: Path) -> None:
    """A file that is there stays, unless --force is given."""
    (home / "mine.jsonl").write_text("mine", "utf-8")

    refused = run("export", "--all", "-o", "mine.jsonl")
    kept = (home / "mine.jsonl").read_text("utf-8")
    forced = run("export", "--all", "-o", "mine.jsonl", "--force")

    assert refused.exit_code == 1
    assert refused.stderr == (
        "threadline: There is such a file already (mine.jsonl). --force writes over it.\n"
    )
    assert kept == "mine"
    assert forced.exit_code == 0
    assert (home / "mine.jsonl").read_text("utf-8").startswith('{"type":"header"')


def test_everything_goes_into_a_new_store_and_comes_out_the_same(
    ids: list[str], home: Path
) -> None:
    """Export, import into a database that is made for it, export: the same bytes."""
    assert run("export", "--all", "-o", "one.jsonl").exit_code == 0

    taken = run("import", "one.jsonl", "--database", "new.db")
    again = run("import", "one.jsonl", "--database", "new.db", "--json")
    run("export", "--all", "-o", "two.jsonl", "--database", "new.db")

    assert taken.stdout == "2 sessions added, with 7 messages; 0 there already.\n"
    report = json.loads(again.stdout)
    assert (report["added"], report["skipped"], report["problems"]) == (0, 2, [])
    assert (home / "one.jsonl").read_bytes() == (home / "two.jsonl").read_bytes()


def test_a_bad_file_changes_nothing(ids: list[str], home: Path) -> None:
    """The whole file is read before anything is stored; the error names the line."""
    run("export", "--all", "-o", "one.jsonl")
    lines = (home / "one.jsonl").read_text("utf-8").splitlines(keepends=True)
    (home / "bad.jsonl").write_text("".join([*lines[:-2], "{\n", *lines[-2:]]), "utf-8")

    bad = run("import", "bad.jsonl", "--database", "new.db")
    cut = run("import", "--database", "new.db", "-", lines="".join(lines[:-1]))

    assert bad.exit_code == 1
    assert bad.stderr.startswith(f"threadline: Line {len(lines) - 1}: This is not JSON")
    assert not (home / "new.db").exists() or cut.exit_code == 1
    assert "ends before its footer" in cut.stderr


def test_what_can_be_read_comes_in_if_that_is_wished(ids: list[str], home: Path) -> None:
    """--skip-bad leaves out the session with the bad line, says so, and ends with 1."""
    run("export", "--all", "-o", "one.jsonl")
    lines = (home / "one.jsonl").read_text("utf-8").splitlines(keepends=True)
    (home / "bad.jsonl").write_text("".join([*lines[:2], "{\n", *lines[2:]]), "utf-8")

    said = run("import", "bad.jsonl", "--skip-bad", "--database", "new.db")

    assert said.exit_code == 1
    assert "could not be read" in said.stdout
    assert "line 3" in said.stdout


def test_a_dry_run_makes_no_database(ids: list[str], home: Path) -> None:
    """It says what would come of the file, in a store that is there."""
    run("export", "--all", "-o", "one.jsonl")

    nowhere = run("import", "one.jsonl", "--dry-run", "--database", "new.db")
    here = run("import", "one.jsonl", "--dry-run")

    assert nowhere.exit_code == 1
    assert not (home / "new.db").exists()
    assert here.stdout == "0 sessions would be added, with 0 messages; 2 there already.\n"


def test_a_redacted_export_can_be_shared(ids: list[str], home: Path) -> None:
    """It says that it is one, names nobody, and can be imported."""
    said = run("export", "--all", "--redact", "-o", "shared.jsonl", "--json")
    page = run("sessions", "export", ids[1], "--redact")

    text = (home / "shared.jsonl").read_text("utf-8")
    assert json.loads(said.stdout)["file"] == "shared.jsonl"
    assert json.loads(text.splitlines()[0])["redacted"] is True
    assert "ann@example.org" not in text + page.stdout
    assert "[email]" in page.stdout.replace("\\", "")
    assert '"id":"owner"' not in text
    assert run("import", "shared.jsonl", "--database", "new.db").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("export", "-o", "x", "--person", "nobody"),
        ("export", "-o", "x", "--person", "local:nobody"),
        ("export", "-o", "x", "--project", "none"),
        ("export", "-o", "x", "--all", "--person", "local:owner"),
        ("export", "-o", "x", "--all", "--profile", "main"),
        ("export", "-o", "no/such/folder/x", "--all"),
        ("export", "-o", "a\0b", "--all"),
        ("import", "nothing.jsonl"),
        ("import", "."),
        ("sessions", "export", "nope"),
    ],
)
def test_odd_wishes_get_one_sentence(
    ids: list[str], home: Path, arguments: tuple[str, ...]
) -> None:
    """What is not there or not clear is an error of one line, and leaves no file."""
    said = run(*arguments)

    assert said.exit_code == 1
    assert len(said.stderr.splitlines()) == 1
    assert not (home / "x").exists()
    assert not [file for file in home.iterdir() if file.name.endswith(".part")]


def test_a_link_is_not_followed(ids: list[str], home: Path) -> None:
    """A link in the place of the file is a file that is there; --force replaces the link."""
    (home / "other").write_text("theirs", "utf-8")
    (home / "link").symlink_to(home / "other")

    refused = run("export", "--all", "-o", "link")
    run("export", "--all", "-o", "link", "--force")

    assert refused.exit_code == 1
    assert (home / "other").read_text("utf-8") == "theirs"
    assert not (home / "link").is_symlink()


def test_a_pipe_takes_a_file(ids: list[str], home: Path) -> None:
    """One program writes what another one reads."""
    data = run_apart(home, "export", "--all", "-o", "-").stdout

    taken = run_apart(home, "import", "-", "--database", "new.db", lines=data)

    assert taken.stdout.startswith(b"2 sessions added")
