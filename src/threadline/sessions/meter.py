"""The meter of a session: how full its context is, what it has spent, and how near its caps are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from threadline.core.person import Identity
from threadline.core.rules import Rules
from threadline.core.session import Session, SessionId
from threadline.core.spend import Spending
from threadline.core.usage import UsageBy, UsageSum
from threadline.sessions.spending import UsageFilter, sum_usage
from threadline.sessions.survey import spendings
from threadline.sessions.views import read_session, session_row
from threadline.storage.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """What is shown beside a conversation, as it was at one moment."""

    session: Session
    prompt_tokens: int | None
    """How long the last prompt was; None: nobody counted one, or it was compacted since."""
    is_exact: bool
    """Nothing was said or hidden since that prompt but its own answer."""
    spent: UsageSum | None
    """None: nothing."""
    caps: Sequence[Spending]


def read_meter(
    tx: Transaction,
    id: SessionId,
    sender: Identity | None,
    *,
    everybody: bool,
    rules: Rules,
    now: datetime,
) -> Meter:
    """Read how full and how dear a session is, and the caps of a sender that concern it."""
    prompt = tx.one("read_meter", session_key=session_row(tx, id).number("key"))
    spent = sum_usage(tx, UsageBy.SESSION, UsageFilter(session_id=id), timezone=UTC)
    return Meter(
        session=read_session(tx, id),
        prompt_tokens=None if prompt is None else prompt.number("prompt_tokens"),
        is_exact=prompt is not None and bool(prompt.number("is_current")),
        spent=spent[0] if spent else None,
        caps=spendings(tx, sender, everybody=everybody, session=id, rules=rules, now=now),
    )
