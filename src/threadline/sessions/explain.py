"""Explaining: why a message goes where it goes, told without sending it."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.address import Address, Kind, Sender
from threadline.core.policy import ResetPolicy
from threadline.core.route import Route, is_multi_user, route
from threadline.core.rules import Rules
from threadline.core.session import Cause, SessionId
from threadline.sessions.people.aliases import resolve
from threadline.sessions.people.gathering import foresee, is_one_conversation
from threadline.sessions.verdicts import why_new
from threadline.storage.database import Transaction, expect


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Which conversation a message would go to, and why."""

    route: Route
    multi_user: bool
    policy: ResetPolicy
    session_id: SessionId | None
    """The session that the route is bound to."""
    cause: Cause | None
    """Why the message would begin a new session; None: it would go on in that one."""


def explain(
    tx: Transaction,
    address: Address,
    sender: Sender,
    *,
    profile: str,
    rules: Rules,
    now: datetime,
) -> Explanation:
    """Tell where a message would go if it came now."""
    scopes = rules.scopes_for(address.platform)
    address, sender = resolve(tx, address, sender)
    where = route(address, sender, scopes, profile)
    ahead = None
    if is_one_conversation(address, rules):
        ahead = foresee(tx, where, address, sender, profile=profile)
    bound = tx.one("find_bound", route=ahead or where)
    load = None if bound is None else expect(tx, "read_load", session_key=bound.number("key"))
    kind = address.kind if bound is None else Kind(bound.text("kind"))
    return Explanation(
        route=where,
        multi_user=is_multi_user(address, scopes),
        policy=rules.policies.resolve(address.platform, kind),
        session_id=None if bound is None else SessionId(bound.text("id")),
        cause=why_new(tx, bound, load, rules=rules, now=now),
    )
