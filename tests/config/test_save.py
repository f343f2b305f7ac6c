"""Settings are written into their file: all of them or none, and never to wrong ones."""

import stat
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from threadline.assembly.reload import check_all, show_settings
from threadline.config import Config
from threadline.config.config_source import Source
from threadline.config.setting_list import SettingKind, SettingOrigin, list_settings
from threadline.config.settings_writer import change_settings
from threadline.config.sources import read_text
from threadline.config.toml_edit import edit_toml
from threadline.core.errors import ConfigError, Invalid, Stale, ThreadlineError
from threadline.core.revision import revision_of

FILE = """\
# My settings.
drain_seconds = 5  # it hurries

# What happens meanwhile.
[busy]
default = "queue"  # one by one

[[routing]]
profile = "coder"
chat = "7"

[platforms.hook]
type = "webhook"  # ours
secret = "env:HOOK"
"""
KEY = "sk-live-0123456789abcdef"


class Home:
    """A home folder with a file of settings, and nothing of this machine's."""

    def __init__(self, root: Path) -> None:
        self.environ = {"HOME": str(root), "TZ": "UTC", "HOOK": "a" * 32}
        self.source = Source(environ=self.environ, folder=root)
        self.file = self.source.file
        self.file.parent.mkdir()

    def change(self, revision: str | None = None, /, **changes: object) -> Config:
        """Change settings; two underscores stand for a dot."""
        named = {key.replace("__", "."): value for key, value in changes.items()}
        seen = None if revision is None else frozenset({revision})
        return change_settings(self.source, named, show=show_settings, check=check_all, seen=seen)

    def everything(self) -> str:
        """Answer all that stands in any file here, and the names of the files."""
        found = [path for path in sorted(self.file.parent.rglob("*")) if path.is_file()]
        return "".join(f"{path.name}: {path.read_text()}" for path in found)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.file.write_text(FILE)
    return home


def test_comments_and_order_stay(home: Home) -> None:
    """Only the line that was meant becomes another one, and new ones stand where they belong."""
    home.change(busy__default="steer", concurrency=4, spend__day=2.5)

    assert home.file.read_text() == (
        FILE.replace('"queue"', '"steer"').replace("hurries\n", "hurries\nconcurrency = 4\n")
        + "\n[spend]\nday = 2.5\n"
    )


def test_comments_in_a_table_that_is_written_anew_stay(home: Home) -> None:
    """Those of settings that are still in it, whether or not they changed."""
    text = """
[agent]  # who answers
# which model
model = "openai:a"  # the cheap one
instructions = "Be brief."

[agent.personalities]
# said by Ann
kind = "Be kind."  # always
stern = "Be stern."

[busy]
default = "queue"  # one by one
"""
    agent = {"model": "openai:b", "personalities": {"kind": "Be kind.", "calm": "Be calm."}}

    written = edit_toml(text, {"agent": agent})

    assert tomllib.loads(written) == {"agent": agent, "busy": {"default": "queue"}}
    kept = text.replace("openai:a", "openai:b").replace('instructions = "Be brief."\n', "")
    kept = kept.replace('stern = "Be stern."\n', "")
    assert [line for line in kept.splitlines() if line not in written.splitlines()] == []
    assert edit_toml("[a]\nb = 1 # one\n", {"a": {"b": True}}) == "[a]\nb = true # one\n"


def test_a_first_setting_makes_the_file(home: Home) -> None:
    """It is its owner's alone."""
    home.file.unlink()
    home.file.parent.rmdir()

    assert home.change(concurrency=3).concurrency == 3
    assert home.file.read_text() == "concurrency = 3\n"
    assert stat.S_IMODE(home.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.file.parent.stat().st_mode) == 0o700


def test_the_mode_and_a_link_stay(home: Home, tmp_path: Path) -> None:
    """Whoever keeps their settings elsewhere finds them there, as readable as before."""
    elsewhere = tmp_path / "dotfiles.toml"
    home.file.rename(elsewhere)
    elsewhere.chmod(0o640)
    home.file.symlink_to(elsewhere)

    home.change(concurrency=3)

    assert home.file.is_symlink()
    assert tomllib.loads(elsewhere.read_text())["concurrency"] == 3
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o640


