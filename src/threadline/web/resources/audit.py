"""Audit: what was done to accounts, settings, people and what is shared, and by whom."""

from fastapi import APIRouter

from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.schemas.accounts import AuditView

router = APIRouter(prefix="/audit", tags=["audit"])


@router.get("")
async def list_audit(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[AuditView]:
    """Read administrative acts, latest first. They contain no secrets and no messages."""
    found = await store.audit(number_after(after), most + 1)
    return Page.cut(found, most, AuditView.from_entry, lambda one: one.id)
