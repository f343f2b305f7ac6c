"""Audit: what was done to accounts, settings, people and what is shared, and by whom."""

from fastapi import APIRouter
from pydantic import Field

from threadline.core.account import AuditEntry
from threadline.web.bodies import Moment, ResponseBody
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after


class AuditView(ResponseBody):
    """An administrative act."""

    id: int
    at: Moment
    account: str = Field(description="Who did it.")
    act: str = Field(examples=["token.made"])
    subject: str
    detail: str
    token: int | None = Field(
        description="The key of the token that was used; null: a browser, a chat or the terminal."
    )
    times: int = Field(description="How often: failed logins of a quarter of an hour are counted.")

    @classmethod
    def from_entry(cls, entry: AuditEntry) -> "AuditView":
        """Tell what was done."""
        return cls(
            id=entry.id,
            at=entry.at,
            account=entry.account,
            act=entry.act,
            subject=entry.subject,
            detail=entry.detail,
            token=entry.token,
            times=entry.times,
        )


router = APIRouter(prefix="/audit", tags=["audit"])


@router.get("")
async def list_audit(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[AuditView]:
    """Read administrative acts, latest first. They contain no secrets and no messages."""
    found = await store.audit(number_after(after), most + 1)
    return Page.cut(found, most, AuditView.from_entry, lambda one: one.id)
