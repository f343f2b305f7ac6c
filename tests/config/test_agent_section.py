"""The settings of agents: who answers, with which models and tools, and where keys stand."""

import traceback
from pathlib import Path

import pytest

from tests.config.test_config import Place
from threadline.agents.settings import Api
from threadline.assembly.agent_factory import (
    acp_settings,
    list_mcp_servers,
    model_settings,
    name_agent,
    open_agent,
    providers_of,
)
from threadline.config.provider_section import ProviderApi
from threadline.core.approval import ToolRules, ToolVerdict
from threadline.core.errors import ConfigError
from threadline.core.redaction import HIDDEN, mask_secrets

KEY = "sk-s3cret-of-mine"

EVERYTHING = """
[agent]
model = "openai:gpt-5.1"
fallback = ["anthropic:claude-sonnet-5"]
models = ["ollama:qwen3:8b"]
instructions = "You are Ada."
max_steps = 7
context_tokens = 32000
[agent.options]
temperature = 0.3
max_tokens = 900
thinking = "high"
[agent.personalities]
terse = "Be brief."
[scribe]
model = "openai:gpt-5-mini"
compact_at = 0.6
titles = false
[providers.openai]
base_url = "http://localhost:9/v1"
api_key = "env:MY_KEY"
[providers.anthropic]
api_key = "file:claude.key"
[providers.cellar]
base_url = "http://cellar:8000/v1"
[mcp.files]
command = ["mcp-files", "--root", "."]
environment = { FILES_TOKEN = "env:MY_KEY" }
folder = "files"
[mcp.web]
url = "https://tools.example/mcp"
headers = { Authorization = "env:MY_KEY" }
timeout_seconds = 2.5
[tools]
ask = ["web_*"]
[tools.platforms.telegram]
use = ["files_*"]
[profiles.coder.agent]
command = ["claude-code-acp", "--token", "env:MY_KEY"]
folder = "~/work"
environment = { HERE = "1" }
[profiles.coder.tools]
use = ["*"]
free = ["files_read"]
[profiles.poet.agent]
instructions = "Rhyme."
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Make a home with keys in a variable and in a file."""
    place = Place(tmp_path)
    place.environ |= {"MY_KEY": KEY, "GEMINI_API_KEY": "s3cret-gemini"}
    (place.home / ".threadline" / "claude.key").write_text("s3cret-claude\n")
    return place


def test_a_model_is_made_of_its_settings(place: Place) -> None:
    """Every setting reaches it, and keys are fetched from where they stand."""
    place.user(EVERYTHING)
    made = model_settings(place.load())

    assert (made.model, made.fallback) == ("openai:gpt-5.1", ("anthropic:claude-sonnet-5",))
    assert (made.instructions, made.personalities) == ("You are Ada.", {"terse": "Be brief."})
    assert made.options == {"temperature": 0.3, "max_tokens": 900, "thinking": "high"}
    assert (made.max_steps, made.context_tokens, made.scribe) == (7, 32000, "openai:gpt-5-mini")
    openai, cellar = made.providers["openai"], made.providers["cellar"]
    assert (openai.api, openai.base_url, openai.api_key) == (
        Api.OPENAI,
        "http://localhost:9/v1",
        KEY,
    )
    assert made.providers["anthropic"].api_key == "s3cret-claude"
    assert (cellar.api, cellar.base_url, cellar.api_key) == (
        Api.OPENAI_CHAT,
        "http://cellar:8000/v1",
        None,
    )
    assert "s3cret" not in repr(made)


def test_known_providers_need_no_table(place: Place) -> None:
    """Their key is found under its usual name; without one they are not there, unless at home."""
    found = providers_of(place.load())

    assert set(found) == {"google", "ollama", "lmstudio", "vllm"}
    assert (found["google"].api, found["google"].api_key) == (Api.GOOGLE, "s3cret-gemini")
    assert found["ollama"].base_url == "http://localhost:11434/v1"
    assert found["ollama"].api is Api.OPENAI_CHAT


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("", True),
        ("[providers.google]\napi_key = ''", True),
        ("[providers.google]\nbase_url = 'http://localhost:1'", True),
    ],
)
def test_an_empty_key_is_none(place: Place, text: str, is_there: bool) -> None:
    """Whoever says that no key is needed, or has a proxy of their own, is asked for none."""
    place.environ.pop("GEMINI_API_KEY" if text else "NOTHING", None)
    place.user(text)

    assert ("google" in providers_of(place.load())) is is_there


