"""`threadline init`: a first file of settings."""

import re
import stat
from pathlib import Path

import pytest

from tests.cli.program import Terminal, run
from threadline.assembly import make_platforms, name_agent
from threadline.cli.config_template import InitAnswers, settings_file
from threadline.config import Config, load_config, parse_config
from threadline.config.setting_schema import help_of, walk_settings

SECRET = Path("webhook.secret")
TOKEN = "12345:AAbbCCddEEffGGhhIIjjKKllMMnnOO"


def everything(text: str) -> str:
    """Take away the marks before all settings that are only mentioned."""
    return re.sub(r"^#(?! )", "", text, flags=re.MULTILINE)


def test_it_writes_settings_that_load(home: Path) -> None:
    """With flags it asks nothing; what was said is set, for the owner's eyes only."""
    done = run("init", "--yes", "--webhook", "--port", "9000", "--allow", "telegram:42")

    assert done.exit_code == 0, done.output
    file, key = home / ".threadline" / "threadline.toml", home / ".threadline" / SECRET
    assert [stat.S_IMODE(one.stat().st_mode) for one in (file, key)] == [0o600, 0o600]
    config = load_config()
    assert config.server.port == 9000
    assert config.access.allow == ("telegram:42",)
    assert [platform.name for platform in make_platforms(config)] == ["webhook", "local"]
    assert key.read_text().strip() in config.secrets()
    assert key.read_text().strip() not in done.output + file.read_text()


def test_nothing_is_written_over(home: Path) -> None:
    """Unless that is wished; the key that others know by now stays in any case."""
    run("init", "--yes", "--webhook")
    key = (home / ".threadline" / SECRET).read_text()

    again = run("init", "--yes", "--port", "1234")
    assert again.exit_code == 1
    assert "--force" in again.output
    assert load_config().server.port == 8642

    assert run("init", "--yes", "--webhook", "--port", "1234", "--force").exit_code == 0
    assert load_config().server.port == 1234
    assert (home / ".threadline" / SECRET).read_text() == key


def test_what_cannot_be_read_back_is_not_written(home: Path) -> None:
    """A wrong answer is named, and leaves no file."""
    done = run("init", "--yes", "--here", "--profile", "../up")

    assert done.exit_code == 1
    assert "profile cannot be '../up'" in done.output
    assert list(home.iterdir()) == []


def test_a_path_means_the_same_from_the_users_file(home: Path) -> None:
    """A relative one is where it was typed, not where the file of settings lies."""
    run("init", "--yes", "--database", "mine.db")
    assert load_config().path == home / "mine.db"

    run("init", "--yes", "--here", "--database", "ours.db", "--force")
    assert 'database = "ours.db"' in (home / "threadline.toml").read_text()


@pytest.mark.parametrize("answers", [InitAnswers(), InitAnswers(webhook=True, port=1, profile="x")])
def test_every_setting_that_is_mentioned_exists(answers: InitAnswers) -> None:
    """With all marks taken away, the file is still one that can be read."""
    text = settings_file(answers, secret=SECRET)

    config = parse_config(everything(text), "threadline.toml")

    assert config.profiles["coder"].concurrency == 4
    assert config.reset.default.timezone == "Europe/Berlin"
    assert parse_config(text, "threadline.toml").profiles == {}


def test_every_setting_is_mentioned_with_its_help() -> None:
    """The file shows all that can be set, each with the sentence that the reference has."""
    text = settings_file(InitAnswers(), secret=SECRET)
    words = " ".join(text.replace("\n# ", " ").split())

    for way, _ in walk_settings(Config):
        sentence = help_of(way, Config)
        assert sentence is not None, way
        assert sentence in words
        assert re.search(rf"^#?(\[{way[-1]}\.|{way[-1]} = )", text, flags=re.MULTILINE), way


def test_it_asks_at_a_terminal(home: Path) -> None:
    """Return takes what is offered; what an option said is not asked."""
    with Terminal(home, "--profile", "coder", command="init") as terminal:
        terminal.expect("Where shall everything be kept?")
        terminal.say("")
        terminal.expect("Who shall answer?")
        terminal.say("")
        terminal.expect("Shall a Telegram bot answer?")
        terminal.say("")
        terminal.expect("over HTTP?")
        terminal.say("y")
        terminal.expect("On which port?")
        terminal.say("9001")
        terminal.expect("The settings are in")
        terminal.expect("threadline serve")

    config = load_config()
    assert (config.profile, config.server.port) == ("coder", 9001)
    assert list(config.platforms) == ["webhook"]
    assert name_agent(config) == "echo"


