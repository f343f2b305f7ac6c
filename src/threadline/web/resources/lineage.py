"""Lineage: where a session comes from, and conversations that go through several of them."""

from typing import Annotated

from fastapi import Query

from threadline.core.errors import Invalid
from threadline.core.session import Cause, SessionId
from threadline.store.branches.lineage import Child, Position
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep
from threadline.web.resources.messages import MessageView
from threadline.web.resources.pagination import PAGE, Most
from threadline.web.resources.router import Router


class LineageView(View, frozen=True, kw_only=True):
    """The kin of a session, as far as whoever asks may see it."""

    root_id: str | None
    parent_id: str | None
    cause: Cause
    first_id: str | None
    latest_id: str | None
    children: list[Child]
    """The newest of them."""
    number_of_children: int


class StitchedView(View, frozen=True, kw_only=True):
    """A page of a conversation through all its continuations."""

    items: list[MessageView]
    before: str | None
    """Give this as `before` for what is earlier."""
    after: str | None
    """Give this as `after` for what is later."""


router = Router(prefix="/sessions/{id}", tags=["lineage"])

Place = Annotated[
    str | None,
    Query(
        pattern="^[0-9]{8}_[0-9]{6}_[0-9a-f]{8}:[0-9]{1,15}$",
        examples=["20260131_184500_0a1b2c3d:12"],
    ),
]


@router.get("/lineage", summary="Read lineage")
async def read_lineage(visitor: Reading, store: StoreDep, id: SessionIdPath) -> LineageView:
    """Tell where a session comes from, what came of it, and where it continues now.

    Relatives that you may not see are left out.
    """
    session = await visible(store, visitor, id)
    kin = await store.lineage(session.id)
    ids = {child.id for child in kin.children}
    ids |= {one for one in (kin.root_id, kin.parent_id, kin.first_id, kin.latest_id) if one}
    seen = ids if visitor.is_owner else await store.seen(visitor.asker(session.profile), ids)

    def shown(id: SessionId | None) -> SessionId | None:
        return id if id in seen else None

    children = [child for child in kin.children if child.id in seen]
    hidden = len(kin.children) - len(children)
    return LineageView(
        root_id=shown(kin.root_id),
        parent_id=shown(kin.parent_id),
        cause=kin.cause,
        first_id=shown(kin.first_id),
        latest_id=shown(kin.latest_id),
        children=children,
        number_of_children=len(children) if hidden else kin.number_of_children,
    )


@router.get("/stitched", summary="Read a conversation through its continuations")
async def read_stitched(
    *,
    visitor: Reading,
    store: StoreDep,
    id: SessionIdPath,
    before: Place = None,
    after: Place = None,
    most: Most = PAGE,
) -> StitchedView:
    """Read a page of a conversation through all its continuations, as one transcript."""
    session = await visible(store, visitor, id)
    if before is not None and after is not None:
        raise Invalid("Give either before or after, not both")
    page = await store.stitched(
        session.id, before=_position(before), after=_position(after), most=most
    )
    return StitchedView(
        items=[MessageView.from_message(one) for one in page.messages],
        before=_written(page.first),
        after=_written(page.last),
    )


def _position(written: str | None) -> Position | None:
    if written is None:
        return None
    id, _, seq = written.partition(":")
    return Position(id=SessionId(id), seq=int(seq))


def _written(position: Position | None) -> str | None:
    return None if position is None else f"{position.id}:{position.seq}"
