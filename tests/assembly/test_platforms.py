"""Assembly: platforms by their settings, those of other packages too."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import threadline
from threadline.assembly import gateway_settings, make_platforms
from threadline.config import Config, parse_config
from threadline.core.access import AccessRules
from threadline.core.context import LocalInterface
from threadline.core.delivery import LOCAL
from threadline.core.errors import ConfigError
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.settings import Settings
from threadline.core.target import RESERVED_PLATFORMS, TargetKind, parse_target

MODULE = """
from threadline.core.errors import Invalid
from threadline.platforms.simulated import Simulated


def make(name, settings):
    if "coo" not in settings:
        raise Invalid("A pigeon has to coo", hint="Set coo")
    return Simulated(name, notes=str(settings["coo"]))


def pretend(name, settings):
    return Simulated("local")
"""


async def test_a_library_goes_by_the_zone_of_the_machine(
    tmp_path: Path, machine_in: Callable[[str], None]
) -> None:
    """Rules that name no time zone are those of the settings, which name none either."""
    machine_in("Asia/Tokyo")
    daily = Settings(policies=Policies(default=ResetPolicy(mode=ResetMode.DAILY)))
    config = parse_config("[reset.default]\nmode = 'daily'\n", "threadline.toml")

    async with threadline.open(tmp_path / "a.db", rules=daily) as store:
        assert store.rules.policies == config.rules().policies
        assert store.rules.spend == config.rules().spend
        assert str(store.rules.policies.default.timezone) == "Asia/Tokyo"
    async with threadline.open(tmp_path / "b.db") as store:
        assert store.rules == parse_config("", "threadline.toml").rules()


@pytest.fixture
def pigeons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that brings two kinds of platforms, one of which cannot be loaded."""
    (tmp_path / "pigeons.py").write_text(MODULE)
    info = tmp_path / "pigeons-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeons\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[threadline.platforms]\npigeon = pigeons:make\ndodo = pigeons:extinct\n"
        "cuckoo = pigeons:pretend\nlocal = pigeons:pretend\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("pigeons", None)


def read(text: str) -> Config:
    """Read settings that nobody wrote into a file."""
    return parse_config(text, "threadline.toml", environ={})


@pytest.mark.usefixtures("pigeons")
def test_a_package_brings_a_platform() -> None:
    """By an entry point; its own settings reach it, and one that is switched off is not made."""
    config = read(
        "[platforms.north]\ntype = 'pigeon'\ncoo = 'softly'\n"
        "[platforms.south]\ntype = 'pigeon'\nenabled = false\n"
    )

    made = {platform.name: platform.notes for platform in make_platforms(config)}

    assert made["north"] == "softly"
    assert set(made) == {"north", "local"}


@pytest.mark.usefixtures("pigeons")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[platforms.pigeon]", "A pigeon has to coo (platforms.pigeon). Set coo."),
        ("[platforms.dodo]", "The platform cannot be loaded"),
        ("[platforms.raven]", "There are: cuckoo, dodo, local, pigeon, telegram, webhook"),
        ("[platforms.cuckoo]", "The platform calls itself 'local'"),
        ("[platforms.telegram]\ntype = 'webhook'", "the name of another kind of platform"),
    ],
)
def test_a_platform_that_cannot_be_made_is_named(text: str, sentence: str) -> None:
    """With the key of its table, and what there is to do."""
    with pytest.raises(ConfigError) as caught:
        make_platforms(read(text))

    assert sentence in str(caught.value)
    assert "platforms." in str(caught.value)


@pytest.mark.usefixtures("pigeons")
@pytest.mark.parametrize("name", sorted(RESERVED_PLATFORMS))
def test_a_platform_cannot_have_a_reserved_name(name: str) -> None:
    """A platform named `local` would speak as the owner, also if its package gives it the name."""
    with pytest.raises(ConfigError, match=f"platforms.{name} has a reserved name"):
        read(f"[platforms.{name}]\ntype = 'webhook'\nsecret = 'a secret of 20 chars'\n")
    with pytest.raises(ConfigError, match="reserved"):
        read(f"[platforms.{name}]\nenabled = false\n")


def test_every_word_of_a_target_is_reserved() -> None:
    """A platform with such a name could not be named as a target."""
    words = [kind for kind in TargetKind if parse_target(kind.value).kind is not TargetKind.HOME]

    assert set(words) <= RESERVED_PLATFORMS
    assert {LOCAL, *LocalInterface} <= RESERVED_PLATFORMS


def test_the_settings_of_a_gateway_are_made() -> None:
    """Spans and rules as values; the secrets are known, and not shown."""
    settings = gateway_settings(
        read(
            "drain_seconds = 3\ninactivity_minutes = 5\nstreaming = false\nprofile = 'work'\n"
            "[access]\nallow = ['webhook:ci']\n[profiles.work]\nconcurrency = 2\n"
            "[platforms.webhook]\nsecret = 'a secret of 20 chars'\n"
        )
    )

    assert settings.access == AccessRules(allow=["webhook:ci"])
    assert (settings.pace.drain.seconds, settings.streams) == (3, False)
    assert settings.pace.inactivity is not None
    assert settings.pace.inactivity.seconds == 300
    assert (settings.default_profile, settings.per_profile) == ("work", {"work": 2})
    assert settings.secrets == {"a secret of 20 chars"}
    assert "20 chars" not in repr(settings)