def test_it_asks_for_a_model_and_a_bot(home: Path) -> None:
    """What cannot be one is asked again, and a pasted token goes nowhere."""
    with Terminal(home, "--profile", "x", "--no-webhook", command="init") as terminal:
        terminal.expect("Where shall everything be kept?")
        terminal.say("")
        terminal.expect("Who shall answer?")
        terminal.say("hal")
        terminal.expect("or a model such as openai:gpt-5.1.")
        terminal.say("Anthropic")
        terminal.expect("Which of its models? [claude-sonnet-5]")
        terminal.say("two words")
        terminal.expect("agent.model cannot be")
        terminal.say("claude-x")
        terminal.expect("Shall a Telegram bot answer?")
        terminal.say("y")
        terminal.expect("[TELEGRAM_TOKEN]")
        terminal.say(TOKEN)
        terminal.expect("This is no name of a variable")
        terminal.say("THREADLINE_TOKEN")
        terminal.expect("cannot be called so")
        terminal.say("MY_BOT")
        terminal.expect("Set the variable ANTHROPIC_API_KEY before you start.")
        terminal.expect("Set the variable MY_BOT before you start.")

    text = (home / ".threadline" / "threadline.toml").read_text()
    config = parse_config(text, "threadline.toml", environ={"MY_BOT": TOKEN})
    assert config.agent.model == "anthropic:claude-x"
    assert config.platform_settings("telegram") == {"token": TOKEN}
    assert TOKEN not in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--model", "gpt-5"), "It must be a provider and a model"),
        (("--model", "hal:9000"), "There is no provider hal"),
        (("--telegram", TOKEN), "This is no name of a variable"),
    ],
)
def test_a_wrong_option_leaves_no_file(home: Path, options: tuple[str, str], sentence: str) -> None:
    """It is named, and a token that was given as one is not repeated."""
    done = run("init", "--yes", *options)

    assert done.exit_code == 1
    assert sentence in done.output
    assert TOKEN not in done.output
    assert list(home.iterdir()) == []


def test_options_name_a_model_and_a_bot(home: Path) -> None:
    """Ollama asks for no key, so that only the token is missing."""
    done = run("init", "--yes", "--model", "ollama:qwen3:8b", "--telegram", "MY_BOT")

    assert "Set the variable MY_BOT before you start." in done.output
    assert "API_KEY" not in done.output
    config = load_config(environ={"HOME": str(home), "MY_BOT": TOKEN})
    assert name_agent(config) == "ollama:qwen3:8b"
    assert list(config.platforms) == ["telegram"]


def test_a_wrong_answer_is_asked_for_again(home: Path) -> None:
    """Each when it was given, with what is wrong about it."""
    with Terminal(home, command="init") as terminal:
        terminal.expect("Where shall everything be kept?")
        terminal.say("mysql://me@host/db")
        terminal.expect("The database's URL is none of PostgreSQL's")
        terminal.expect("Where shall everything be kept?")
        terminal.say("mine.db")
        terminal.expect("Profile")
        terminal.say("../up")
        terminal.expect("profile cannot be '../up'")
        terminal.expect("Profile")
        terminal.say("work")
        terminal.expect("Who shall answer?")
        terminal.say("")
        terminal.expect("Shall a Telegram bot answer?")
        terminal.say("")
        terminal.expect("over HTTP?")
        terminal.say("y")
        for port in ("70000", "0", "many"):
            terminal.expect("On which port?")
            terminal.say(port)
            terminal.expect("A port is a whole number from 1 to 65,535.")
        terminal.expect("On which port?")
        terminal.say("9000")
        terminal.expect("The settings are in")
    text = (home / ".threadline" / "threadline.toml").read_text()

    config = parse_config(text, "threadline.toml")
    assert (config.profile, config.server.port) == ("work", 9000)


def test_a_database_of_another_kind_is_refused(home: Path) -> None:
    """It is not taken for the path of a file, wherever the settings are written."""
    done = run("init", "--yes", "--database", "mysql://me:s3cret@host/db")

    assert done.exit_code == 1
    assert "The database's URL is none of PostgreSQL's" in done.output
    assert "s3cret" not in done.output
    assert list(home.iterdir()) == []
