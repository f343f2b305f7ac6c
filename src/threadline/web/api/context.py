"""The context of a session: how full it is, what it cost, and which caps concern it."""

import asyncio

from fastapi import APIRouter

from threadline.assembly.models import window_of
from threadline.web.api.asking import Reading, visible
from threadline.web.api.deps import ConfigDep, SessionIdPath, StoreDep
from threadline.web.api.looking import identity_of
from threadline.web.api.shapes.context import ContextShape

router = APIRouter(prefix="/sessions/{id}/context", tags=["usage"])


@router.get("", summary="Read the context meter")
async def read_context(
    visitor: Reading, store: StoreDep, config: ConfigDep, id: SessionIdPath
) -> ContextShape:
    """Tell how full the context is, what was spent, and how near the caps are."""
    session = await visible(store, visitor, id)
    meter = await store.meter(session.id, identity_of(visitor.account), everybody=visitor.is_owner)
    # The price list is read from disk when it is first asked for.
    window = await asyncio.to_thread(window_of, config, meter.session)
    return ContextShape.from_meter(meter, window, config.scribe.compact_at)
