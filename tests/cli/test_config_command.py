"""`threadline config`: every setting and where it came from."""

import json
from pathlib import Path

import pytest

from tests.cli.program import run, run_apart
from threadline.database.installation_secret import secret_file


def test_every_setting_is_shown_with_its_origin(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, a variable, an option, or the defaults."""
    (home / "threadline.toml").write_text("lease_seconds = 30\n[access]\nallow = ['x:1']\n")
    monkeypatch.setenv("THREADLINE_DRAIN_SECONDS", "5")

    shown = json.loads(run("config", "--json", "--profile", "coder").stdout)

    assert shown["lease_seconds"] == {"value": 30, "from": str(home / "threadline.toml")}
    assert shown["access.allow"]["value"] == ["x:1"]
    assert shown["drain_seconds"] == {"value": 5, "from": "THREADLINE_DRAIN_SECONDS"}
    assert shown["profile"] == {"value": "coder", "from": "--profile"}
    assert shown["server.port"] == {"value": 8642, "from": "default"}


def test_one_setting_or_one_table_can_be_asked_for() -> None:
    """One setting alone is its value and nothing else, so that a script can use it."""
    assert run("config", "server.port").stdout == "8642\n"

    table = run("config", "server").stdout
    assert "server.host" in table
    assert "lease_seconds" not in table


def test_settings_are_described() -> None:
    """With the sentence of the reference, and what each must be."""
    shown = run("config", "logs", "--describe").stdout

    assert shown == (
        "logs.format = auto (default)\n"
        "  How the log is written: for people, for programs, or as fits the output.\n"
        "  It must be one of auto, console, json.\n"
        "logs.level = info (default)\n"
        "  The least severe messages to log.\n"
        "  It must be one of debug, info, warning, error.\n"
    )


def test_what_does_not_exist_is_said() -> None:
    """With the name that may be meant."""
    done = run("config", "server.prot")

    assert done.exit_code == 1
    assert "Did you mean server.port?" in done.output


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_secret_is_shown(home: Path, options: tuple[str, ...]) -> None:
    """Where it stands may be told; what it is may not, nor the password of a database."""
    (home / "threadline.toml").write_text(
        "database = 'postgresql://me:s3cret@host/db'\n"
        "[platforms.one]\nsecret = 's3cret-s3cret'\nbot_token = 'env:TOKEN'\n"
    )

    done = run("config", *options)

    assert done.exit_code == 1  # there is no platform of such a type
    assert "s3cret" not in done.output
    assert "env:TOKEN" in done.output


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            "[platforms.webhook]\nsecrt = 'env:NOT_SET'\n",
            "There is no setting platforms.webhook.secrt ({file}). Did you mean platforms.",
        ),
        (
            "[platforms.shop]\nsecrt = 'env:NOT_SET'\n",
            "platforms.shop.type is missing ({file}). There are: telegram, webhook;",
        ),
        (
            "[platforms.shop]\ntype = 'webhook'\nbody_limit = 5000\n",
            "platforms.shop.secret is missing ({file}). The platform needs it.",
        ),
    ],
)
@pytest.mark.parametrize("command", ["config", "serve"])
def test_a_misspelt_platform_is_named_by_what_is_wrong(
    home: Path, command: str, table: str, sentence: str
) -> None:
    """First its type, then a name that it does not know, then what it lacks; secrets come last."""
    file = home / "threadline.toml"
    file.write_text(table)

    done = run(command)

    assert done.exit_code == 1
    assert sentence.format(file=file) in done.stderr


def test_a_platform_that_is_switched_off_may_be_anything(home: Path) -> None:
    """Its package need not even be there."""
    (home / "threadline.toml").write_text("[platforms.shop]\nenabled = false\nx = 1\n")

    assert run("config").exit_code == 0


def test_a_setting_is_set_and_taken_out(home: Path) -> None:
    """In the user's own file, as the kind of value that it is, and the comments stay."""
    file = home / ".threadline" / "threadline.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("# mine\nlease_seconds = 30\n")

    assert run("config", "set", "concurrency", "4").exit_code == 0
    assert run("config", "set", "access.allow", '["telegram:42"]').exit_code == 0
    assert run("config", "set", "streaming", "false").exit_code == 0
    assert run("config", "set", "agent.instructions", "Be brief. 4").exit_code == 0
    done = run("config", "unset", "lease_seconds")

    assert str(file) in done.stdout.replace("\n", "")
    assert file.read_text() == (
        "# mine\nconcurrency = 4\nstreaming = false\n\n[access]\n"
        'allow = ["telegram:42"]\n\n[agent]\ninstructions = "Be brief. 4"\n'
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("set", "concurrency", "many"), "concurrency cannot be 'many'"),
        (("set", "concurency", "4"), "Did you mean concurrency?"),
        (("set", "concurrency"), "set KEY VALUE"),
        (("unset",), "set KEY VALUE"),
        (("concurrency", "4"), "set KEY VALUE"),
    ],
)
def test_what_cannot_be_set_is_told(home: Path, words: tuple[str, ...], sentence: str) -> None:
    """And nothing is written."""
    done = run("config", *words)

    assert done.exit_code == 1
    assert sentence in " ".join(done.output.split())
    assert not (home / ".threadline" / "threadline.toml").exists()


