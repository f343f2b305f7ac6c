"""Usage: what was spent and by whom, and how near the caps are."""

from decimal import Decimal
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import Query

from threadline.core.budget import CapKind, Period
from threadline.core.errors import Invalid, Refused
from threadline.core.person import Identity, PersonKey
from threadline.core.session import SessionId
from threadline.core.usage import CostStatus, UsageBy
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import View
from threadline.web.resources.addresses import parse_identity
from threadline.web.resources.auth_deps import Reading, visible
from threadline.web.resources.deps import MomentQuery, StoreDep
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import identity_of, profile_of


class UsageView(View, frozen=True, kw_only=True):
    """What many calls spent together."""

    subject: str
    """Turn, session, `provider/model`, task, day, or who asked; empty: unknown."""
    name: str | None
    """The title of a session, or the name of a person."""
    calls: int
    unpriced: int
    """Calls whose cost is not known; they count as nothing."""
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost: Decimal | None
    """US dollars."""
    cost_status: CostStatus


class CapView(View, frozen=True, kw_only=True):
    """A cap on spending, and what was spent under it so far, in US dollars."""

    kind: CapKind
    subject: str
    """Who or what it is on; empty: everybody together."""
    limit: Decimal
    spent: Decimal
    unpriced: int
    period: Period | None
    """Null: from the beginning on."""
    is_warned: bool
    """It is near, or reached."""
    is_refused: bool
    """Nothing more may be spent."""


router = Router(prefix="/usage", tags=["usage"])

Session = Annotated[str | None, Query(max_length=100, description="Only what this session spent.")]


@router.get("")
async def sum_usage(
    visitor: Reading,
    store: StoreDep,
    *,
    by: UsageBy = UsageBy.DAY,
    since: MomentQuery = None,
    until: Annotated[MomentQuery, Query(description="The end of the period, not included.")] = None,
    session: Session = None,
    person: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    sender: Annotated[str | None, Query(max_length=600, examples=["telegram:42"])] = None,
    profile: Annotated[
        str | None, Query(min_length=1, max_length=100, description="Only in this profile.")
    ] = None,
    timezone: Annotated[str, Query(max_length=100, description="Whose days these are.")] = "UTC",
    after: After = None,
    most: Most = PAGE,
) -> Page[UsageView]:
    """Add up usage. Days come in order, everything else with the most expensive first.

    Days come all at once, whatever `most` says. A member sees only their own spending.
    """
    passed = number_after(after) or 0
    who = _sender_of(visitor, person, sender)
    sums = await store.usage_by(
        by,
        since=since,
        until=until,
        id=await _session_of(store, visitor, session),
        person=None if person is None else PersonKey(person),
        sender=who,
        profile=None if profile is None else profile_of(visitor, profile),
        timezone=_zone(timezone),
        after=passed,
        most=most + 1,
    )
    shown = sums if by is UsageBy.DAY else sums[:most]
    return Page(
        items=[UsageView.of(one) for one in shown],
        next=str(passed + most) if len(sums) > len(shown) else None,
    )


@router.get("/caps")
async def list_caps(visitor: Reading, store: StoreDep, session: Session = None) -> Page[CapView]:
    """Tell how near the caps are: your own, a session's and, for an owner, those of everybody."""
    found = await store.spendings(
        identity_of(visitor.account),
        everybody=visitor.is_owner,
        session=await _session_of(store, visitor, session),
    )
    return Page(items=[CapView.of(one) for one in found])


def _sender_of(visitor: Caller, person: int | None, sender: str | None) -> Identity | None:
    if visitor.is_owner:
        return None if sender is None else parse_identity(sender)
    own = identity_of(visitor.account)
    if person is not None or sender not in {None, str(own)}:
        raise Refused("You can only see your own spending")
    return own


async def _session_of(store: Store, visitor: Caller, session: str | None) -> SessionId | None:
    return None if session is None else (await visible(store, visitor, session)).id


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            f"{name[:60]!r} is not a time zone", hint="Write it as Europe/Berlin"
        ) from None
