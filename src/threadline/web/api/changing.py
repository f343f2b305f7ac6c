"""Changing a session: what a wish names is done, one thing after the other."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.listing import Outcome
from threadline.core.session import (
    ProjectKey,
    Session,
    SessionId,
    checked_folder,
    checked_tools,
)
from threadline.sessions.store import Store
from threadline.web.api.looking import require_owner
from threadline.web.api.shapes.session import SessionChange
from threadline.web.visiting import Visitor

Change: TypeAlias = Callable[[Store, SessionId, SessionChange], Awaitable[None]]


def require_leave(visitor: Visitor, wish: SessionChange) -> None:
    """Refuse what would let a member reach further than their conversation.

    A folder is on the owner's machine, a tool can do more than speak, and an address of a model
    is called from here.
    """
    named = wish.model_fields_set
    if named & {"tools", "workspace"}:
        require_owner(visitor, "choose tools and folders")
    if wish.model is not None and wish.model.base_url is not None:
        require_owner(visitor, "choose where a model is asked")
    if wish.project is not None:
        require_owner(visitor, "move sessions into projects")


async def require_sense(store: Store, session: Session, wish: SessionChange) -> None:
    """Refuse a wish that could not be fulfilled as a whole, before anything is done."""
    if "title" in wish.model_fields_set and wish.title is None:
        raise Invalid("A title is taken back by giving another one")
    if wish.model is not None:
        wish.model.choice()
    if wish.tools is not None:
        checked_tools(wish.tools)
    if wish.workspace is not None:
        checked_folder(wish.workspace, "workspace")
    if wish.project is not None:
        await require_project(store, session.profile, wish.project)


async def require_project(store: Store, profile: str, key: int) -> None:
    """Refuse a project that a profile does not have."""
    if (await store.project(ProjectKey(key))).profile != profile:
        raise NotFound("There is no such project", id=str(key))


async def change(store: Store, id: SessionId, wish: SessionChange) -> None:
    """Do what a wish names."""
    for name, step in _STEPS.items():
        if name in wish.model_fields_set:
            await step(store, id, wish)


async def _title(store: Store, id: SessionId, wish: SessionChange) -> None:
    await store.set_title(id, wish.title or "")


async def _pin(store: Store, id: SessionId, wish: SessionChange) -> None:
    _require_done(await (store.pin if wish.is_pinned else store.unpin)([id]))


async def _archive(store: Store, id: SessionId, wish: SessionChange) -> None:
    _require_done(await (store.archive if wish.is_archived else store.unarchive)([id]))


async def _project(store: Store, id: SessionId, wish: SessionChange) -> None:
    to = None if wish.project is None else ProjectKey(wish.project)
    _require_done(await store.move([id], to))


async def _model(store: Store, id: SessionId, wish: SessionChange) -> None:
    await store.choose_model(id, None if wish.model is None else wish.model.choice())


async def _busy_mode(store: Store, id: SessionId, wish: SessionChange) -> None:
    await store.set_busy_mode(id, wish.busy_mode)


async def _personality(store: Store, id: SessionId, wish: SessionChange) -> None:
    await store.set_personality(id, wish.personality)


async def _tools(store: Store, id: SessionId, wish: SessionChange) -> None:
    await store.allow_tools(id, wish.tools)


async def _workspace(store: Store, id: SessionId, wish: SessionChange) -> None:
    await store.set_workspace(id, wish.workspace)


_STEPS: Mapping[str, Change] = {
    "title": _title,
    "is_pinned": _pin,
    "is_archived": _archive,
    "project": _project,
    "model": _model,
    "busy_mode": _busy_mode,
    "personality": _personality,
    "tools": _tools,
    "workspace": _workspace,
}
"""What is done for each field, in this order."""


def _require_done(outcomes: list[Outcome]) -> None:
    for one in outcomes:
        if one.error is not None:
            raise Conflict(one.error, id=one.id)
