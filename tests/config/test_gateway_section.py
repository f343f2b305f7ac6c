"""The settings of a gateway: who may speak, platforms and their secrets."""

import traceback
from pathlib import Path

import pytest

from tests.config.test_config import Place
from threadline.assembly import public_settings
from threadline.core.access import AccessRules
from threadline.core.errors import ConfigError
from threadline.core.profile_rules import ProfileRule
from threadline.core.redaction import HIDDEN, mask_secrets
from threadline.core.target import parse_target


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_settings_of_a_gateway_become_values(place: Place) -> None:
    """Who may speak, which profile it belongs to, and what opens a session."""
    place.user(
        """
        [access]
        allow = ["telegram:42"]
        pairing = false
        messages_per_minute = 0
        [[routing]]
        platform = "telegram"
        chat = "-1001"
        profile = "coder"
        [profiles.coder]
        concurrency = 2
        [[context.instructions]]
        platform = "telegram"
        text = "Be brief."
        [platforms.telegram]
        home = "-1001:7"
        """
    )
    config = place.load()

    assert config.access.rules() == AccessRules(allow=["telegram:42"], pairing=False, per_minute=0)
    (rule,) = config.routing
    assert rule.rule() == ProfileRule(profile="coder", platform="telegram", chat="-1001")
    assert config.profiles["coder"].concurrency == 2
    assert config.context.instructions[0].instructions().text == "Be brief."
    assert config.rules().homes == {"telegram": parse_target("telegram:-1001:7")}


def test_a_variable_holds_a_list_or_a_table_as_toml_or_json_writes_it(place: Place) -> None:
    """What only looks like one stays the word that it is."""
    place.environ |= {
        "THREADLINE_ACCESS__ALLOW": '["telegram:42", "slack:U1"]',
        "THREADLINE_ACCESS__CHATS": "['telegram:-100']",
        "THREADLINE_ROUTING": '[{profile = "coder", platform = "slack"}]',
        "THREADLINE_PLATFORMS__WEBHOOK": '{"secret": "from-json"}',
        "THREADLINE_PLATFORMS__OTHER__SECRET": "[no list",
    }
    config = place.load()

    assert config.access.allow == ("telegram:42", "slack:U1")
    assert config.access.chats == ("telegram:-100",)
    assert config.routing[0].profile == "coder"
    assert config.platform_settings("webhook") == {"secret": "from-json"}
    assert config.platform_settings("other") == {"secret": "[no list"}
    assert config.origin_of("platforms.webhook.secret") == "THREADLINE_PLATFORMS__WEBHOOK"


def test_a_secret_is_fetched_from_a_variable_or_a_file(place: Place) -> None:
    """Late, so that whoever does not need it need not have it; a relative path is the file's."""
    (place.home / ".threadline" / "key.txt").write_text("from-a-file\n")
    place.environ["HOOK_KEY"] = "from-a-variable"
    place.user(
        "[platforms.one]\nsecret = 'env:HOOK_KEY'\n"
        "[platforms.two]\nsecret = 'file:key.txt'\nformer_secrets = ['old-one', 'env:HOOK_KEY']\n"
    )
    config = place.load()

    assert config.platform_settings("one") == {"secret": "from-a-variable"}
    assert config.platform_settings("two") == {
        "secret": "from-a-file",
        "former_secrets": ["old-one", "from-a-variable"],
    }
    assert config.secrets() == {"from-a-variable", "from-a-file", "old-one"}


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("env:NOT_SET", "platforms.hook.secret stands in a variable that is not set (env:NOT_SET)"),
        ("file:nowhere.txt", "platforms.hook.secret stands in a file that cannot be read"),
        ("file:empty.txt", "platforms.hook.secret stands in a file that is empty"),
        ("file:bytes.txt", "it is no text"),
    ],
)
def test_a_secret_that_is_not_there_is_named(place: Place, value: str, sentence: str) -> None:
    """By its key and where it should stand."""
    (place.project / "empty.txt").write_text("\n")
    (place.project / "bytes.txt").write_bytes(b"s3cret\xff")
    place.local(f"[platforms.hook]\nsecret = '{value}'\n")
    config = place.load()

    with pytest.raises(ConfigError) as caught:
        config.platform_settings("hook")

    assert sentence in str(caught.value)
    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "text",
    [
        "[platforms.hook]\nsecret = 's3cret'\nbot_token = 's3cret'",
        "[platforms.hook]\nformer_secrets = ['s3cret']\napi_key = 's3cret'",
        "[platforms.hook.login]\npassword = 's3cret'",
    ],
)
def test_a_secret_in_a_file_is_never_shown(place: Place, text: str) -> None:
    """Neither in the list of settings nor by the configuration itself."""
    place.user(text)
    config = place.load()

    assert "s3cret" not in repr(list(config.settings()))
    assert "s3cret" not in repr(config)
    assert config.secrets() == {"s3cret"}


HIDING = """
[platforms.webhook]
secret = "a-long-s3cret-of-mine"
callback = "https://joe:s3cretword@host.example/in?access=s3cretquery&v=2"
body_limit = 5000
bot_tokn = "s3cretmisspelt"
[platforms.webhook.headers]
X-Mine = "s3cretheader"
"""


def test_what_may_hold_a_secret_is_shown_as_far_as_it_is_known(place: Place) -> None:
    """A URL without what proves who calls; nothing whose name the platform does not know."""
    place.user(HIDING)
    config = place.load()

    shown = {key: value for key, value, _ in config.settings(public_settings(config))}

    assert "s3cret" not in repr(shown)
    assert shown["platforms.webhook.callback"] == f"https://{HIDDEN}@host.example/in?{HIDDEN}"
    assert shown["platforms.webhook.body_limit"] == 5000
    assert shown["platforms.webhook.bot_tokn"] == HIDDEN
    assert "s3cret" not in repr(list(config.settings()))


def test_what_proves_who_calls_is_written_down_nowhere(place: Place) -> None:
    """Also what stands in a URL, or in a header."""
    place.user(HIDING)
    words = "POST https://joe:s3cretword@host/in?access=s3cretquery&v=2 X-Mine: s3cretheader"

    assert "s3cret" not in mask_secrets(words, place.load().secrets())


@pytest.mark.parametrize(
    "text",
    [
        "platforms = 's3cret'",
        "[platforms]\nhook = 's3cret'",
        "[server]\ntoken = 's3cret'",
        "[platforms.hook]\ntype = ['x']\nsecret = 's3cret'",
    ],
)
def test_a_secret_in_the_wrong_place_is_refused_unseen(place: Place, text: str) -> None:
    """Whoever writes it there is told so without its being repeated."""
    place.user(text)

    with pytest.raises(ConfigError) as caught:
        place.load()

    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


def test_what_looks_like_a_token_is_hidden_wherever_it_stands(place: Place) -> None:
    """Hosted servers have theirs in the path, and some programs take it without an option."""
    token = "Zq3kfT0dQ81mLwX9bnRy"
    place.user(
        f"[mcp.x]\nurl = 'https://host/s/{token}/mcp'\n"
        f"[mcp.y]\ncommand = ['server', '--pat={token}', '{token}', 'a-plain-word', 'K=/srv/x']\n"
    )
    config = place.load()
    shown = {key: value for key, value, _ in config.settings()}

    assert shown["mcp.x.url"] == f"https://host/s/{HIDDEN}/mcp"
    assert shown["mcp.y.command"] == [
        *("server", f"--pat={HIDDEN}", HIDDEN, "a-plain-word", "K=/srv/x")
    ]
    assert token in config.secrets()
