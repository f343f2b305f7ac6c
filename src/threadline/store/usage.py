"""Usage: what was spent, added up in many ways, and whether a turn may be paid for."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.budget import CapKind, Spending, SpendVerdict
from threadline.core.errors import CapReached
from threadline.core.event import EventKind
from threadline.core.message import Marker, MarkerKind, NewMessage, Role
from threadline.core.person import Identity, PersonKey
from threadline.core.session import Session, SessionId
from threadline.core.turn import Lease, TurnId
from threadline.core.usage import Usage, UsageBy, UsageSum, add_sums, dollars, status_of_sum
from threadline.database.port import Database, Transaction, expect
from threadline.database.timestamps import moment, stamp
from threadline.store.admin_queries import Spent, spendings
from threadline.store.people.visibility import keys_asked, keys_of
from threadline.store.queries import read_session, session_key
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.turns.finish import add_usage
from threadline.store.turns.output import prove

_QUARTER = timedelta(minutes=15)
"""No time zone of our days differs from another by anything finer."""
_EVER, _FOREVER = -(2**62), 2**62
_PERSONAL = frozenset({CapKind.PERSON_DAY, CapKind.PERSON_MONTH})


class UsageFilter(Struct, frozen=True, kw_only=True):
    """Whose usage is added up, and of which time; what is None is not asked."""

    since: datetime | None = None
    until: datetime | None = None
    """The first moment that does not count any more."""
    session_id: SessionId | None = None
    person: PersonKey | None = None
    sender: Identity | None = None
    profile: str | None = None


class _UsageRow(Struct, frozen=True, kw_only=True):
    """What a session spent with one model on one task."""

    provider: str
    model: str
    task: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    prompt_tokens: int
    cost: int | None
    calls: int
    exact: int

    def usage(self) -> Usage:
        priced = 0 if self.cost is None else self.calls
        return Usage(
            provider=self.provider,
            model=self.model,
            task=self.task,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens,
            prompt_tokens=self.prompt_tokens,
            cost=None if self.cost is None else dollars(self.cost),
            cost_status=status_of_sum(priced=priced, exact=self.exact, calls=self.calls),
        )


class _SumRow(Struct, frozen=True, kw_only=True):
    """What many calls spent together, as the database adds it up."""

    subject: str
    name: str | None
    calls: int
    priced: int
    exact: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: int | None

    def sum(self) -> UsageSum:
        return UsageSum(
            subject=self.subject,
            name=self.name,
            calls=self.calls,
            unpriced=self.calls - self.priced,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens,
            cost=None if self.cost is None else dollars(self.cost),
            cost_status=status_of_sum(priced=self.priced, exact=self.exact, calls=self.calls),
        )


class _Spender(Struct, frozen=True, kw_only=True):
    """Who asked for what is spent."""

    sender_key: int
    person_key: PersonKey | None


class _ContextSize(Struct, frozen=True, kw_only=True):
    """How long the last prompt was, and whether nothing was said or hidden since."""

    prompt_tokens: int
    is_current: bool


def usage_of_session(tx: Transaction, id: SessionId) -> list[Usage]:
    """Add up what a session spent, by model and task."""
    key = session_key(tx, id)
    return [row.usage() for row in tx.all("sum_usage", _UsageRow, session_key=key)]


def last_prompt(tx: Transaction, id: SessionId) -> int:
    """Tell how many tokens the last prompt of a session had; 0 if it was compacted since."""
    return tx.one("read_last_prompt", int, session_key=session_key(tx, id)) or 0


def sum_usage(
    tx: Transaction,
    by: UsageBy,
    only: UsageFilter,
    *,
    timezone: tzinfo,
    after: int = 0,
    most: int | None = None,
) -> list[UsageSum]:
    """Add up usage; days come in their order, everything else with the dearest first.

    Of everything but days a slice can be asked for: so many, after the first ones.
    """
    since, until = only.since, only.until
    is_whole = by is UsageBy.DAY or most is None
    rows = tx.all(
        "sum_usage_by",
        _SumRow,
        by=by,
        since=_EVER if since is None else stamp(since),
        until=_FOREVER if until is None else stamp(until),
        session_key=None if only.session_id is None else session_key(tx, only.session_id),
        sender_keys=keys_asked(tx, only.person or only.sender),
        profile=only.profile,
        most=_FOREVER if is_whole else most,
        passed=0 if is_whole else after,
    )
    sums = [row.sum() for row in rows]
    return _by_day(sums, timezone) if by is UsageBy.DAY else sums


def _by_day(quarters: list[UsageSum], timezone: tzinfo) -> list[UsageSum]:
    """Make days of quarters of an hour."""
    days: dict[str, UsageSum] = {}
    for one in quarters:
        at = moment(int(one.subject) * (_QUARTER // timedelta(microseconds=1)))
        day = at.astimezone(timezone).date().isoformat()
        named = replace(one, subject=day)
        days[day] = add_sums(days[day], named) if day in days else named
    return [days[day] for day in sorted(days)]


def judge_spending(tx: Transaction, lease: Lease) -> SpendVerdict:
    """Decide before a turn calls anything whether it may be paid for.

    What a person has to be warned of stands in the transcript from then on and goes out with the
    reply, once for each cap, subject and period. Costs that nobody knows count as nothing.
    """
    with write_session(tx, lease.session_id) as writer:
        prove(writer, lease)
        spendings = _spendings(tx, writer.key, writer.id, lease.turn_id)
        refused = next((one for one in spendings if one.is_refused), None)
        if refused is not None:
            return SpendVerdict(refused=refused)
        warned = tuple(one for one in spendings if one.is_warned and _is_new(writer, one))
        for one in warned:
            why = one.sentence(tx.settings.spend.timezone)
            marker = Marker(kind=MarkerKind.SPENDING, text=why)
            writer.add([NewMessage(role=Role.SYSTEM, parts=(marker,))], lease.turn_id)
        return SpendVerdict(warned=warned)


def find_reached(tx: Transaction, id: SessionId) -> Spending | None:
    """Find the cap that forbids to spend more on a session, beside its turns; None: there is none.

    Whoever owns the session is taken for whoever asks.
    """
    spendings = _spendings(tx, session_key(tx, id), id, None)
    return next((one for one in spendings if one.is_refused), None)


def spend_for(tx: Transaction, id: SessionId, usage: Sequence[Usage]) -> None:
    """Record what was spent on a session beside its turns, as on a title or a summary."""
    with write_session(tx, id) as writer:
        for spent in usage:
            add_usage(writer, None, spent)
        if usage:
            writer.tell(EventKind.SESSION_CHANGED)


def _spendings(tx: Transaction, key: int, id: SessionId, turn_id: TurnId | None) -> list[Spending]:
    spender = tx.one("find_spender", _Spender, turn_id=turn_id, session_key=key)
    spendings = []
    for kind, limit in tx.settings.spend.each():
        if kind in _PERSONAL and spender is None:
            continue  # Nobody is known to have asked, so nobody's cap can be reached.
        period = tx.settings.spend.period(kind, tx.now)
        since = _EVER if period is None else stamp(period.begins_at)
        subject, keys = "", None
        if kind is CapKind.SESSION:
            subject = id
            spent = expect(tx, "sum_spent_in_session", Spent, session_key=key)
        else:
            if kind in _PERSONAL and spender is not None:
                subject, keys = _person(tx, spender)
            spent = expect(tx, "sum_spent", Spent, since=since, sender_keys=keys)
        spendings.append(
            Spending(
                kind=kind,
                limit=limit,
                spent=dollars(spent.cost),
                unpriced=spent.unpriced,
                subject=subject,
                period=period,
            )
        )
    return spendings


def _person(tx: Transaction, spender: _Spender) -> tuple[str, str]:
    """Name whoever asked, and list all senders that they are."""
    if spender.person_key is None:
        return f"sender {spender.sender_key}", json.dumps([spender.sender_key])
    return f"person {spender.person_key}", json.dumps(keys_of(tx, spender.person_key))


def _is_new(writer: SessionWriter, one: Spending) -> bool:
    return writer.tx.exists(
        "add_spend_warning",
        cap=one.kind,
        subject=one.subject,
        period="" if one.period is None else one.period.name,
        now=writer.at,
    )


class ContextUsage(Struct, frozen=True, kw_only=True):
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
    tx: Transaction, id: SessionId, sender: Identity | None, *, everybody: bool
) -> ContextUsage:
    """Read how full and how dear a session is, and the caps of a sender that concern it."""
    prompt = tx.one("read_meter", _ContextSize, session_key=session_key(tx, id))
    spent = sum_usage(tx, UsageBy.SESSION, UsageFilter(session_id=id), timezone=UTC)
    return ContextUsage(
        session=read_session(tx, id),
        prompt_tokens=None if prompt is None else prompt.prompt_tokens,
        is_exact=prompt is not None and prompt.is_current,
        spent=spent[0] if spent else None,
        caps=spendings(tx, sender, everybody=everybody, session=id),
    )


async def approve_spending(db: Database, lease: Lease) -> Sequence[Spending]:
    """Return the caps that a turn's sender is warned of, or raise `CapReached`.

    Call it before each call of a model. Without any cap the database is not asked.
    """
    caps = db.environment.settings.spend
    if not caps.is_set:
        return ()
    verdict = await db.write(judge_spending, lease)
    if verdict.refused is not None:
        raise CapReached(verdict.refused.sentence(caps.timezone))
    return verdict.warned


async def approve_spending_for(db: Database, id: SessionId) -> None:
    """Raise `CapReached` if no model may be called for a session beside its turns."""
    caps = db.environment.settings.spend
    if not caps.is_set:
        return
    reached = await db.read(find_reached, id)
    if reached is not None:
        raise CapReached(reached.sentence(caps.timezone))
