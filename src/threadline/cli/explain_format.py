"""Explaining messages that are given in plain words, one or very many."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from threadline.cli.output import show_text, write_json
from threadline.cli.store_opener import exists, open_store
from threadline.config import Config
from threadline.core.address import Address, Sender, address_from, sender_from
from threadline.core.errors import Invalid
from threadline.core.reset_policy import ResetPolicy
from threadline.core.route import MAIN_PROFILE, Scopes, Sharing, canonical_profile
from threadline.core.session import Cause
from threadline.core.settings import Settings
from threadline.core.validation import checked_choice, checked_name
from threadline.database.port import SqlValue, Transaction
from threadline.store.formatting import describe_policy, why
from threadline.store.sessions.route_explanation import Explanation, explain_route

_CHUNK = 1 << 16
_VERDICTS = frozenset({Cause.IDLE, Cause.DAILY})


class ExplainedMessage(Struct, frozen=True, kw_only=True):
    """One message that is to be explained, with the scopes that were given for it."""

    address: Address
    sender: Sender
    profile: str
    scopes: Scopes | None = None


Answer: TypeAlias = Explanation | Invalid
Explain: TypeAlias = Callable[[Sequence[ExplainedMessage | Invalid]], Awaitable[list[Answer]]]


class EmptyTransaction:
    """A transaction on no database at all: every question finds nothing."""

    def __init__(self, settings: Settings) -> None:
        """Begin now, with these settings."""
        self.now = datetime.now(UTC)
        self.settings = settings

    def new_id(self) -> int:
        """Return no random bits, as nothing is made."""
        return 0

    def one(self, query: str, /, *kind: object, **values: SqlValue) -> None:
        """Return no row."""

    def all(self, query: str, /, *kind: object, **values: SqlValue) -> list[Any]:
        """Return no rows."""
        return []

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        """Return that there is no row."""
        return False

    def run(self, query: str, **values: SqlValue) -> None:
        """Do nothing."""

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Do nothing."""


async def answer_one(config: Config, fields: Mapping[str, object], *, as_json: bool) -> None:
    """Explain one message, to a person or to a program."""
    asked = parse_message(fields, config.rules(), config.profile)
    async with _explainer(config) as explain_all:
        (answer,) = await explain_all([asked])
    if isinstance(answer, Invalid):
        raise answer
    if as_json:
        write_json(as_dict(answer))
    else:
        show_text(_page(answer, has_store=exists(config)))


async def answer_lines(config: Config, defaults: Mapping[str, object]) -> int:
    """Explain every line of standard input in its own line; answer how many could not be."""
    told, wrong, settings = 0, 0, config.rules()
    defaults = {"kind": "dm", "profile": config.profile, **defaults}
    async with _explainer(config) as explain_all:
        async for lines in _incoming():
            asked = [read_line(line, defaults, settings) for line in lines]
            told += len(asked)
            for answer in await explain_all(asked):
                if isinstance(answer, Invalid):
                    wrong += 1
                    write_json({"error": str(answer)}, indent=None)
                else:
                    write_json(as_dict(answer), indent=None)
            # Whoever writes line by line also wants to read line by line.
            sys.stdout.flush()
    if not told:
        raise Invalid("No message came in", hint="Give one JSON object a line, or --platform")
    return wrong


def read_line(
    line: bytes, defaults: Mapping[str, object], settings: Settings
) -> ExplainedMessage | Invalid:
    """Read one line; what is wrong with it costs this line only."""
    try:
        fields = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        return Invalid(f"The line is no JSON: {error}")
    if not isinstance(fields, dict):
        return Invalid("The line is no JSON object")
    try:
        return parse_message({**defaults, **fields}, settings)
    except Invalid as error:
        return error


def parse_message(
    fields: Mapping[str, object], settings: Settings, usual_profile: str = MAIN_PROFILE
) -> ExplainedMessage:
    """Read a message from plain values, as the vectors and the options write them."""
    address = address_from(fields)
    sender = sender_from({"id": fields.get("sender"), "alt_id": fields.get("sender_alt")})
    profile = fields.get("profile") or usual_profile
    if isinstance(profile, str):
        profile = canonical_profile(profile)
    groups, threads, scopes = fields.get("groups"), fields.get("threads"), None
    if groups is not None or threads is not None:
        usual = settings.scopes_for(address.platform)
        scopes = Scopes(
            groups=checked_choice(groups or usual.groups, "groups", Sharing),
            threads=checked_choice(threads or usual.threads, "threads", Sharing),
        )
    return ExplainedMessage(
        address=address, sender=sender, profile=checked_name(profile, "profile"), scopes=scopes
    )


def explain_all(tx: Transaction, asked: Sequence[ExplainedMessage | Invalid]) -> list[Answer]:
    """Explain several messages from one state of the store."""
    return [
        one
        if isinstance(one, Invalid)
        else explain_route(tx, one.address, one.sender, profile=one.profile, scopes=one.scopes)
        for one in asked
    ]


def as_dict(answer: Explanation) -> dict[str, object]:
    """Give plain values, fit for JSON."""
    return {
        "route": answer.route,
        "multi_user": answer.multi_user,
        "session": answer.session_id,
        "policy": _policy(answer.policy),
        "verdict": answer.cause if answer.cause in _VERDICTS else None,
        "cause": answer.cause,
    }


@asynccontextmanager
async def _explainer(config: Config) -> AsyncIterator[Explain]:
    """Look into the store if there is one; without it a message is still routed."""
    if exists(config):
        async with open_store(config) as opened:
            database = opened.database
            yield lambda asked: database.read(explain_all, asked)
    else:

        async def route_only(asked: Sequence[ExplainedMessage | Invalid]) -> list[Answer]:
            return explain_all(EmptyTransaction(config.rules()), asked)

        yield route_only


async def _incoming() -> AsyncIterator[list[bytes]]:
    """Read standard input: as many whole lines at a time as have come."""
    begun = b""
    while chunk := await asyncio.to_thread(sys.stdin.buffer.read1, _CHUNK):  # type: ignore[union-attr]
        *lines, begun = (begun + chunk).split(b"\n")
        yield [line for line in lines if line.strip()]
    if begun.strip():
        yield [begun]


def _page(answer: Explanation, *, has_store: bool) -> str:
    nobody = "none" if has_store else "none (there is no database yet)"
    verdict = "goes on in this session"
    if answer.cause is not None:
        verdict = f"begins a new session: {why(answer.cause)}"
    lines = {
        "route": answer.route,
        "people": "several share it" if answer.multi_user else "one has it alone",
        "session": answer.session_id or nobody,
        "resets": describe_policy(answer.policy),
        "verdict": verdict,
    }
    return "\n".join(f"{name:<8} {value}" for name, value in lines.items())


@cache
def _policy(policy: ResetPolicy) -> dict[str, object]:
    return {
        "mode": policy.mode.value,
        "idle_minutes": policy.idle // timedelta(minutes=1),
        "at_hour": policy.at_hour,
        "timezone": str(policy.timezone),
        "notify": policy.notify,
        "carry": str(policy.carry),
    }
