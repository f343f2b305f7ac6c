"""Formatting: how spans, counts, titles and policies read in a sentence."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from threadline.core.errors import SENTENCE_LIMIT
from threadline.core.gateway_status import ServerHealth, ServerState
from threadline.core.reset_policy import CarryKind, ResetMode, ResetPolicy
from threadline.core.session import Cause, Session
from threadline.core.validation import clean_title

SHOWN_TITLE = 60

_UNITS = (
    ("week", timedelta(weeks=1)),
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)
_LONG_AGO = timedelta(weeks=8)

_CAUSES = {
    Cause.FIRST: "nobody has spoken here before",
    Cause.NEW: "a new conversation was asked for",
    Cause.IDLE: "the last one had been silent for too long",
    Cause.DAILY: "the day has turned since the last one",
    Cause.SUSPENDED: "the last one was cut off three times",
    Cause.CLOSED: "the last one was closed",
    Cause.BRANCH: "somebody went another way from a place in the last one",
    Cause.CONTINUED: "the last one goes on here",
    Cause.PARTED: "the last one was shared with somebody who has parted",
    Cause.BACKGROUND: "something was asked to be done in the background",
}


def count(number: int, noun: str) -> str:
    """Count things: `1 message`, `3 messages`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def span(length: timedelta) -> str:
    """Say how long something is, in its largest unit: `5 minutes`."""
    for noun, unit in _UNITS:
        if length >= unit:
            return count(length // unit, noun)
    return count(max(0, int(length.total_seconds())), "second")


def ago(at: datetime, now: datetime) -> str:
    """Say when something was: `5 minutes ago`, or its day when that is long ago."""
    past = now - at
    if past >= _LONG_AGO:
        return f"{at:%Y-%m-%d}"
    return f"{span(past)} ago" if past >= timedelta(seconds=10) else "a moment ago"


def brief(at: datetime, now: datetime) -> str:
    """Say when something was, for a narrow column: `5m`, `3h`, or its day."""
    past = max(now - at, timedelta(0))
    if past >= _LONG_AGO:
        return f"{at:%Y-%m-%d}"
    for noun, unit in _UNITS[1:]:
        if past >= unit:
            return f"{past // unit}{noun[0]}"
    return f"{int(past.total_seconds())}s"


def describe_server(health: ServerHealth, now: datetime) -> str:
    """Describe the tools and the last error of an MCP server, to follow its state."""
    tools = f", {count(health.tools, 'tool')}" if health.state is ServerState.UP else ""
    if health.error is None or health.error_at is None:
        return tools
    error = clean_title(health.error, SENTENCE_LIMIT).rstrip(".")
    return f"{tools} (last error {ago(health.error_at, now)}: {error})"


def name(session: Session) -> str:
    """Name a session by its title, in quotation marks; without one it is untitled."""
    title = clean_title(session.title or "")
    shown = title if len(title) <= SHOWN_TITLE else f"{title[: SHOWN_TITLE - 1].rstrip()}…"
    return f"“{shown}”" if shown else "an untitled conversation"


def listed(things: Sequence[str], most: int = 5) -> str:
    """Name things one after the other, and of many only how many more there are."""
    shown = [clean_title(thing, SHOWN_TITLE) for thing in things[:most]]
    if len(things) > most:
        shown.append(f"{len(things) - most:,} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def why(cause: Cause) -> str:
    """Say why a conversation begins anew."""
    return _CAUSES[cause]


def describe_policy(policy: ResetPolicy) -> str:
    """Say when a conversation ends by itself, and what goes over."""
    if policy.mode is ResetMode.NONE:
        return "never"
    silence = f"after {_exactly(policy.idle)} of silence"
    day = f"when the day turns at {policy.at_hour}:00 ({policy.zone_name})"
    when = {
        ResetMode.IDLE: silence,
        ResetMode.DAILY: day,
        ResetMode.BOTH: f"{silence}, or {day}",
        ResetMode.DAILY_AND_IDLE: f"{day}, {silence}",
    }[policy.mode]
    carried = policy.carry.kind is not CarryKind.NOTHING
    return f"{when}; carries over: {policy.carry}" if carried else when


def _exactly(length: timedelta) -> str:
    for noun, unit in _UNITS[1:]:
        if length % unit == timedelta(0):
            return count(length // unit, noun)
    return span(length)
