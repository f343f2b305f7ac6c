"""Settings that are changed from afar: no program, and no secret that goes to somebody else."""

from pathlib import Path

import pytest

from threadline.assembly.reloading import check_all, show_settings
from threadline.config.reach import require_near
from threadline.config.source import Source
from threadline.config.writing import change_settings
from threadline.core.errors import Refused

FILE = """\
[platforms.hook]
type = "webhook"
secret = "env:HOOK"
"""
KEY = "sk-live-0123456789abcdef"
OPENAI = "https://api.openai.com/v1"
EVIL = "https://evil.example/v1"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """Make a home folder with a file of settings, in which a key is kept, and one in a variable."""
    environ = {"HOME": str(tmp_path), "TZ": "UTC", "HOOK": "a" * 32, "ANTHROPIC_API_KEY": KEY}
    made = Source(environ=environ, folder=tmp_path)
    made.file.parent.mkdir()
    made.file.write_text(FILE)
    kept = {"providers.openai": {"base_url": OPENAI, "api_key": KEY}}
    change_settings(made, kept, show=show_settings, check=check_all)
    return made


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agent.command", ["sh", "-c", "true"]),
        ("agent.python", "os:system"),
        ("agent.environment.PATH", "/tmp"),
        ("profiles.coder.agent", {"command": ["sh"]}),
        ("mcp.x", {"command": ["sh"]}),
        ("mcp.x.folder", "/"),
        ("hooks.turn_finished", ["os:system"]),
        ("database", "/etc/passwd"),
        ("providers.openai.api_key", "file:/etc/passwd"),
        ("providers.openai.api_key", "file:../../etc/passwd"),
        ("platforms.x", {"secret": "file:~root/.ssh/id_rsa"}),
    ],
)
def test_a_login_is_no_shell(source: Source, key: str, value: object) -> None:
    """From afar nobody names a program, nor a file of the machine that would be sent somewhere."""
    with pytest.raises(Refused):
        require_near({key: value}, source.load())


def test_the_rest_may_be_changed_from_afar(source: Source) -> None:
    """Also a table that names again where its secret stands, as it did before."""
    changes = {"agent.model": "openai:x", "platforms.x.folder": "a", "spend.day": None}
    hook = {"type": "webhook", "secret": "env:HOOK"}
    require_near({**changes, "platforms.hook": hook, "mcp.x.url": EVIL}, source.load())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mcp.x", {"url": EVIL, "headers": {"A": "env:DATABASE_URL"}}),
        ("mcp.x.headers.A", "env:HOOK"),
        ("platforms.x", {"type": "webhook", "parts": [{"key": ["env:HOOK"]}]}),
        ("platforms.hook.secret", "env:PATH"),
        ("providers.openai.api_key", "file:secrets/hook"),
        ("providers.openai.api_key", "file:threadline.toml"),
    ],
)
def test_nobody_names_a_secret_from_afar(source: Source, key: str, value: object) -> None:
    """It would be sent to whoever the rest of the table names, and a probe is enough for that."""
    with pytest.raises(Refused, match="can only be named on the machine itself"):
        require_near({key: value}, source.load())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("providers.openai.base_url", EVIL),
        ("providers.openai", {"base_url": EVIL}),
        ("providers.openai.base_url", "https://api.openai.com:8443/v1"),
        ("providers.anthropic.base_url", EVIL),
        ("platforms.hook.api_url", EVIL),
        ("platforms.hook.proxies", [EVIL]),
    ],
)
def test_a_kept_secret_goes_to_nobody_else(source: Source, key: str, value: object) -> None:
    """A new address wants the secret anew, wherever that stands."""
    config = source.load()
    with pytest.raises(Refused, match="secret of the old one"):
        require_near({key: value}, config)
    with pytest.raises(Refused, match="secret of the old one"):
        require_near({key: value, "providers.other.api_key": KEY}, config)


def test_an_address_comes_with_its_secret(source: Source) -> None:
    """Then it is changed, and so is a path of the same address, or one that has no secret."""
    config = source.load()
    for changes in (
        {"providers.openai.base_url": EVIL, "providers.openai.api_key": "sk-new"},
        {"providers.openai": {"base_url": EVIL, "api_key": ""}},
        {"providers.openai.base_url": "https://api.openai.com/v2"},
        {"providers.openai.base_url": None},
        {"providers.ollama.base_url": "http://192.168.1.5:11434/v1"},
        {"mcp.new": {"url": EVIL, "headers": {"Authorization": "Bearer x"}}},
        {"platforms.hook": {"type": "webhook", "secret": "c" * 40, "api_url": EVIL}},
    ):
        require_near(changes, config)
