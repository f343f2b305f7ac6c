"""The minimap: a long transcript seen from afar."""

from typing import Annotated

from fastapi import Query

from threadline.core.minimap import BUCKETS, Bucket
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import SessionIdPath, StoreDep
from threadline.web.resources.router import Router


class MinimapView(View, frozen=True, kw_only=True):
    """A long transcript seen from afar."""

    items: list[Bucket]


router = Router(prefix="/sessions/{id}", tags=["messages"])


@router.get("/minimap", summary="Read the minimap")
async def read_minimap(
    visitor: Reading,
    store: StoreDep,
    id: SessionIdPath,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS)] = BUCKETS,
) -> MinimapView:
    """Tell of each stretch of a transcript who speaks in it, and what went wrong or is hidden."""
    found = await store.minimap(id, buckets, viewer=visitor.account)
    return MinimapView(items=list(found))
