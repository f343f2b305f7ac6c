"""Usage: what was spent and by whom, and how near the caps are."""

from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from threadline.core.errors import Invalid, Refused
from threadline.core.person import Identity, PersonKey
from threadline.core.session import SessionId
from threadline.core.usage import UsageBy
from threadline.sessions.store import Store
from threadline.web.api.asking import Reading, visible
from threadline.web.api.deps import StoreDep
from threadline.web.api.looking import identity_of, profile_of
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.shapes.places import read_identity
from threadline.web.api.shapes.usage import CapShape, UsageShape
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/usage", tags=["usage"])

Session = Annotated[str | None, Query(max_length=100, description="Only what this session spent.")]


@router.get("")
async def sum_usage(
    visitor: Reading,
    store: StoreDep,
    *,
    by: UsageBy = UsageBy.DAY,
    since: AwareDatetime | None = None,
    until: Annotated[
        AwareDatetime | None, Query(description="The end of the period, not included.")
    ] = None,
    session: Session = None,
    person: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    sender: Annotated[str | None, Query(max_length=600, examples=["telegram:42"])] = None,
    profile: Annotated[
        str | None, Query(min_length=1, max_length=100, description="Only in this profile.")
    ] = None,
    timezone: Annotated[str, Query(max_length=100, description="Whose days these are.")] = "UTC",
    after: After = None,
    most: Most = PAGE,
) -> Page[UsageShape]:
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
        items=[UsageShape.from_sum(one) for one in shown],
        next=str(passed + most) if len(sums) > len(shown) else None,
    )


@router.get("/caps")
async def list_caps(visitor: Reading, store: StoreDep, session: Session = None) -> Page[CapShape]:
    """Tell how near the caps are: your own, a session's and, for an owner, those of everybody."""
    found = await store.spendings(
        identity_of(visitor.account),
        everybody=visitor.is_owner,
        session=await _session_of(store, visitor, session),
    )
    return Page(items=[CapShape.from_spending(one) for one in found])


def _sender_of(visitor: Visitor, person: int | None, sender: str | None) -> Identity | None:
    if visitor.is_owner:
        return None if sender is None else read_identity(sender)
    own = identity_of(visitor.account)
    if person is not None or sender not in {None, str(own)}:
        raise Refused("You can only see your own spending")
    return own


async def _session_of(store: Store, visitor: Visitor, session: str | None) -> SessionId | None:
    return None if session is None else (await visible(store, visitor, session)).id


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            f"{name[:60]!r} is not a time zone", hint="Write it as Europe/Berlin"
        ) from None