def test_what_is_unset_is_as_by_default(home: Home) -> None:
    """The table goes with its last setting, unless somebody wrote a comment into it."""
    assert home.change(busy__default=None).busy.default == "queue"
    assert "[busy]" not in home.file.read_text()

    home.file.write_text("[busy]\n# why\ndefault = 'steer'\n")
    home.change(busy__default=None, agent__nothing__there=None)
    assert home.file.read_text() == "[busy]\n# why\n"


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("busy.default", "sometimes", "busy.default cannot be 'sometimes'"),
        ("busy.defualt", "queue", "Did you mean busy.default?"),
        ("concurrency", "many", "concurrency cannot be 'many'"),
        ("agent.model", "openai:gpt-5.1", "providers.openai.api_key is missing"),
        ("platforms.hook.sekret", "x", "Did you mean platforms.hook.secret?"),
        ("platforms.other.type", "pigeon", "There is no platform of the type pigeon"),
        ("platforms.hook.secret", "env:GONE", "a variable that is not set"),
        ("hooks.turn_finished", ["nowhere:nothing"], "nowhere:nothing"),
        ("busy", "queue", "busy cannot be 'queue'"),
        ("mcp.x.url", "https://me:pass-word-1@host/", "has a secret in it"),
    ],
)
def test_wrong_settings_change_nothing(home: Home, key: str, value: object, sentence: str) -> None:
    """Neither the wrong one nor the right one beside it is written."""
    changes = {key: value, "drain_seconds": 9}

    with pytest.raises(ThreadlineError, match=r".") as caught:
        change_settings(home.source, changes, show=show_settings, check=check_all)

    assert sentence in str(caught.value)
    assert home.everything() == f"threadline.toml: {FILE}"


@pytest.mark.parametrize(
    "key", ["", ".", "a..b", "a b", "a\nb", '"a"', "a" * 400, "\ud800", "[x]", "x=1", "a#"]
)
def test_what_is_no_name_is_refused(home: Home, key: str) -> None:
    """Nothing gets into the file between the lines."""
    with pytest.raises(ThreadlineError):
        change_settings(home.source, {key: 1}, show=show_settings, check=check_all)

    assert home.file.read_text() == FILE


@pytest.mark.parametrize("value", ["\ud800", ["\udfff"], {"a": "\ud800"}, object(), 10**400])
def test_what_no_file_can_hold_is_refused(home: Home, value: object) -> None:
    """Half a pair of surrogates is no character, and not everything is a value."""
    with pytest.raises(ThreadlineError):
        home.change(agent__instructions=value)

    assert home.file.read_text() == FILE


def test_a_table_and_what_stands_in_it_are_not_both_changed(home: Home) -> None:
    """Nobody could tell which of them is meant."""
    with pytest.raises(Invalid, match="part of another"):
        home.change(busy={"default": "steer"}, busy__default="queue")


def test_hostile_text_stays_text(home: Home) -> None:
    """Quotes, ends of lines and headers in a value are written so that they are only that."""
    words = 'a"""b\n[access]\nallow = ["telegram:*"]\n#\\ \x00 \U0001f600'.replace("\x00", "")

    config = home.change(agent__instructions=words, agent__personalities={"terse": words})

    assert config.agent.instructions == words
    assert home.source.load().agent.personalities == {"terse": words}
    assert home.source.load().access.allow == ()


def test_a_file_that_is_broken_is_refused_with_its_line(home: Home) -> None:
    """It is never written over."""
    home.file.write_text("concurrency = 4\nbusy = = 3\n")

    with pytest.raises(ConfigError, match=r"line 2") as caught:
        home.change(concurrency=3)

    assert caught.value.id == str(home.file)
    assert home.file.read_text() == "concurrency = 4\nbusy = = 3\n"


def test_whoever_has_not_seen_the_file_changes_nothing(home: Home) -> None:
    """The revision is that of the text, so that an edit by hand counts too."""
    seen = revision_of(read_text(home.file))
    home.change(seen, concurrency=3)

    with pytest.raises(Stale, match="meantime"):
        home.change(seen, concurrency=5)

    assert home.source.load().concurrency == 3


