"""Settings: where they come from, who wins, and how a wrong one is told."""

import os
import traceback
from datetime import UTC, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from threadline.config import (
    DEFAULT,
    Config,
    _warn_unknown,
    load_config,
    machine_zone,
    output_folder,
    user_file,
)
from threadline.core.address import Address, Kind
from threadline.core.database_url import hide_password
from threadline.core.errors import ConfigError
from threadline.core.reset_policy import Carry, ResetMode
from threadline.core.retention import Retention
from threadline.core.route import Sharing
from threadline.core.session import BusyMode, Origin
from threadline.core.settings import EditMode, Settings


class Place:
    """A home, a project, and an environment, all of them for one test."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        (self.home / ".threadline").mkdir(parents=True)
        self.project.mkdir()
        self.environ = {"HOME": str(self.home), "TZ": "UTC"}

    def user(self, text: str) -> None:
        (self.home / ".threadline" / "threadline.toml").write_text(text)

    def local(self, text: str) -> None:
        (self.project / "threadline.toml").write_text(text)

    def load(self, **options: str | None) -> Config:
        return load_config(options, environ=self.environ, folder=self.project)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_any_file_the_defaults_hold(place: Place) -> None:
    """The rules are then those of the product."""
    config = place.load()

    assert config.rules() == Settings().in_zone(UTC)
    assert config.origin_of("lease_seconds") == DEFAULT
    assert (config.profile, config.drain_seconds) == ("main", 20)
    assert not config.is_server


def test_environment_wins_over_project_over_user(place: Place) -> None:
    """Setting by setting, and each knows where it came from."""
    place.user("lease_seconds = 1\ndrain_seconds = 1\nfreshness_seconds = 1\n")
    place.local("lease_seconds = 2\ndrain_seconds = 2\n")
    place.environ["THREADLINE_LEASE_SECONDS"] = "3"
    config = place.load()

    assert (config.lease_seconds, config.drain_seconds, config.freshness_seconds) == (3, 2, 1)
    assert config.origin_of("lease_seconds") == "THREADLINE_LEASE_SECONDS"
    assert config.origin_of("drain_seconds").endswith("project/threadline.toml")
    assert config.origin_of("freshness_seconds").endswith("home/.threadline/threadline.toml")
    names = ("lease_seconds", "drain_seconds", "freshness_seconds", "concurrency")
    assert [config.is_overridden(name) for name in names] == [True, True, False, False]


def test_one_variable_moves_the_folder_of_everything(place: Place, tmp_path: Path) -> None:
    """`THREADLINE_HOME` holds the user's file and the database, and is itself no setting."""
    place.user("concurrency = 3\n")
    moved = tmp_path / "srv"
    moved.mkdir()
    (moved / "threadline.toml").write_text("concurrency = 5\n[agent]\nfolder = 'work'\n")
    place.environ["THREADLINE_HOME"] = str(moved)
    config = place.load()

    assert (config.folder, config.path) == (moved, moved / "threadline.db")
    assert (config.origin_of("database"), config.is_overridden("database")) == (
        "THREADLINE_HOME",
        False,
    )
    assert (config.concurrency, user_file(place.environ)) == (5, moved / "threadline.toml")
    assert output_folder(place.environ) == moved / "output"
    place.local("database = 'here.db'\n")
    assert place.load().path == place.project / "here.db"