def test_our_words_for_languages_are_those_of_the_agents() -> None:
    """What the settings offer is what the agents speak."""
    assert [str(api) for api in ProviderApi] == [str(api) for api in Api]


def test_servers_of_tools_are_made(place: Place) -> None:
    """A program with its folder and variables, or an address with its headers."""
    place.user(EVERYTHING)
    files, web = list_mcp_servers(place.load())

    assert (files.name, files.command) == ("files", ("mcp-files", "--root", "."))
    assert files.environment == {"FILES_TOKEN": KEY}
    assert files.folder == str(place.home / ".threadline" / "files")
    assert (web.url, web.headers) == ("https://tools.example/mcp", {"Authorization": KEY})
    assert (web.timeout_seconds, files.timeout_seconds) == (2.5, 60)


def test_a_profile_has_an_agent_of_its_own(place: Place) -> None:
    """Who answers is said as a whole; what it does not say is as everywhere."""
    place.user(EVERYTHING)
    config = place.load()
    coder, poet = acp_settings(config, "coder"), model_settings(config, "poet")

    assert coder.command == ("claude-code-acp", "--token", KEY)
    assert coder.environment == {"HERE": "1"}
    assert coder.folder == str(Path("~/work").expanduser())
    assert coder.instructions == "You are Ada."
    assert (poet.model, poet.instructions) == ("openai:gpt-5.1", "Rhyme.")
    names = [name_agent(config, name) for name in (None, "coder", "poet", "nobody")]
    assert names == ["openai:gpt-5.1", "claude-code-acp", "openai:gpt-5.1", "openai:gpt-5.1"]


