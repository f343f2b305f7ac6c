"""Audit: what was done to accounts, settings, people and what is shared, and by whom."""

from typing import Annotated

from msgspec import Meta

from threadline.web.bodies import Time, View
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.router import Router


class AuditView(View, frozen=True, kw_only=True):
    """An administrative act."""

    id: int
    at: Time
    account: str
    """Who did it."""
    act: Annotated[str, Meta(examples=["token.made"])]
    subject: str
    detail: str
    token: int | None
    """The key of the token that was used; null: a browser, a chat or the terminal."""
    times: int
    """How often: failed logins of a quarter of an hour are counted."""


router = Router(prefix="/audit", tags=["audit"])


@router.get("")
async def list_audit(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[AuditView]:
    """Read administrative acts, latest first. They contain no secrets and no messages."""
    found = await store.audit(number_after(after), most + 1)
    return Page.cut(found, most, AuditView.of, lambda one: one.id)
