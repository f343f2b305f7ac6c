"""The minimap: a long transcript seen from afar."""

from typing import Annotated

from fastapi import APIRouter, Query

from threadline.core.minimap import BUCKETS, Bucket
from threadline.web.bodies import ResponseBody
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import SessionIdPath, StoreDep


class BucketView(ResponseBody):
    """A stretch of a transcript, and what stands in it."""

    first_seq: int
    last_seq: int
    user: int
    assistant: int
    tool: int
    system: int
    markers: int
    hidden: int

    @classmethod
    def from_bucket(cls, one: Bucket) -> "BucketView":
        """Show a bucket."""
        return cls(
            first_seq=one.first_seq,
            last_seq=one.last_seq,
            user=one.user,
            assistant=one.assistant,
            tool=one.tool,
            system=one.system,
            markers=one.markers,
            hidden=one.hidden,
        )


class MinimapView(ResponseBody):
    """A long transcript seen from afar."""

    items: list[BucketView]


router = APIRouter(prefix="/sessions/{id}", tags=["messages"])


@router.get("/minimap", summary="Read the minimap")
async def read_minimap(
    visitor: Reading,
    store: StoreDep,
    id: SessionIdPath,
    buckets: Annotated[int, Query(ge=1, le=BUCKETS)] = BUCKETS,
) -> MinimapView:
    """Tell of each stretch of a transcript who speaks in it, and what went wrong or is hidden."""
    found = await store.minimap(id, buckets, viewer=visitor.account)
    return MinimapView(items=[BucketView.from_bucket(one) for one in found])