def test_a_platform_wins_over_a_profile(place: Place) -> None:
    """What is closed at a place of strangers stays closed there in every profile."""
    place.user(EVERYTHING)
    config = place.load()
    everywhere, by_platform = config.tools_for("coder")

    assert everywhere == ToolRules(use=("*",), ask=("web_*",), free=("files_read",))
    telegram = by_platform["telegram"]
    assert telegram.use == ("files_*",)
    assert telegram.verdict("web_search") is ToolVerdict.BARRED
    assert telegram.verdict("files_read") is ToolVerdict.FREE
    assert config.tools_for(None)[0] == ToolRules(ask=("web_*",))
    assert place.load().tools_for("x") == config.tools_for(None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "echo"),
        ("model = 'ollama:x'", "ollama:x"),
        ("command = ['/usr/bin/agent', 'acp']", "agent"),
        ("python = 'mine:agent'", "mine:agent"),
        ("type = 'echo'\nmodel = 'ollama:x'", "echo"),
        ("type = 'acp'\nmodel = 'ollama:x'\ncommand = ['agent']", "agent"),
    ],
)
def test_what_is_set_decides_who_answers(place: Place, text: str, name: str) -> None:
    """Without a word it is echo; a type says it where several are set."""
    place.user(f"[agent]\n{text}\n")

    assert name_agent(place.load()) == name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[agent]\ntype = 'robot'", "It must be one of auto, echo, model, acp, python."),
        ("[agent]\nmodel = 'gpt-5'", "agent.model cannot be 'gpt-5'"),
        ("[agent]\nmodel = 'gpt-5'", "It must be a provider and a model, such as openai:gpt-5.1."),
        ("[agent]\nmodel = 'opnai:gpt-5'", "There is no provider opnai; there are: anthropic,"),
        ("[agent]\nfallback = 'openai:x'", "agent.fallback cannot be 'openai:x'"),
        ("[agent]\nfallback = ['openai: x']", "agent.fallback.0 cannot be"),
        ("[agent]\nmodels = ['y:x']", "agent.models cannot be 'y:x'"),
        ("[agent]\ntype = 'model'", "agent.model is missing"),
        ("[agent]\ntype = 'acp'", "agent.command is missing"),
        ("[agent]\ntype = 'python'", "agent.python is missing"),
        (
            "[agent]\nmodel = 'ollama:x'\ncommand = ['x']",
            "agent.type does not say which of agent.model and agent.command answers",
        ),
        ("[agent]\ncommand = 'agent --acp'", "It must be a list of a program and its arguments"),
        ("[agent]\ncommand = ['']", "agent.command cannot be what it is"),
        ("[agent]\npython = 'a b'", "agent.python cannot be 'a b'"),
        ("[agent]\npython = 'module'", "a dotted name such as package.module:agent"),
        ("[agent]\nmax_steps = 0", "a whole number from 1 to 1,000"),
        ("[agent]\ncontext_tokens = 5", "agent.context_tokens cannot be 5"),
        ("[agent]\nmodle = 'x'", "Did you mean agent.model?"),
        ("[agent.personalities]\n'A B' = 'x'", "agent.personalities.A B cannot be"),
        ("[agent.personalities]\nterse = 3", "agent.personalities.terse cannot be 3"),
        ("[agent.environment]\nX = 3", "agent.environment.X cannot be what it is"),
        ("[scribe]\ncompact_at = 80", "It must be a number from 0.1 to 1"),
        ("[scribe]\nmodel = 'nobody:x'", "scribe.model cannot be 'nobody:x'"),
        ("[scribe]\ntitles = 'yes please'", "scribe.titles cannot be 'yes please'"),
        ("[providers.cellar]\napi = 'openai'", "providers.cellar.base_url is missing"),
        ("[providers.openai]\napi = 'soap'", "providers.openai.api cannot be 'soap'"),
        ("[providers.openai]\nkey = 's3cret'", "There is no setting providers.openai.key"),
        ("[providers.openai]\nbase_url = 'here'", "an address that begins with http://"),
        ("[providers.'Open AI']\napi_key = 'x'", "It must be 1 to 64 of a-z, 0-9,"),
        ("[mcp.x]", "mcp.x has none of command and url"),
        ("[mcp.x]\ncommand = ['x']\nurl = 'http://x'", "mcp.x has both of command and url"),
        (
            "[mcp.x]\ncommand = ['x']\n[mcp.x_y]\ncommand = ['y']",
            "mcp.x_y has tools that look like those of x",
        ),
        ("[mcp.x]\nurl = 'ftp://x'", "mcp.x.url cannot be what it is"),
        ("[mcp.x]\nurl = 'http://x'\ntimeout_seconds = 0", "mcp.x.timeout_seconds cannot be 0"),
        ("[mcp.x]\nurl = 'http://x'\nheaders = {'a b' = 'c'}", "mcp.x.headers cannot be"),
        ("[tools]\nuse = '*'", "each entry is the name of a tool, in which *"),
        ("[tools.platforms.x]\nforbid = []", "There is no setting tools.platforms.x.forbid"),
        ("[profiles.x.agent]\ntype = 'acp'", "profiles.x.agent.command is missing"),
        ("[profiles.x.agent]\nmodel = 'a:b'", "profiles.x.agent.model cannot be 'a:b'"),
        ("[profiles.x.tools]\nuse = 3", "profiles.x.tools.use cannot be 3"),
    ],
)
def test_a_wrong_setting_is_named_with_its_wish(place: Place, text: str, sentence: str) -> None:
    """The error says which key, what it was, where it stands, and what it should be."""
    place.user(text)

    with pytest.raises(ConfigError) as caught:
        place.load()

    assert sentence in str(caught.value)
    assert "threadline.toml" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "[providers]\nopenai = 's3cret'",
        "providers = 's3cret'",
        "[providers.openai]\napi_key = ['s3cret']",
        "[providers.openai]\napi_key = 's3cret\\u0007'",
        "[providers.openai]\nbase_url = 'joe:s3cret@host'",
        "mcp = ['s3cret']",
        "[mcp.x]\nenvironment = 'TOKEN=s3cret'",
        "[mcp.x]\nheaders = ['Authorization: s3cret']",
        "[mcp.x]\ncommand = 'server --token s3cret'",
        "[agent]\nenvironment = 's3cret'",
        "[agent]\ncommand = 'agent --token s3cret'",
        "[agent]\noptions = 's3cret'",
        "[profiles.x.agent]\nenvironment = ['s3cret']",
    ],
)
def test_a_secret_in_the_wrong_place_is_refused_unseen(place: Place, text: str) -> None:
    """Whoever writes it there is told so without its being repeated."""
    place.user(text.replace("'s3cret\\u0007'", '"s3cret\\u0007"'))

    with pytest.raises(ConfigError) as caught:
        place.load()

    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