def test_a_relative_folder_begins_where_the_program_was_started(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`THREADLINE_HOME=data` means the same for everything that is in it."""
    monkeypatch.chdir(place.project)
    place.environ["THREADLINE_HOME"] = "data"

    assert place.load().path == place.project / "data" / "threadline.db"


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("THREADLINE_DATABSE", "Did you mean THREADLINE_DATABASE?"),
        ("THREADLINE_SERVER_PORT", "Did you mean THREADLINE_SERVER__PORT?"),
        ("THREADLINE_SERVER__PROT", "Did you mean THREADLINE_SERVER__PORT?"),
        ("THREADLINE_BUSY__DEFAUTL", "Did you mean THREADLINE_BUSY__DEFAULT?"),
        ("THREADLINE_PROFILE__X", "Did you mean THREADLINE_PROFILE?"),
        ("THREADLINE_MCP__FILES__COMAND", "Did you mean THREADLINE_MCP__FILES__COMMAND?"),
        ("THREADLINE_PROFILES__A__AGENT__MODLE", "THREADLINE_PROFILES__A__AGENT__MODEL?"),
        ("THREADLINE_RESET__KINDS__GRUOP__MODE", ""),
        ("THREADLINE_ZZZZZZ", "`threadline config` shows all settings."),
    ],
)
def test_an_unknown_variable_is_a_warning(
    place: Place, caplog: pytest.LogCaptureFixture, variable: str, hint: str
) -> None:
    """Every command goes on, and is told once which variable may be meant; no value is shown."""
    place.environ[variable] = "s3cret"
    _warn_unknown.cache_clear()

    assert place.load().rules() == Settings().in_zone(UTC)
    place.load()

    (line,) = caplog.messages
    assert line.startswith(f"The variable {variable} is ignored: there is no such setting.")
    assert hint in line
    assert "s3cret" not in line


@pytest.mark.parametrize(
    "variable",
    [
        "THREADLINE_PLATFORMS__MINE__ANYTHING__AT__ALL",
        "THREADLINE_AGENT__OPTIONS__A__B",
        "THREADLINE_AGENT__ENVIRONMENT__TOKEN",
        "THREADLINE_PROFILES__A__AGENT__INSTRUCTIONS",
        "THREADLINE_SPEND__DAY",
    ],
)
def test_a_variable_that_is_a_setting_is_no_warning(
    place: Place, caplog: pytest.LogCaptureFixture, variable: str
) -> None:
    """Neither in tables whose names the user chooses."""
    place.environ[variable] = "1"
    place.load()

    assert not caplog.messages


def test_options_win_over_everything(place: Place) -> None:
    """An option that was not given changes nothing; neither does an empty variable."""
    place.environ |= {"THREADLINE_PROFILE": "coder", "THREADLINE_DATABASE": ""}

    assert place.load(profile=None).profile == "coder"
    assert place.load(profile="default").profile == "main"
    assert place.load(profile="x").origin_of("profile") == "--profile"
    assert place.load().origin_of("database") == DEFAULT


def test_all_settings_become_rules(place: Place) -> None:
    """Resets by platform and kind, sharing and busy modes by platform."""
    place.user(
        """
        edits = "rerun"
        [reset.default]
        mode = "idle"
        idle_minutes = 30
        [reset.kinds.group]
        mode = "daily"
        at_hour = 6
        timezone = "Europe/Berlin"
        [reset.platforms.telegram]
        mode = "both"
        notify = false
        carry = "last 5 messages"
        [sharing]
        groups = "shared"
        [sharing.platforms.slack]
        threads = "member"
        [busy.platforms]
        telegram = "interrupt"
        """
    )
    rules = place.load().rules()

    assert rules.edits is EditMode.RERUN
    assert rules.policies.resolve("x", Kind.DM).idle == timedelta(minutes=30)
    assert rules.policies.resolve("x", Kind.GROUP).timezone == ZoneInfo("Europe/Berlin")
    telegram = rules.policies.resolve("telegram", Kind.GROUP)
    assert (telegram.mode, telegram.notify, telegram.carry) == (
        ResetMode.BOTH,
        False,
        Carry.last(5),
    )
    assert telegram.at_hour == 4  # a policy holds as a whole, so this is not the kind's
    slack = rules.scopes_for("slack")
    assert (slack.groups, slack.threads) == (Sharing.SHARED, Sharing.MEMBER)
    address = Address(platform="slack", kind=Kind.GROUP, chat="1")
    assert rules.scopes_for("telegram").sharing_at(address) is Sharing.SHARED
    assert (rules.busy_for("telegram"), rules.busy_for("x")) == (
        BusyMode.INTERRUPT,
        BusyMode.QUEUE,
    )


def test_variables_reach_into_tables(place: Place) -> None:
    """Two underscores lead into a table."""
    place.environ["THREADLINE_RESET__PLATFORMS__TELEGRAM__AT_HOUR"] = "7"
    place.environ["THREADLINE_BUSY__DEFAULT"] = "steer"
    rules = place.load().rules()

    assert rules.policies.resolve("telegram", Kind.DM).at_hour == 7
    assert rules.busy is BusyMode.STEER


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lease_seconds = 'soon'", "lease_seconds cannot be 'soon'"),
        ("lease_seconds = 0", "It must be a whole number from 1 to 31,536,000."),
        ("leese_seconds = 3", "no setting leese_seconds"),
        ("leese_seconds = 3", "Did you mean lease_seconds?"),
        ("zzz = 3", "There are: database, profile, reset"),
        ("reset = 3", "It must be a table of settings."),
        ("[reset.default]\nat_hour = 24", "reset.default.at_hour cannot be 24"),
        ("[reset.default]\ncarry = 'all'", "'last N messages' with N from 1 to 1000"),
        ("[reset.default]\ntimezone = '../x'", "such as Europe/Berlin"),
        ("[reset.kinds.cave]\nmode = 'idle'", "There are: dm, group, channel, thread."),
        ("[retention.kinds]\ncave = 3", "There is no setting retention.kinds.cave"),
        ("[retention.kinds]\ngruop = 3", "Did you mean retention.kinds.group?"),
        ("[sharing.platforms.x]\ngrups = 'shared'", "Did you mean sharing.platforms.x.groups?"),
        ("[busy.platforms]\nx = 'sleep'", "It must be one of queue, collect, interrupt, steer."),
        ("profile = '../up'", "profile cannot be '../up'"),
        ('database = "a\\u0000b"', "It must be the path of a file, or a PostgreSQL URL."),
        ("this is no toml", "The file is no TOML"),
        ("concurrency = 0", "It must be a whole number from 1 to 10,000."),
        ("[access]\nallow = 'telegram:42'", "access.allow cannot be 'telegram:42'"),
        ("[access]\nallow = ['42']", 'It must be a list of entries such as "telegram:42"'),
        ("[access]\nadmins = ['telegram:*']", "access.admins cannot be"),
        ("[access]\nalow = []", "Did you mean access.allow?"),
        ("[[routing]]\nplatform = 'x'", "routing.0.profile is missing"),
        ("[[routing]]\nprofile = '../x'", "routing.0.profile cannot be '../x'"),
        ("[[routing]]\nprofile = 'x'\nchanel = 'y'", "There is no setting routing.0.chanel"),
        ("[profiles.coder]\nconcurrency = 0", "profiles.coder.concurrency cannot be 0"),
        ("[profiles.'A B']\nconcurrency = 1", "It must be 1 to 64 of a-z, 0-9, _ and -"),
        ("[platforms.webhook]\nenabled = 'maybe'", "platforms.webhook.enabled cannot be 'maybe'"),
        ("[platforms.webhook]\nhome = 'a:b:c'", "platforms.webhook.home cannot be 'a:b:c'"),
        ("[hooks]\nturn_finished = ['two words']", "hooks.turn_finished.0 cannot be"),
        ("[hooks]\nturn_finished = ['package:']", "hooks.turn_finished.0 cannot be"),
        ("[server]\nport = 70000", "It must be a whole number from 0 to 65,535."),
        ("[logs]\nformat = 'xml'", "It must be one of auto, console, json."),
        ("[[context.instructions]]\nchat = '1'\ntext = 'x'", "context.instructions.0 cannot be"),
    ],
)
def test_a_wrong_setting_is_named_with_its_wish(place: Place, text: str, sentence: str) -> None:
    """The error says which key, what it was, where it stands, and what it should be."""
    place.user(text)

    with pytest.raises(ConfigError) as caught:
        place.load()

    assert sentence in str(caught.value)
    assert "threadline.toml" in str(caught.value)


def test_a_wrong_variable_is_named(place: Place) -> None:
    """By its own name."""
    place.environ["THREADLINE_LEASE_SECONDS"] = "soon"
    with pytest.raises(ConfigError, match="THREADLINE_LEASE_SECONDS"):
        place.load()


def test_a_file_that_cannot_be_read_is_said(place: Place) -> None:
    """A folder in its place, or bytes that are no text."""
    (place.project / "threadline.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        place.load()

    (place.project / "threadline.toml").rmdir()
    (place.project / "threadline.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="it is no text"):
        place.load()


def test_a_relative_database_begins_at_its_file(place: Place) -> None:
    """A path in a file means the same wherever the program is started."""
    place.user('database = "mine.db"')

    assert place.load().path == place.home / ".threadline" / "mine.db"
    assert place.load(database="here.db").path == Path("here.db")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/db",
        "POSTGRESQL://me:s3c:ret@host/db",
        "postgresql://me:s3c%40%2Fret@[::1]:5432,other:5433/db",
        "postgresql://host/db?oauth_client_secret=s3cret&sslkey=s3cret&x_token=s3c&pass%77ord=s3c",
        "postgresql://host/db?user=me&password=s3cret&sslmode=off",
        "postgresql://host/db?sslpassword=s3cret",
    ],
)
def test_the_password_of_the_database_is_never_shown(place: Place, url: str) -> None:
    """Neither by the configuration itself nor in an error about it."""
    config = place.load(database=url)

    assert config.is_server
    assert config.database == url
    for shown in (str(config), repr(config), config.shown_database, hide_password(url)):
        assert "s3c" not in shown


@pytest.mark.parametrize(
    "value",
    [
        "mysql://me:s3cret@host/db",
        "postgresql+psycopg://me:s3cret@host/db",
        " postgresql://me:s3cret@host/db",
        "postgresql:/me:s3cret@host/db",
        "host=there user=me Password = s3cret",
        "postgres://me:s3c:r@t/s3cret@host/db",
        "postgres://me:x@s3cret@host/db",
        "postgres://me:12/s3cret@host/db",
        "postgres://me:s3c/ret@host/db",
        "postgres://me:x@host:s3cret/db",
    ],
)
def test_a_database_that_may_hold_a_password_is_refused_unseen(place: Place, value: str) -> None:
    """A URL of another kind, or one whose password has no clear end, is not repeated."""
    place.user(f"database = '{value}'")

    with pytest.raises(ConfigError) as caught:
        place.load()

    assert "s3c" not in "".join(traceback.format_exception(caught.value))
    assert "threadline.toml" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "[database]\nurl = 'postgresql://me:s3cret@host/db'",
        "database = ['s3cret']",
        "[database.postgres]\npassword = 's3cret'",
    ],
)
def test_a_table_below_the_database_is_refused_unseen(place: Place, text: str) -> None:
    """The database is one text; what somebody wrote instead may be a password."""
    place.user(text)

    with pytest.raises(ConfigError, match="the path of a file, or a PostgreSQL URL") as caught:
        place.load()

    assert "s3c" not in "".join(traceback.format_exception(caught.value))


def test_the_time_zone_is_the_machines(tmp_path: Path) -> None:
    """TZ first, then the system's link; what nobody knows is UTC."""
    link = tmp_path / "localtime"
    link.symlink_to(f"{os.sep}usr/share/zoneinfo/Asia/Tokyo")

    assert machine_zone({}, link) == ZoneInfo("Asia/Tokyo")
    assert machine_zone({"TZ": ":Europe/Berlin"}, link) == ZoneInfo("Europe/Berlin")
    assert machine_zone({"TZ": "Nowhere/At-All"}, link) is UTC
    assert machine_zone({}, tmp_path / "missing") is UTC


def test_settings_tell_their_origin(place: Place) -> None:
    """Every setting is listed, by its dotted name."""
    place.user('[reset.platforms.x]\nmode = "idle"\n')
    listed = {key: (value, origin) for key, value, origin in place.load().settings()}

    assert listed["reset.platforms.x.mode"][0] == "idle"
    assert listed["reset.platforms.x.mode"][1].endswith("threadline.toml")
    assert listed["drain_seconds"] == (20, DEFAULT)


def test_retention_is_off_until_somebody_says_how_long(tmp_path: Path) -> None:
    """Days become spans, for everything and for some; without a word nothing is ever pruned."""
    assert load_config(environ={"HOME": str(tmp_path)}, folder=tmp_path).rules().retention == (
        Retention()
    )
    (tmp_path / "threadline.toml").write_text(
        "[retention]\ndays = 365\nmegabytes = 5\nunbind_after_days = 30\n"
        "[retention.kinds]\ngroup = 90\n[retention.origins]\njob = 7\n"
        "[retention.platforms]\nslack = 60\n"
    )

    rules = load_config(environ={"HOME": str(tmp_path)}, folder=tmp_path).rules().retention

    assert rules == Retention(
        keep=timedelta(days=365),
        by_kind={Kind.GROUP: timedelta(days=90)},
        by_origin={Origin.JOB: timedelta(days=7)},
        by_platform={"slack": timedelta(days=60)},
        most_bytes=5_000_000,
        unbind_after=timedelta(days=30),
    )


@pytest.mark.parametrize("line", ["days = 0", "days = -1", "megabytes = 0", "kinds = {dm = 0}"])
def test_retention_of_nothing_is_refused(tmp_path: Path, line: str) -> None:
    """A number with which everything would go at once is a mistake, and named."""
    (tmp_path / "threadline.toml").write_text(f"[retention]\n{line}\n")

    with pytest.raises(ConfigError, match="retention"):
        load_config(environ={"HOME": str(tmp_path)}, folder=tmp_path)