def test_a_secret_is_read_from_the_input(home: Path) -> None:
    """So that it stands in no history of commands, and in no file that others read."""
    done = run("config", "set", "providers.openai.api_key", "-", lines="sk-0123456789\n")

    assert done.exit_code == 0, done.output
    (kept,) = (home / ".threadline" / "secrets").iterdir()
    assert kept.read_text() == "sk-0123456789"
    assert "sk-0123456789" not in done.output + (home / ".threadline/threadline.toml").read_text()


def test_one_variable_moves_everything(home: Path) -> None:
    """Settings, secrets, database, export and demo are in THREADLINE_HOME, and nowhere else."""
    moved = {"THREADLINE_HOME": str(home / "srv" / "threadline")}
    folder = home / "srv" / "threadline"

    for arguments, lines in (
        (("init", "--yes", "--webhook"), b""),
        (("config", "set", "providers.openai.api_key", "-"), b"sk-0123456789\n"),
        (("chat",), b"hello\n/export md\n"),
        (("doctor",), b""),
    ):
        done = run_apart(home, *arguments, lines=lines, more=moved)
        assert done.returncode == 0, done.stderr + done.stdout
    shown = json.loads(run_apart(home, "config", "database", "--json", more=moved).stdout)

    assert shown["database"] == {"value": str(folder / "threadline.db"), "from": "THREADLINE_HOME"}
    assert {file.name for file in folder.iterdir()} >= {
        "threadline.db",
        "threadline.toml",
        "webhook.secret",
        "secrets",
        "output",
    }
    assert len(list((folder / "output" / "main").glob("*.md"))) == 1
    assert folder.stat().st_mode & 0o077 == 0
    assert not (home / ".threadline").exists()


def test_the_secret_of_a_server_moves_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of a PostgreSQL store is beside the settings, wherever those are."""
    assert secret_file("postgresql://a/b").parent == home / ".threadline"
    monkeypatch.setenv("THREADLINE_HOME", str(home / "srv"))
    assert secret_file("postgresql://a/b").parent == home / "srv"


def test_an_unknown_variable_ends_no_command(home: Path) -> None:
    """A line on standard error names the variable that may be meant; the command does its work."""
    wrong = {"THREADLINE_PROFLIE": "x", "THREADLINE_HOME": str(home / "srv")}
    done = run_apart(home, "chat", lines=b"hello\n", more=wrong)

    assert done.returncode == 0
    assert b"You said" in done.stdout
    (warning,) = done.stderr.decode().splitlines()
    assert warning == (
        "The variable THREADLINE_PROFLIE is ignored: there is no such setting."
        " Did you mean THREADLINE_PROFILE?"
    )


def test_the_file_of_the_project_wins_over_the_user_s(home: Path) -> None:
    """What is written for the user then has no effect here, and that is told."""
    project = home / "threadline.toml"
    project.write_text("concurrency = 2\n")

    told = run("config", "set", "concurrency", "4").stdout

    assert f"But concurrency comes from {project}." in " ".join(told.split())
    assert run("config", "concurrency").stdout.strip() == "2"


def test_a_variable_that_wins_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written holds as soon as it is gone."""
    monkeypatch.setenv("THREADLINE_CONCURRENCY", "7")

    assert "THREADLINE_CONCURRENCY" in run("config", "set", "concurrency", "4").stdout
