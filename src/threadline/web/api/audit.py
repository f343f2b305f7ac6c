"""Audit: what was done to accounts, settings, people and what is shared, and by whom."""

from fastapi import APIRouter

from threadline.web.api.asking import Administering
from threadline.web.api.deps import StoreDep
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.shapes.accounts import AuditShape

router = APIRouter(prefix="/audit", tags=["audit"])


@router.get("")
async def list_audit(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[AuditShape]:
    """Read administrative acts, latest first. They contain no secrets and no messages."""
    found = await store.audit(number_after(after), most + 1)
    return Page.cut(found, most, AuditShape.from_entry, lambda one: one.id)