HIDING = """
[agent]
command = ["agent", "--api-key", "s3cret-a", "--token=s3cret-b", "--verbose", "--token", "env:T"]
[agent.environment]
PLAIN = "s3cret-c"
FROM = "env:T"
[agent.options]
max_tokens = 5
extra_headers = { X-Mine = "s3cret-d" }
[providers.openai]
api_key = "s3cret-e"
base_url = "http://joe:s3cret-f@host/v1"
[mcp.x]
url = "https://host/mcp?access=s3cret-g"
headers = { Authorization = "Bearer s3cret-h" }
[mcp.y]
command = ["y"]
environment = { Y_TOKEN = "s3cret-i" }
[profiles.p.agent]
environment = { Z = "s3cret-j" }
"""


def test_no_secret_is_shown(place: Place) -> None:
    """Neither a key nor what stands in headers, variables, addresses or after an option."""
    place.environ |= {"T": "s3cret-t", "OPENROUTER_API_KEY": "s3cret-o"}
    place.user(HIDING)
    config = place.load()
    shown = {key: value for key, value, _ in config.settings()}

    assert "s3cret" not in repr(shown)
    assert "s3cret" not in repr(config)
    assert shown["agent.command"] == [
        *("agent", "--api-key", HIDDEN, f"--token={HIDDEN}", "--verbose", "--token", "env:T")
    ]
    assert shown["agent.environment.FROM"] == "env:T"
    assert shown["agent.options.max_tokens"] == 5
    assert shown["providers.openai.base_url"] == f"http://{HIDDEN}@host/v1"


def test_all_secrets_are_known_to_whoever_writes(place: Place) -> None:
    """Also a key that was only found in its usual variable."""
    place.environ |= {"T": "s3cret-t", "OPENROUTER_API_KEY": "s3cret-o"}
    place.user(HIDING)
    said = "d s3cret-d e s3cret-e f s3cret-f g s3cret-g h s3cret-h i s3cret-i o s3cret-o t s3cret-t"

    assert "s3cret" not in mask_secrets(said, place.load().secrets())


def test_environment_wins_over_project_over_user(place: Place) -> None:
    """Setting by setting; numbers are read from words."""
    place.user("[agent]\nmodel = 'ollama:a'\nmax_steps = 1\ninstructions = 'a'\n")
    place.local("[agent]\nmodel = 'ollama:b'\nmax_steps = 2\n")
    place.environ |= {
        "THREADLINE_AGENT__MODEL": "ollama:c",
        "THREADLINE_AGENT__OPTIONS__TEMPERATURE": "0.5",
        "THREADLINE_AGENT__OPTIONS__THINKING": "high",
        "THREADLINE_AGENT__FALLBACK": '["ollama:d"]',
        "THREADLINE_MCP__X__COMMAND": '["x"]',
    }
    config = place.load()

    assert (config.agent.model, config.agent.max_steps, config.agent.instructions) == (
        "ollama:c",
        2,
        "a",
    )
    assert config.agent.options == {"temperature": 0.5, "thinking": "high"}
    assert (config.agent.fallback, config.mcp["x"].command) == (("ollama:d",), ("x",))
    assert config.origin_of("agent.model") == "THREADLINE_AGENT__MODEL"


def test_models_that_are_named_are_offered(place: Place) -> None:
    """The usual one first, and each once; those of other profiles, too."""
    place.user(
        EVERYTHING + "[profiles.third.agent]\nmodel = 'ollama:z'\nmodels = ['openai:gpt-5.1']\n"
    )

    assert place.load().rules().models == (
        "openai:gpt-5.1",
        "anthropic:claude-sonnet-5",
        "ollama:qwen3:8b",
        "ollama:z",
    )


@pytest.mark.parametrize(
    ("text", "wanted_by"),
    [
        ("[agent]\nmodel = 'openai:x'", "agent.model"),
        ("[agent]\nmodel = 'ollama:x'\nfallback = ['openai:x']", "agent.fallback"),
        ("[scribe]\nmodel = 'openai:x'", "scribe.model"),
        ("[profiles.p.agent]\nmodel = 'openai:x'", "profiles.p.agent.model"),
    ],
)
async def test_a_missing_key_is_named(place: Place, text: str, wanted_by: str) -> None:
    """With who needs it, and where it can be put, before anything begins."""
    place.user(text)

    with pytest.raises(ConfigError) as caught:
        async with open_agent(place.load()):
            pass

    assert str(caught.value) == (
        f"providers.openai.api_key is missing ({wanted_by}). "
        "Set the variable OPENAI_API_KEY, or api_key in [providers.openai]."
    )
