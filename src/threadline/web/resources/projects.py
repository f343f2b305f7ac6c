"""Projects: a name and a colour for sessions that belong together."""

from typing import Annotated

from fastapi import Response
from msgspec import Meta

from threadline.core.errors import NotFound
from threadline.core.project import CountedProject, Project, ProjectColor
from threadline.core.session import ProjectKey
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import Body
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of, require_owner

_NAME_MOST = 1000


class ProjectRequest(Body, frozen=True, kw_only=True):
    """A project to be made."""

    name: Annotated[str, Meta(min_length=1, max_length=_NAME_MOST, examples=["Garden"])]
    color: ProjectColor = ProjectColor.BLUE
    profile: Annotated[str, Meta(max_length=100)] | None = None


class ProjectUpdateRequest(Body, frozen=True, kw_only=True):
    """What of a project shall be different."""

    name: Annotated[str, Meta(min_length=1, max_length=_NAME_MOST)] | None = None
    color: ProjectColor | None = None


router = Router(prefix="/projects", tags=["projects"])

Key = Annotated[int, path_key("The key of a project.")]


@router.get("", summary="List projects")
async def list_projects(
    visitor: Reading,
    store: StoreDep,
    profile: OfProfile = None,
) -> Page[CountedProject]:
    """List the projects of a profile by name, and how many sessions each has.

    They belong to the owner: a member gets none.
    """
    named = profile_of(visitor, profile)
    found = await store.projects(profile=named) if visitor.is_owner else ()
    return Page(items=list(found))


@router.post(
    "",
    status_code=201,
    summary="Create a project",
    response_model=Project,
    responses=problem_responses(409),
)
async def make_project(visitor: Writing, wish: ProjectRequest, once: OnceDep) -> Response:
    """Create a project; its name must be unique in the profile."""
    require_owner(visitor, "create projects")

    async def make(store: Store) -> Project:
        profile = profile_of(visitor, wish.profile)
        return await store.make_project(wish.name, wish.color, profile=profile)

    return await once.answer(visitor.account, make, lambda made: made)


@router.get("/{key}", summary="Read a project")
async def read_project(visitor: Reading, store: StoreDep, key: Key, response: Response) -> Project:
    """Read a project; pass its `ETag` as `If-Match` to change it."""
    project = await _visible(store, visitor, key)
    tell_tag(response, project.revision)
    return project


@router.patch("/{key}", summary="Change a project", responses=problem_responses(409, 412, 428))
async def change_project(
    *,
    visitor: Exchanging,
    store: StoreDep,
    key: Key,
    wish: ProjectUpdateRequest,
    response: Response,
    seen: IfMatch = None,
) -> Project:
    """Give a project another name or colour."""
    project = await _visible(store, visitor, key)
    project = await store.change_project(
        project.key, name=wish.name, color=wish.color, seen=seen_in(seen)
    )
    tell_tag(response, project.revision)
    return project


@router.delete(
    "/{key}",
    status_code=204,
    summary="Delete a project",
    responses=problem_responses(409, 412, 428),
)
async def delete_project(visitor: Writing, store: StoreDep, key: Key, seen: IfMatch = None) -> None:
    """Delete a project; its sessions are kept, without a project."""
    project = await _visible(store, visitor, key)
    await store.delete_project(project.key, seen=seen_in(seen))


async def _visible(store: Store, visitor: Caller, key: int) -> Project:
    project = await store.project(ProjectKey(key))
    if not visitor.is_owner or not visitor.knows(project.profile):
        raise NotFound("There is no such project", id=str(key))
    return project
