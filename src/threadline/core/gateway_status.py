"""Gateway status: which gateways are at work, and how their platforms are."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, runtime_checkable

from msgspec import Struct, field

from threadline.core.errors import SENTENCE_LIMIT
from threadline.core.turn import OwnerId
from threadline.core.validation import checked_choice, checked_count, checked_moment, checked_text

_UNHEARD_AFTER = timedelta(minutes=1)
SILENT_AFTER = timedelta(minutes=5)
"""An agent that has said nothing for so long counts as silent."""


class PlatformState(StrEnum):
    """Whether a platform can be reached."""

    CONNECTING = "connecting"
    """It has been begun, and has yet to say that it is there."""
    UP = "up"
    DOWN = "down"
    """It broke off, and is tried again after a while."""


class PlatformHealth(Struct, frozen=True, kw_only=True):
    """How a platform is, since when, and what went wrong last."""

    state: PlatformState
    since: datetime
    error: str | None = None
    """A sentence without secrets."""

    def __post_init__(self) -> None:
        """Refuse what cannot be kept."""
        checked_choice(self.state, "state of a platform", PlatformState)
        checked_moment(self.since, "since")
        if self.error is not None:
            checked_text(self.error, "error of a platform", SENTENCE_LIMIT)


class ServerState(StrEnum):
    """Whether an MCP server can be reached."""

    IDLE = "idle"
    """It has not been needed yet."""
    UP = "up"
    DOWN = "down"
    """It could not be reached, or did not list its tools. It is tried again when it is needed."""


class ServerHealth(Struct, frozen=True, kw_only=True):
    """The state of an MCP server, its number of tools, and its last error."""

    state: ServerState
    since: datetime
    tools: int = 0
    error: str | None = None
    """The last error, also if the server is up again: a sentence without secrets."""
    error_at: datetime | None = None

    def __post_init__(self) -> None:
        """Reject values that cannot be stored."""
        checked_choice(self.state, "state of an MCP server", ServerState)
        checked_moment(self.since, "since")
        checked_count(self.tools, "number of tools")
        if self.error is not None:
            checked_text(self.error, "error of an MCP server", SENTENCE_LIMIT)


@runtime_checkable
class UsesServers(Protocol):
    """An agent that uses MCP servers and knows their state."""

    def servers(self) -> Mapping[str, ServerHealth]:
        """Return the state of each server by its name."""
        ...


def agent_servers(agent: object) -> Mapping[str, ServerHealth]:
    """Return the state of the MCP servers that an agent uses, by name; most use none."""
    return agent.servers() if isinstance(agent, UsesServers) else {}


class TurnCapacity(Struct, frozen=True, kw_only=True):
    """How many turns a gateway may run at a time, and how many it runs."""

    total: int = 0
    taken: int = 0
    silent: int = 0
    """Of those taken: by agents that have said nothing for five minutes."""


class GatewayRow(Struct, frozen=True, kw_only=True):
    """One gateway that serves a store."""

    owner: OwnerId
    host: str
    pid: int
    version: str
    url: str | None
    """Where its web server listens."""
    platforms: Mapping[str, PlatformHealth]
    started_at: datetime
    beat_at: datetime
    """When it was last heard of."""
    places: TurnCapacity = TurnCapacity()
    servers: Mapping[str, ServerHealth] = field(default_factory=dict)
    """The MCP servers that its agents use."""

    def is_silent(self, now: datetime) -> bool:
        """Tell whether it was not heard of for so long that it is stuck, if it lives."""
        return now - self.beat_at > _UNHEARD_AFTER


class Uptime(Struct, frozen=True, kw_only=True):
    """How long a machine has been up, time asleep included; no change of its clock affects it."""

    boot: str
    """Identifies the start of the machine. Uptimes of different boots cannot be compared."""
    elapsed: timedelta


class StoreLoad(Struct, frozen=True, kw_only=True):
    """What there is to do in a store, and how large it is."""

    queued: int
    """Turns that wait for a worker."""
    running: int
    """Turns under way, those that wait for an answer included."""
    owed: int
    """Deliveries that wait to be sent."""
    size: int
    """Bytes of the database."""
