"""Config template: the file of settings that `threadline init` writes."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from threadline.config import DEFAULT, parse_config
from threadline.core.database_url import checked_location, is_server


@dataclass(frozen=True, slots=True, kw_only=True)
class InitAnswers:
    """What somebody said who sets up an installation; None: nothing."""

    database: str | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    model: str | None = None
    telegram: str | None = None
    """The variable that holds the token of a bot."""
    webhook: bool | None = None
    port: int | None = None

    def absolute(self) -> "InitAnswers":
        """Let a path mean the same from wherever the file of settings lies."""
        where = None if self.database is None else checked_location(self.database)
        if where is None or is_server(where) or where.startswith("~"):
            return self
        return replace(self, database=str(Path(where).absolute()))


# A setting that is not made stands behind a `#` without a space: take that away to make it.
_FILE = """\
# Threadline's settings. What stands behind a # is not set: the value there is the default, or an
# example. The environment wins over this file: THREADLINE_SERVER__PORT=9000.
# `threadline config` shows every value, and where it came from.

# Where everything is kept: the path of a file, or a PostgreSQL URL.
{database}
# The profile that the terminal speaks in. Profiles never meet.
{profile}

# What becomes of a message that arrives while an answer is being given: queue, collect, interrupt
# or steer.
#busy.default = "queue"
# What an edit does to an answer that has begun: note (the agent is told) or rerun.
#edits = "note"
# Whether all direct messages of one linked person go on in "one conversation", or "apart".
#people = "apart"

# How many answers are given at a time, and after how long a silence one is given up.
#concurrency = 32
#inactivity_minutes = 30
# How long running answers may go on when the program is asked to end.
#drain_seconds = 20
# Whether answers grow before one's eyes where a platform allows it.
#streaming = true

# Who answers: a model, as provider:model. Without one it is an echo, which needs no key.
[agent]
{model}
# Models that are tried when it cannot answer, and others that /model offers.
#fallback = ["anthropic:claude-sonnet-5"]
#models = ["ollama:qwen3:8b"]
# Who it is, in your words; other such words that a session may choose; what is asked of models.
#instructions = "You are Ada, who keeps our house in order."
#personalities = {{ terse = "Answer in one sentence." }}
#options = {{ temperature = 0.3, thinking = "high" }}
# In the place of a model, a program that speaks the Agent Client Protocol can answer, or a
# function of yours:
# command = ["claude-code-acp"]
# python = "mypackage.agent:answer"

# Who writes titles and summaries, from which part of the context on older lines are summed up.
#[scribe]
#model = "openai:gpt-5-mini"
#compact_at = 0.8
#titles = true

# Where models are. openai, anthropic, google and openrouter find their key in its usual variable,
# ollama, lmstudio and vllm are looked for on this machine; others are told of like this.
#[providers.openai]
#api_key = "env:OPENAI_API_KEY"
#[providers.cellar]
#base_url = "http://cellar.example:8000/v1"

# Tools: servers of the Model Context Protocol, as programs or addresses.
#[mcp.files]
#command = ["mcp-server-filesystem", "/srv/files"]
#[mcp.tracker]
#url = "https://tracker.example/mcp"
#headers = {{ Authorization = "env:TRACKER_TOKEN" }}

# Which of them the agent may use, for which a person is asked first, and for which not.
#[tools]
#use = ["*"]
#ask = ["*"]
#free = ["files_read_*"]

# When a conversation begins anew by itself: none, idle, daily, both or daily_and_idle.
#[reset.default]
#mode = "daily"
#at_hour = 4
#idle_minutes = 1440
#timezone = "Europe/Berlin"

# Whether each member of a group has an own conversation (member), or all share one (shared).
#[sharing]
#groups = "member"
#threads = "shared"

# Who may speak. Nobody may who is not named here, or let in with `threadline pair`.
[access]
{allow}
# Chats in which everybody may speak, platforms that let in by role, and bots that are heard.
#chats = ["telegram:-100123"]
#roles = ["discord"]
#bots = ["telegram:99"]
# Who may use commands that see beyond their own chat.
#admins = ["telegram:42"]
# Whether a stranger who writes directly is given a code to be let in with.
#pairing = true
# How much one sender may write in a minute; 0: as much as they like.
#messages_per_minute = 30

# Platforms. A secret may stand here, in a variable ("env:NAME") or in a file ("file:/path").
{telegram}
{webhook}

# Which profile something belongs to, by where it comes from; the narrowest rule wins.
#[[routing]]
#platform = "webhook"
#chat = "builds"
#profile = "coder"

# How many answers at a time one profile may have, and who answers there.
#[profiles.coder]
#concurrency = 4
#agent.model = "anthropic:claude-sonnet-5"

# What agents are told: hashes in the place of ids, and words that hold at one place.
#[context]
#redact = false
#[[context.instructions]]
#platform = "webhook"
#text = "Answer in one sentence."

# How much may be spent, in US dollars, and how long conversations are kept.
#[spend]
#day = 20
#person_day = 5
#[retention]
#days = 365

# How often a reply that a crash interrupted is sent again.
#[deliveries]
#max_repeats = 5

# Functions of yours that are told what happens.
#[hooks]
#session_ended = ["mypackage.hooks:session_ended"]

# Where `threadline serve` listens; only on this machine.
[server]
#host = "127.0.0.1"
{port}

# How the log is written (auto, console or json), and from which gravity on.
[logs]
#format = "auto"
#level = "info"
"""


def settings_file(answers: InitAnswers, *, secret: Path) -> str:
    """Write the file: what was answered is set, the rest stands there to be found."""
    return _FILE.format(
        database=_line("database", answers.database, parse_config("", DEFAULT).database),
        profile=_line("profile", answers.profile, "main"),
        model=_line("model", answers.model, "openai:gpt-5.1"),
        telegram=_telegram(answers),
        allow=_line("allow", list(answers.allow) or None, ["telegram:42"]),
        webhook=_webhook(answers, secret),
        port=_line("port", answers.port, 8642),
    )


def _telegram(answers: InitAnswers) -> str:
    mark = "" if answers.telegram else "#"
    where = f"env:{answers.telegram or 'TELEGRAM_TOKEN'}"
    return f"{mark}[platforms.telegram]\n{mark}token = {_written(where)}"


def _webhook(answers: InitAnswers, secret: Path) -> str:
    mark = "" if answers.webhook else "#"
    where = f"file:{secret}" if answers.webhook else "env:WEBHOOK_SECRET"
    return f"{mark}[platforms.webhook]\n{mark}secret = {_written(where)}"


def _line(key: str, value: object, example: object) -> str:
    return f"#{key} = {_written(example)}" if value is None else f"{key} = {_written(value)}"


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
