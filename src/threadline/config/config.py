"""The typed settings, all in one, each with where it came from."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError

from threadline.config.agent_section import (
    AgentSettings,
    AgentType,
    SummarizerSettings,
    ToolSettings,
    lay_rules,
)
from threadline.config.cross_checks import agents_of
from threadline.config.errors import DEFAULT, check_names, explain_platform, find_origin
from threadline.config.gateway_section import (
    AccessSettings,
    ContextSettings,
    Count,
    HookSettings,
    LogSettings,
    PlatformSettings,
    ProfileName,
    ProfileSettings,
    RoutingSettings,
    ServerSettings,
)
from threadline.config.provider_section import KNOWN, McpSettings, ProviderApi, ProviderSettings
from threadline.config.secrets import (
    credentials_in,
    is_reference,
    is_secret_way,
    may_hold_secret,
    resolve_reference,
    show_setting,
)
from threadline.config.sections import (
    YEAR,
    BusyModes,
    Deliveries,
    Minutes,
    Name,
    Resets,
    Retain,
    Section,
    Shares,
    Spend,
    must_be,
)
from threadline.config.sources import data_folder, leaves
from threadline.core.access import Approvers
from threadline.core.approval import ToolRules
from threadline.core.database_url import (
    HOME_FOLDER,
    HOME_VARIABLE,
    checked_location,
    hide_password,
    is_server,
)
from threadline.core.errors import ConfigError
from threadline.core.person import PeopleMode
from threadline.core.redaction import HIDDEN
from threadline.core.reset_policy import Policies
from threadline.core.route import MAIN_PROFILE, Scopes, canonical_profile
from threadline.core.settings import EditMode, Settings
from threadline.core.turn import FRESHNESS, LEASE

FILE = "threadline.toml"
DATABASE = "threadline.db"


def _check_database(text: str) -> str:
    """Refuse what names no place; what may hold a password is not shown."""
    if not text or "\0" in text:
        raise ValueError("no place")
    return checked_location(text)


class Config(Section):
    """All settings, and where each of them came from."""

    # A PostgreSQL URL may hold a password, so it is never part of how a Config shows itself.
    database: Annotated[
        str, AfterValidator(_check_database), must_be("the path of a file, or a PostgreSQL URL")
    ] = Field(
        default=f"~/{HOME_FOLDER}/{DATABASE}",
        repr=False,
        description="Where everything is kept: the path of a file, or a PostgreSQL URL.",
    )
    profile: ProfileName = Field(
        default=MAIN_PROFILE,
        description="Which profile the terminal uses; profiles are kept separate.",
    )
    reset: Resets = Resets()
    sharing: Shares = Shares()
    busy: BusyModes = BusyModes()
    edits: EditMode = Field(
        default=EditMode.NOTE,
        description="What an edit does to a turn that has started: a note to the agent, or a "
        "rerun.",
    )
    deliveries: Deliveries = Deliveries()
    people: PeopleMode = Field(
        default=PeopleMode.APART,
        description="Whether all direct messages of a linked person share one conversation.",
    )
    spend: Spend = Spend()
    retention: Retain = Retain()
    freshness_seconds: int = Field(
        default=int(FRESHNESS.total_seconds()),
        ge=-YEAR,
        le=YEAR,
        description="How long after an interruption a turn may still resume automatically; "
        "0: always.",
    )
    lease_seconds: int = Field(
        default=int(LEASE.total_seconds()),
        ge=1,
        le=YEAR,
        description="How long a silent worker keeps its turn.",
    )
    drain_seconds: int = Field(
        default=20,
        ge=0,
        le=YEAR,
        description="How long running turns may continue after the program is asked to stop.",
    )
    concurrency: Count = Field(
        default=32, description="How many turns run at a time in one process."
    )
    inactivity_minutes: Minutes = Field(
        default=30,
        description="How long an agent may be silent before its turn is given up; at half of that "
        "the person is told.",
    )
    streaming: bool = Field(
        default=True,
        description="Whether to show an answer while it is written, where the platform allows it.",
    )
    access: AccessSettings = AccessSettings()
    routing: Annotated[
        tuple[RoutingSettings, ...], must_be("a list of tables with a profile and where it holds")
    ] = Field(
        default=(),
        description="Which profile a message belongs to, by where it comes from; the narrowest "
        "rule wins.",
        examples=[[{"platform": "webhook", "chat": "builds", "profile": "coder"}]],
    )
    profiles: dict[Name, ProfileSettings] = Field(
        default={},
        description="Tables by profile: concurrency, how many of its turns run at a time, and its "
        "own agent and tools, with the same settings as for all.",
        examples=[{"coder": {"concurrency": 4, "agent": {"model": "anthropic:claude-sonnet-5"}}}],
    )
    platforms: dict[Name, PlatformSettings] = Field(
        default={},
        repr=False,
        description="Tables by platform: type (by default its name), enabled, home, and what the "
        "platform itself asks for. A secret may be env:NAME or file:/path.",
        examples=[
            {
                "telegram": {"token": "env:TELEGRAM_TOKEN"},
                "webhook": {"secret": "env:WEBHOOK_SECRET"},
            }
        ],
    )
    agent: AgentSettings = AgentSettings()
    scribe: SummarizerSettings = SummarizerSettings()
    tools: ToolSettings = ToolSettings()
    providers: dict[Name, ProviderSettings] = Field(
        default={},
        repr=False,
        description="Tables by provider: api, base_url and api_key. The known ones need none if "
        "their key is in its usual variable.",
        examples=[
            {
                "openai": {"api_key": "env:OPENAI_API_KEY"},
                "cellar": {"base_url": "http://cellar.example:8000/v1"},
            }
        ],
    )
    mcp: dict[Name, McpSettings] = Field(
        default={},
        repr=False,
        description="Tables by MCP server: command, environment and folder for a program, url and "
        "headers for an address, timeout_seconds for both.",
        examples=[
            {
                "files": {"command": ["mcp-server-filesystem", "/srv/files"]},
                "tracker": {
                    "url": "https://tracker.example/mcp",
                    "headers": {"Authorization": "env:TRACKER_TOKEN"},
                },
            }
        ],
    )
    context: ContextSettings = ContextSettings()
    hooks: HookSettings = HookSettings()
    server: ServerSettings = ServerSettings()
    logs: LogSettings = LogSettings()

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _machine: tzinfo = PrivateAttr(default=UTC)
    _environ: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @property
    def is_server(self) -> bool:
        """Whether the database is a PostgreSQL server, and no file."""
        return is_server(self.database)

    @property
    def path(self) -> Path:
        """Where the file of an embedded database lies; a relative path begins at its setting."""
        return self.place_of("database", self.database)

    @property
    def folder(self) -> Path:
        """The folder that everything is in, unless a setting says otherwise."""
        return data_folder(self._environ)

    def place_of(self, key: str, path: str) -> Path:
        """Find what a path of the settings means; a relative one begins at its file."""
        where = Path(path).expanduser()
        origin = Path(self.source_of(key))
        return origin.parent / where if origin.name == FILE else where

    @property
    def shown_database(self) -> str:
        """The database as anybody may see it."""
        return hide_password(self.database) if self.is_server else str(self.path)

    @property
    def known_profiles(self) -> frozenset[str]:
        """All profiles that the settings name, and the main one."""
        routed = (rule.profile for rule in self.routing)
        named = (MAIN_PROFILE, self.profile, *self.profiles, *routed)
        return frozenset(canonical_profile(name) for name in named)

    @property
    def offered_models(self) -> tuple[str, ...]:
        """The models that `/model` offers: those that are named, the usual one first."""
        return tuple(dict.fromkeys(model for _, model in self._named_models()))

    @property
    def needed_providers(self) -> dict[str, str]:
        """The providers of all models that are named, and which setting names each first."""
        scribe = [("scribe.model", self.scribe.model)] if self.scribe.model else []
        needed: dict[str, str] = {}
        for key, model in (*self._named_models(), *scribe):
            needed.setdefault(model.partition(":")[0], key)
        return needed

    def _named_models(self) -> Iterator[tuple[str, str]]:
        for key, agent in agents_of(self):
            if agent.kind is AgentType.MODEL:
                yield f"{key}.model", agent.model or ""
                yield from ((f"{key}.fallback", model) for model in agent.fallback)
            yield from ((f"{key}.models", model) for model in agent.models)

    def origin_of(self, key: str) -> str:
        """Tell where a setting came from: a variable, a file, an option, or the defaults."""
        return self._origins.get(key, DEFAULT)

    def source_of(self, key: str) -> str:
        """Return where a setting came from, or what it stands in."""
        return find_origin(tuple(key.split(".")), self._origins)

    def is_overridden(self, key: str) -> bool:
        """Return whether a setting comes from a place that wins over the user's file."""
        return self.origin_of(key) not in {DEFAULT, HOME_VARIABLE, str(self.folder / FILE)}

    def settings(
        self, public: Mapping[str, Collection[str]] = MappingProxyType({})
    ) -> Iterator[tuple[str, object, str]]:
        """Walk over all settings: dotted name, value as anybody may see it, and its origin.

        `public` names, by platform, those of its own settings that it knows to be no secrets. What
        else stands there may be a secret with a misspelt name.
        """
        for key, value in leaves(self.model_dump(mode="json")):
            seen = self.shown_database if key == "database" else show_setting(key, value)
            yield key, seen if self._is_public(key, value, public) else HIDDEN, self.origin_of(key)

    def _is_public(self, key: str, value: object, public: Mapping[str, Collection[str]]) -> bool:
        section, name, own = (*key.split(".", 2), "", "")[:3]
        if section != "platforms" and ".environment." in key:
            return is_reference(value)
        own = own.partition(".")[0]
        if section != "platforms" or name not in self.platforms:
            return True
        if own not in self.platforms[name].own or own in public.get(name, ()):
            return True
        return not isinstance(value, str | list) or is_reference(value)

    def platform_settings(self, name: str) -> dict[str, object]:
        """Answer what only a platform itself knows, with its secrets fetched from their places."""
        return {key: self.fetch(f"platforms.{name}.{key}", value) for key, value in self._own(name)}

    def check_platform(self, name: str, names: Sequence[str], required: Sequence[str]) -> None:
        """Refuse a setting that a platform does not know, and then the lack of one."""
        check_names(self.platforms[name].own, name, names, required, self._origins)

    def explain_platform(
        self, error: ValidationError, name: str, names: Sequence[str]
    ) -> ConfigError:
        """Say what is wrong with the settings that only a platform itself knows."""
        return explain_platform(error, name, names, self._origins)

    def agent_for(self, profile: str | None) -> AgentSettings:
        """Answer who answers in a profile; None: in one that says nothing of its own."""
        own = self._profile(profile).agent
        return self.agent if own is None else own.over(self.agent)

    def tools_for(self, profile: str | None) -> tuple[ToolRules, dict[str, ToolRules]]:
        """Answer the rules of tools in a profile, and those on single platforms.

        What a platform says wins over what a profile says: it may be a place of strangers.
        """
        own = self._profile(profile).tools or ToolSettings()
        rules = {
            name: lay_rules(self.tools, own, self.tools.on(name), own.on(name))
            for name in {*self.tools.platforms, *own.platforms}
        }
        return lay_rules(self.tools, own), rules

    def _profile(self, name: str | None) -> ProfileSettings:
        wanted = None if name is None else canonical_profile(name)
        named = (one for key, one in self.profiles.items() if canonical_profile(key) == wanted)
        return next(named, ProfileSettings())

    def provider_for(self, name: str) -> ProviderSettings:
        """Answer a provider's settings with its key, which may stand in its usual variable."""
        own, known = self.providers.get(name, ProviderSettings()), KNOWN.get(name)
        usual = known.variables if known and own.api_key is None else ()
        found = next((self._environ[one] for one in usual if self._environ.get(one)), None)
        key = self.fetch(f"providers.{name}.api_key", own.api_key)
        return ProviderSettings(
            api=own.api or (known.api if known else ProviderApi.OPENAI_CHAT),
            base_url=own.base_url or (known.base_url if known else None),
            api_version=own.api_version,
            api_key=str(key) if key else found,
        )

    def fetch(self, key: str, value: object) -> object:
        """Answer what a setting stands for: a secret may be in a variable or a file."""
        folder = Path(self.source_of(key)).parent
        return resolve_reference(key, value, folder=folder, environ=self._environ)

    def secrets(self) -> frozenset[str]:
        """Answer all secrets that the settings hold or name, so that nobody writes them down."""
        keys = (self.provider_for(name).api_key for name in {*KNOWN, *self.providers})
        found = {key for key in keys if key}
        for key, value in self._guarded():
            fetched = _texts(self.fetch(key, value))
            if is_reference(value) or is_secret_way(key):
                found.update(fetched)
            for text in fetched:
                found.update(credentials_in(text))
        return frozenset(found)

    def _guarded(self) -> Iterator[tuple[str, object]]:
        """Walk over all settings that may hold a secret."""
        for name in self.platforms:
            for key, value in leaves(dict(self._own(name))):
                yield f"platforms.{name}.{key}", value
        tables = self.model_dump(include={"agent", "profiles", "providers", "mcp"})
        yield from (one for one in leaves(tables) if may_hold_secret(one[0]))

    def _own(self, name: str) -> Iterator[tuple[str, object]]:
        yield from self.platforms[name].own.items()

    def rules(self) -> Settings:
        """Answer what the verbs must know of the settings."""
        machine = self._machine
        return Settings(
            policies=Policies(
                default=self.reset.default.policy(machine),
                by_kind={kind: own.policy(machine) for kind, own in self.reset.kinds.items()},
                by_platform={on: own.policy(machine) for on, own in self.reset.platforms.items()},
            ),
            scopes=Scopes(groups=self.sharing.groups, threads=self.sharing.threads),
            scopes_by_platform={on: self.sharing.on(on) for on in self.sharing.platforms},
            busy=self.busy.default,
            busy_by_platform=self.busy.platforms,
            edits=self.edits,
            people=self.people,
            spend=self.spend.caps(machine),
            retention=self.retention.retention(),
            lease=timedelta(seconds=self.lease_seconds),
            freshness=timedelta(seconds=self.freshness_seconds),
            max_repeats=self.deliveries.max_repeats,
            approvers=Approvers(named=self.tools.approvers),
            approvers_by_profile={
                canonical_profile(name): Approvers(named=one.tools.approvers)
                for name, one in self.profiles.items()
                if one.tools is not None and "approvers" in one.tools.model_fields_set
            },
            models=self.offered_models,
            homes={
                name: one.home_of(name)
                for name, one in self.platforms.items()
                if one.home and one.enabled
            },
        )


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, str) and one]
