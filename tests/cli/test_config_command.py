"""`threadline config`: every setting and where it came from."""

import json
from pathlib import Path

import pytest

from tests.cli.program import run


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
