"""Explaining messages that are given in plain words, one or very many."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TypeAlias

from threadline.cli.opening import exists, open_store
from threadline.cli.screen import say, write_json
from threadline.config import Config
from threadline.core.address import Address, Sender, address_from, sender_from
from threadline.core.errors import Invalid
from threadline.core.policy import ResetPolicy
from threadline.core.route import MAIN_PROFILE, Scopes, Sharing, canonical_profile
from threadline.core.rules import Rules
from threadline.core.session import Cause
from threadline.core.text import checked_choice, checked_name
from threadline.sessions.explain import Explanation, explain
from threadline.sessions.phrases import describe, why
from threadline.storage.database import Row, SqlValue, Transaction

_CHUNK = 1 << 16
_VERDICTS = frozenset({Cause.IDLE, Cause.DAILY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One message that is to be explained, with the settings it met."""

    address: Address
    sender: Sender
    profile: str
    rules: Rules


Answer: TypeAlias = Explanation | Invalid
Explain: TypeAlias = Callable[[Sequence[Asked | Invalid]], Awaitable[list[Answer]]]


class Emptiness:
    """A transaction on no database at all: every question finds nothing."""

    def one(self, query: str, **values: SqlValue) -> Row | None:
        """Answer nothing."""

    def all(self, query: str, **values: SqlValue) -> list[Row]:
        """Answer no rows."""
        return []

    def run(self, query: str, **values: SqlValue) -> None:
        """Do nothing."""

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Do nothing."""


async def answer_one(config: Config, fields: Mapping[str, object], *, as_json: bool) -> None:
    """Explain one message, to a person or to a program."""
    asked = read_message(fields, config.rules(), config.profile)
    async with _explainer(config) as explain_all:
        (answer,) = await explain_all([asked])
    if isinstance(answer, Invalid):
        raise answer
    if as_json:
        write_json(as_dict(answer))
    else:
        say(_page(answer, has_store=exists(config)))


async def answer_lines(config: Config, defaults: Mapping[str, object]) -> int:
    """Explain every line of standard input in its own line; answer how many could not be."""
    told, wrong, rules = 0, 0, config.rules()
    defaults = {"kind": "dm", "profile": config.profile, **defaults}
    async with _explainer(config) as explain_all:
        async for lines in _incoming():
            asked = [read_line(line, defaults, rules) for line in lines]
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


def read_line(line: bytes, defaults: Mapping[str, object], rules: Rules) -> Asked | Invalid:
    """Read one line; what is wrong with it costs this line only."""
    try:
        fields = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        return Invalid(f"The line is no JSON: {error}")
    if not isinstance(fields, dict):
        return Invalid("The line is no JSON object")
    try:
        return read_message({**defaults, **fields}, rules)
    except Invalid as error:
        return error


def read_message(
    fields: Mapping[str, object], rules: Rules, usual_profile: str = MAIN_PROFILE
) -> Asked:
    """Read a message from plain values, as the vectors and the options write them."""
    address = address_from(fields)
    sender = sender_from({"id": fields.get("sender"), "alt_id": fields.get("sender_alt")})
    profile = fields.get("profile") or usual_profile
    if isinstance(profile, str):
        profile = canonical_profile(profile)
    groups, threads = fields.get("groups"), fields.get("threads")
    if groups is not None or threads is not None:
        usual = rules.scopes_for(address.platform)
        scopes = Scopes(
            groups=checked_choice(groups or usual.groups, "groups", Sharing),
            threads=checked_choice(threads or usual.threads, "threads", Sharing),
        )
        rules = replace(rules, scopes=scopes, scopes_by_platform={})
    return Asked(
        address=address, sender=sender, profile=checked_name(profile, "profile"), rules=rules
    )


def explain_all(
    tx: Transaction, asked: Sequence[Asked | Invalid], *, now: datetime
) -> list[Answer]:
    """Explain several messages from one state of the store."""
    return [
        one
        if isinstance(one, Invalid)
        else explain(tx, one.address, one.sender, profile=one.profile, rules=one.rules, now=now)
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
            yield lambda asked: database.read(explain_all, asked, now=database.now())
    else:

        async def route_only(asked: Sequence[Asked | Invalid]) -> list[Answer]:
            return explain_all(Emptiness(), asked, now=datetime.now(UTC))

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
        "resets": describe(answer.policy),
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
