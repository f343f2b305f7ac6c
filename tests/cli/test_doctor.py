"""`threadline doctor` looks at who else can look."""

from pathlib import Path

from tests.cli.program import run


def test_the_doctor_notes_what_others_can_read(home: Path) -> None:
    """A database made by us is private; one that others can read is a note, and not grave."""
    run("chat", lines="hello\n")
    assert "Other users can read" not in run("doctor").stdout

    (home / ".threadline" / "threadline.db").chmod(0o644)
    result = run("doctor")

    assert result.exit_code == 0
    assert "note   Other users can read the database (mode 0644)" in result.stdout
