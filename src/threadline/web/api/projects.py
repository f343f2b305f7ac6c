"""Projects: a name and a colour for sessions that belong together."""

from typing import Annotated

from fastapi import APIRouter, Response

from threadline.core.errors import NotFound
from threadline.core.project import Project
from threadline.core.session import ProjectKey
from threadline.sessions.store import Store
from threadline.web.api.asking import Exchanging, Reading, Writing
from threadline.web.api.deps import StoreDep, path_key
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.looking import profile_of, require_owner
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.profiles import OfProfile
from threadline.web.api.revisions import IfMatch, seen_in, tell_tag
from threadline.web.api.shapes.project import (
    CountedProjectView,
    NewProject,
    ProjectChange,
    ProjectView,
)
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/projects", tags=["projects"])

Key = Annotated[int, path_key("The key of a project.")]


@router.get("", summary="List projects")
async def list_projects(
    visitor: Reading,
    store: StoreDep,
    profile: OfProfile = None,
) -> Page[CountedProjectView]:
    """List the projects of a profile by name, and how many sessions each has.

    They belong to the owner: a member gets none.
    """
    named = profile_of(visitor, profile)
    found = await store.projects(profile=named) if visitor.is_owner else ()
    return Page(items=[CountedProjectView.from_counted(one) for one in found])


@router.post(
    "",
    status_code=201,
    summary="Create a project",
    response_model=ProjectView,
    responses=told(409),
)
async def make_project(visitor: Writing, wish: NewProject, once: OnceDep) -> Response:
    """Create a project; its name must be unique in the profile."""
    require_owner(visitor, "create projects")

    async def make(store: Store) -> Project:
        profile = profile_of(visitor, wish.profile)
        return await store.make_project(wish.name, wish.color, profile=profile)

    return await once.answer(visitor.account, make, ProjectView.from_project)


@router.get("/{key}", summary="Read a project")
async def read_project(
    visitor: Reading, store: StoreDep, key: Key, response: Response
) -> ProjectView:
    """Read a project; pass its `ETag` as `If-Match` to change it."""
    project = await _visible(store, visitor, key)
    tell_tag(response, project.revision)
    return ProjectView.from_project(project)


@router.patch("/{key}", summary="Change a project", responses=told(409, 412, 428))
async def change_project(
    *,
    visitor: Exchanging,
    store: StoreDep,
    key: Key,
    wish: ProjectChange,
    response: Response,
    seen: IfMatch = None,
) -> ProjectView:
    """Give a project another name or colour."""
    project = await _visible(store, visitor, key)
    project = await store.change_project(
        project.key, name=wish.name, color=wish.color, seen=seen_in(seen)
    )
    tell_tag(response, project.revision)
    return ProjectView.from_project(project)


@router.delete("/{key}", status_code=204, summary="Delete a project", responses=told(409, 412, 428))
async def delete_project(visitor: Writing, store: StoreDep, key: Key, seen: IfMatch = None) -> None:
    """Delete a project; its sessions are kept, without a project."""
    project = await _visible(store, visitor, key)
    await store.delete_project(project.key, seen=seen_in(seen))


async def _visible(store: Store, visitor: Visitor, key: int) -> Project:
    project = await store.project(ProjectKey(key))
    if not visitor.is_owner or not visitor.knows(project.profile):
        raise NotFound("There is no such project", id=str(key))
    return project