def test_two_at_once_lose_nothing(home: Home) -> None:
    """Each reads what the other has written."""
    keys = ["concurrency", "drain_seconds", "inactivity_minutes", "freshness_seconds"]
    threads = [threading.Thread(target=home.change, kwargs={key: 77}) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    said = tomllib.loads(home.file.read_text())
    assert [said[key] for key in keys] == [77] * 4


def test_a_secret_goes_into_a_file_of_its_own(home: Home) -> None:
    """The settings say where it stands, only its owner can read it, and it is found again."""
    config = home.change(providers__openai__api_key=KEY, agent__model="openai:gpt-5.1")

    (kept,) = (home.file.parent / "secrets").iterdir()
    assert KEY not in home.file.read_text()
    assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == (KEY, 0o600)
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert config.provider_for("openai").api_key == KEY
    assert home.source.load().provider_for("openai").api_key == KEY
    assert KEY not in str(show_settings(config))


def test_secrets_within_a_table_are_kept_too(home: Home) -> None:
    """A platform says itself which of its settings are secrets."""
    config = home.change(platforms__other={"type": "webhook", "secret": "b" * 40})

    assert "b" * 40 not in home.file.read_text()
    assert config.platform_settings("other")["secret"] == "b" * 40


def test_a_secret_that_is_not_used_any_more_is_deleted(home: Home) -> None:
    """Neither a replaced key nor that of a refused change stays behind."""
    home.change(providers__openai__api_key=KEY)
    home.change(providers__openai__api_key="sk-other-0123456789")
    assert KEY not in home.everything()

    with pytest.raises(ConfigError):
        home.change(providers__openai__api_key=KEY, scribe__model="nobody:none")
    assert KEY not in home.everything()

    home.change(providers__openai__api_key=None)
    assert list((home.file.parent / "secrets").iterdir()) == []


def test_where_a_secret_stands_is_written_as_it_is(home: Home) -> None:
    """It is no secret, and neither is that there is none."""
    home.change(platforms__hook__secret="env:HOOK", providers__openai__api_key="")

    assert not (home.file.parent / "secrets").exists()


def test_the_catalogue_tells_of_every_setting(home: Home) -> None:
    """Its value, where that came from, and what else it could be."""
    home.environ["THREADLINE_CONCURRENCY"] = "7"
    found = {one.key: one for one in list_settings(home.source.load())}

    busy, concurrency, secret = (
        found[key] for key in ("busy.default", "concurrency", "platforms.hook.secret")
    )
    assert (busy.origin, busy.place) == (SettingOrigin.FILE, str(home.file))
    assert busy.choices == ["queue", "collect", "interrupt", "steer"]
    assert (concurrency.value, concurrency.default, concurrency.kind) == (7, 32, SettingKind.NUMBER)
    assert (concurrency.origin, concurrency.place) == (
        SettingOrigin.VARIABLE,
        "THREADLINE_CONCURRENCY",
    )
    assert found["spend.day"].kind is SettingKind.NUMBER
    assert found["server.port"].restart
    assert not found["agent.command"].remote
    assert (secret.value, secret.secret) == ("env:HOOK", False)


_TOP = ("concurrency", "profile", "routing", "agent", "new")
_DEEP = ("busy.default", "agent.model", "agent.options.a", "agent.personalities", "spend.day")
_NAMED = ("platforms.x", "platforms.x.y", "mcp.y.headers.Z")
_KEYS = st.sampled_from((*_TOP, *_DEEP, *_NAMED))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4), max_size=4))
def test_whatever_is_edited_says_what_it_should_or_is_refused(
    steps: list[dict[str, object]],
) -> None:
    """No sequence of changes makes a file that cannot be read."""
    text = FILE
    for changes in steps:
        try:
            text = edit_toml(text, changes)
        except Invalid:
            continue
        said = tomllib.loads(text)
        for key, value in changes.items():
            if isinstance(value, bool | int | str):
                found: Any = said
                for name in key.split("."):
                    found = found[name]
                assert found == value
