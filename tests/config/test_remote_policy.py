"""Settings that are changed from afar: no program, and no secret that goes to somebody else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, get_args, get_origin

import pytest

from threadline.assembly.reload import check_all, show_settings
from threadline.config import Config
from threadline.config.config_source import Source
from threadline.config.remote_policy import is_remote, require_near
from threadline.config.sections import Section
from threadline.config.settings_writer import change_settings
from threadline.core.errors import Refused

OWN = ("", "profiles.*.")
"""Where an agent and rules of tools are set: for all profiles, or for one."""
_MACHINE_ONLY = """
    database hooks.session_started hooks.session_ended hooks.turn_finished hooks.delivery_failed
    mcp.*.command mcp.*.environment.* mcp.*.folder
    server.host server.port server.url server.hosts server.proxies
"""
_REMOTE = """
    access.allow access.chats access.roles access.admins access.bots access.relays access.pairing
    access.messages_per_minute busy.default busy.platforms.* concurrency context.redact
    context.instructions.text context.instructions.skills context.instructions.platform
    context.instructions.scope context.instructions.chat context.instructions.thread
    deliveries.max_repeats drain_seconds edits freshness_seconds inactivity_minutes lease_seconds
    logs.format logs.level mcp.*.url mcp.*.headers.* mcp.*.timeout_seconds people
    platforms.*.type platforms.*.enabled platforms.*.home profile profiles.*.concurrency
    providers.*.api providers.*.base_url providers.*.api_version providers.*.api_key
    retention.days retention.origins.* retention.platforms.* retention.kinds.* retention.megabytes
    retention.unbind_after_days routing.profile routing.platform routing.account routing.scope
    routing.chat routing.thread scribe.model scribe.compact_at scribe.titles
    sharing.groups sharing.threads sharing.platforms.*.groups sharing.platforms.*.threads
    spend.person_day spend.person_month spend.session spend.day spend.month spend.timezone streaming
"""
MACHINE_ONLY = {*_MACHINE_ONLY.split()} | {
    f"{of}agent.{name}" for of in OWN for name in ("command", "folder", "python", "environment.*")
}
"""Settings that can only be changed on the machine."""
_AGENT = """
    type model fallback models instructions max_steps context_tokens options.* personalities.*
"""
_RESET = ("mode", "idle_minutes", "at_hour", "timezone", "notify", "carry")
_TOOLS = ("use", "ask", "free")
REMOTE = {*_REMOTE.split()} | {
    *(f"{of}agent.{name}" for of in OWN for name in _AGENT.split()),
    *(f"{of}tools.{on}{name}" for of in OWN for on in ("", "platforms.*.") for name in _TOOLS),
    *(f"{of}tools.approvers" for of in OWN),
    *(f"reset.{on}.{n}" for on in ("default", "kinds.*", "platforms.*") for n in _RESET),
}
"""Settings that an owner may change over HTTP."""
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


def all_settings(annotation: object, way: str = "") -> Iterator[str]:
    """Walk over the names of all settings; `*` is a name that the user chooses."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is dict:
        yield from all_settings(get_args(annotation)[1], f"{way}.*")
        return
    for part in (annotation, *get_args(annotation)):
        one = get_args(part)[0] if get_origin(part) is Annotated else part
        if isinstance(one, type) and issubclass(one, Section):
            for name, field in one.model_fields.items():
                yield from all_settings(field.annotation, f"{way}.{name}" if way else name)
            return
    yield way


def test_every_setting_is_classified() -> None:
    """A new setting has to be put into one of the two lists, and the product has to agree."""
    settings = set(all_settings(Config))

    assert settings - MACHINE_ONLY - REMOTE == set()
    assert not MACHINE_ONLY & REMOTE
    assert {key for key in settings if is_remote(key)} == REMOTE & settings
    assert not is_remote("never_heard_of")
    assert not is_remote("agent.never_heard_of")
    assert not is_remote("profiles.coder.never_heard_of")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.url", EVIL),
        ("server.hosts", ["evil.example"]),
        ("server.proxies", ["0.0.0.0/0"]),
        ("server", None),
        ("server", {}),
        ("hooks", {}),
        ("agent.environment", {}),
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


MACHINE_FILE = """\
[server]
hosts = ["home.example"]
[agent]
command = ["agent"]
folder = "work"
[agent.environment]
MODE = "safe"
[mcp.files]
command = ["server"]
[profiles.coder.agent]
folder = "code"
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agent", None),
        ("agent", {"type": "echo"}),
        ("mcp", None),
        ("mcp.files", None),
        ("mcp.files", {"url": EVIL}),
        ("profiles", {}),
        ("profiles.coder", None),
        ("profiles.coder.agent", {"instructions": "x"}),
    ],
)
def test_a_table_takes_nothing_of_the_machine_with_it(
    source: Source, key: str, value: object
) -> None:
    """A table that holds settings of the machine is not unset or replaced over HTTP."""
    source.file.write_text(MACHINE_FILE)
    with pytest.raises(Refused, match="can only be changed on the machine itself"):
        require_near({key: value}, source.load())


def test_the_rest_may_be_changed_from_afar(source: Source) -> None:
    """Also a table that names again where its secret stands, as it did before."""
    changes = {"agent.model": "openai:x", "platforms.x.folder": "a", "spend.day": None}
    hook = {"type": "webhook", "secret": "env:HOOK"}
    require_near({"agent": {"model": "openai:x"}, "mcp": None, "profiles.x": {}}, source.load())
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
        ("platforms.hook.api_url", "https:evil.example"),
        ("platforms.hook.api_url", "HTTPS:/evil.example"),
        ("platforms.hook.api_url", "https:\\\\evil.example"),
        ("platforms.hook.api_url", " ht\ntps:evil.example"),
        ("providers.openai.base_url", "https://evil.example\\@api.openai.com/v1"),
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
